"""A PostgreSQL for a benchmark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from trueweave.store.embedded import EmbeddedServer


@contextmanager
def served(folder: Path, options: Mapping[str, str] | None = None) -> Iterator[EmbeddedServer]:
    """A server in a folder, which is made if need be, for as long as the context lasts; `options` are settings of
    PostgreSQL."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)  # the server may run as a user of its own
    server = EmbeddedServer(folder / "server", options)
    try:
        server.start()
        yield server
    finally:
        server.stop()
