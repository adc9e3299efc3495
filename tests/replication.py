"""A primary and its standby, by streaming replication, from the bundled PostgreSQL: for tests and benchmarks."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psutil
import psycopg

from trueweave.errors import EmbeddedServerMissing
from trueweave.store.embedded import MAJOR, EmbeddedServer, _package
from trueweave.store.server_user import server_user

_REPLICATED = {"wal_level": "replica", "max_wal_senders": "10", "shared_buffers": "128MB"}


def no_standby() -> str:
    """Why there can be no standby here; empty, if there can."""
    try:
        programs = _package() / f"pginstall{MAJOR}" / "bin"
    except EmbeddedServerMissing as error:
        return str(error)
    return "" if (programs / "pg_basebackup").exists() else f"pg_basebackup is not in {programs}"


class Server:
    """One PostgreSQL in a folder, on loopback."""

    def __init__(self, folder: Path, options: Mapping[str, str]) -> None:
        self.folder = folder
        self._embedded = EmbeddedServer(folder, {**_REPLICATED, **options})
        self.url = ""

    def start(self) -> str:
        """Start it; its address."""
        self.url = self._embedded.start()
        return self.url

    def stop(self) -> None:
        self._embedded.stop()

    def execute(self, statement: str) -> list[tuple[object, ...]]:
        """Run a statement as the superuser."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    @property
    def processes(self) -> list[psutil.Process]:
        """The server's processes, the first being its postmaster."""
        postmaster = psutil.Process(int((self.folder / "data" / "postmaster.pid").read_text().split()[0]))
        return [postmaster, *postmaster.children(recursive=True)]

    def suspend(self) -> None:
        """Let it stand still, with all its connections open."""
        for one in self.processes:
            one.suspend()

    def resume(self) -> None:
        """Let it go on."""
        for one in self.processes:
            one.resume()

    def kill(self) -> None:
        """End all its processes at once, whatever they are doing."""
        every = self.processes
        self.suspend()
        for one in every:
            os.kill(one.pid, signal.SIGKILL)
        psutil.wait_procs(every, timeout=10)

    def standby(self, folder: Path, options: Mapping[str, str] | None = None) -> Server:
        """A new server that follows this one, under the name of its folder."""
        user = server_user()
        folder.mkdir()
        folder.chmod(0o755)
        user.own(folder)
        name = folder.name
        address = f"{self.url}?application_name={name}"
        user.do(
            self._embedded._programs(user) / "pg_basebackup",
            *("-d", address, "-D", folder / "data", "-R", "-C", "-S", name, "-X", "stream", "-c", "fast"),
        )
        shutil.copy(self.folder / "password", folder / "password")
        user.own(folder / "password")
        made = Server(folder, options or {})
        made.start()
        return made

    def promote(self) -> float:
        """Make a standby the primary; how many seconds that took."""
        began = time.monotonic()
        self.execute("SELECT pg_promote()")
        return time.monotonic() - began


@contextmanager
def replicated(options: Mapping[str, str] | None = None) -> Iterator[tuple[Server, Server]]:
    """A primary and a standby of it, named "standby", for as long as the context lasts."""
    with tempfile.TemporaryDirectory() as root, ExitStack() as stack:
        folder = Path(root)
        folder.chmod(0o755)  # the servers may run as a user of their own
        primary = Server(folder / "primary", options or {})
        stack.callback(primary.stop)
        primary.start()
        standby = primary.standby(folder / "standby", options)
        stack.callback(standby.stop)
        yield primary, standby


def both(*servers: Server) -> str:
    """An address with all servers, of which whoever connects gets the one that takes writes."""
    parts = [urlsplit(one.url) for one in servers]
    user = parts[0].netloc.rpartition("@")[0]
    hosts = ",".join(one.netloc.rpartition("@")[2] for one in parts)
    return urlunsplit(parts[0]._replace(netloc=f"{user}@{hosts}", query="target_session_attrs=read-write"))
