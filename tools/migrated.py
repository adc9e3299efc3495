"""A database with Trueweave's schema, on a PostgreSQL that is gone at the end."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trueweave.store.embedded import EmbeddedServer
from trueweave.testing import Databases


@contextmanager
def migrated_database() -> Iterator[str]:
    """The address of a new database that was migrated."""
    with tempfile.TemporaryDirectory() as root:
        Path(root).chmod(0o755)  # the server may run as a user of its own
        server = EmbeddedServer(Path(root, "server"))
        try:
            databases = Databases(server.start())
            asyncio.run(databases.prepare())
            yield databases.make()
        finally:
            server.stop()
