"""Writes src/trueweave/store/postgres/sql/schema.sql: what all migrations add up to, for people to read.

A test compares the file with a freshly migrated database, so it cannot fall behind.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from trueweave.store.embedded import EmbeddedServer
from trueweave.testing import Databases
from trueweave.testing.schema import SCHEMA_FILE, dump_schema


def main() -> None:
    with tempfile.TemporaryDirectory() as root:
        Path(root).chmod(0o755)  # the server may run as a user of its own
        server = EmbeddedServer(Path(root, "server"))
        try:
            databases = Databases(server.start())
            asyncio.run(databases.prepare())
            SCHEMA_FILE.write_text(dump_schema(databases.make()), "utf-8")
        finally:
            server.stop()
    print(f"wrote {SCHEMA_FILE.name}")


if __name__ == "__main__":
    main()
