"""What a PostgreSQL had to do: processor time, commits, and the statements that went over a relay."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import psutil
import psycopg
from psycopg import sql

_KNOWN = {b"Q": "simple", b"E": "execute", b"S": "sync"}
_PROTOCOL = 3 << 16  # what the first message of a session begins with, when it asks for no encryption


class Work(NamedTuple):
    """What was done between two moments: processor seconds of the server, transactions, and those that wrote."""

    cpu: float
    commits: int
    writes: int

    def since(self, before: Work) -> Work:
        return Work(self.cpu - before.cpu, self.commits - before.commits, self.writes - before.writes)


class Server:
    """A server on this machine, and new databases on it."""

    def __init__(self, url: str, directory: Path) -> None:
        self._url = url
        self._directory = directory

    @contextmanager
    def database(self, name: str) -> Iterator[str]:
        """The URL of an empty database, which is gone at the end."""
        self._execute("DROP DATABASE IF EXISTS {} WITH (FORCE)", name)
        self._execute("CREATE DATABASE {}", name)
        try:
            yield urlsplit(self._url)._replace(path=f"/{name}").geturl()
        finally:
            self._execute("DROP DATABASE {} WITH (FORCE)", name)

    def work(self, url: str) -> Work:
        """What was done up to now, for one of the databases; processor time is all of the server's.

        Waits until nobody is connected to it: only then have all sessions handed in their counts.
        """
        name = urlsplit(url).path[1:]
        with psycopg.connect(self._url, autocommit=True) as connection:
            while _number(
                connection,
                "SELECT count(*) FROM pg_stat_activity WHERE datname = %s AND backend_type = 'client backend'",
                name,
            ):
                time.sleep(0.05)
            commits = _number(connection, "SELECT xact_commit FROM pg_stat_database WHERE datname = %s", name)
            writes = _number(connection, "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint")
            connection.execute("CHECKPOINT")  # and each run begins with nothing left over from the one before
        return Work(self._cpu(), commits, writes)

    def _cpu(self) -> float:
        postmaster = psutil.Process(int((self._directory / "data" / "postmaster.pid").read_text().split("\n")[0]))
        spent = sum(postmaster.cpu_times()[:4])  # its own, and that of children that are gone
        for child in postmaster.children():
            with suppress(psutil.NoSuchProcess):
                spent += sum(child.cpu_times()[:2])
        return float(spent)

    def _execute(self, statement: str, name: str) -> None:
        with psycopg.connect(self._url, autocommit=True) as connection:
            connection.execute("SET client_min_messages = warning")
            connection.execute(sql.SQL(statement).format(sql.Identifier(name)))


def _number(connection: psycopg.Connection[Any], query: str, *given: str) -> int:
    row = connection.execute(query.encode(), given).fetchone()
    return int(row[0]) if row else 0


class Relay:
    """Passes everything on to a database, and counts what clients ask of it. It takes time: never measure through it.

    `counts` has `statements`, and `round_trips`: how often a client waited for all that it had asked.
    """

    def __init__(self, url: str) -> None:
        self._to = urlsplit(url)
        self._seen: Counter[str] = Counter()
        self._loop = asyncio.new_event_loop()

    @property
    def counts(self) -> dict[str, int]:
        seen = self._seen
        return {"statements": seen["simple"] + seen["execute"], "round_trips": seen["simple"] + seen["sync"]}

    @contextmanager
    def open(self) -> Iterator[str]:
        """The URL to use in place of the database's own."""
        thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        thread.start()
        try:
            starting = asyncio.start_server(self._serve, "127.0.0.1", 0)
            server = asyncio.run_coroutine_threadsafe(starting, self._loop).result()
            who, _, _ = self._to.netloc.rpartition("@")
            port = server.sockets[0].getsockname()[1]
            yield self._to._replace(netloc=f"{who}@127.0.0.1:{port}").geturl()
        finally:
            asyncio.run_coroutine_threadsafe(self._see_out(), self._loop).result()
            self._loop.call_soon_threadsafe(self._loop.stop)
            thread.join()

    async def _see_out(self) -> None:
        """Wait a moment for clients that have just hung up."""
        serving = asyncio.all_tasks() - {asyncio.current_task()}
        if serving:
            await asyncio.wait(serving, timeout=2)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers, questions = await asyncio.open_connection(self._to.hostname, self._to.port)
        await asyncio.gather(self._ask(reader, questions), _call(answers, writer))

    async def _ask(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        begun = False
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                kind = await reader.readexactly(1) if begun else b""  # the first messages have no letter
                size = await reader.readexactly(4)
                body = await reader.readexactly(int.from_bytes(size, "big") - 4)
                if begun:
                    self._seen[_KNOWN.get(kind, "other")] += 1
                begun = begun or int.from_bytes(body[:4], "big") == _PROTOCOL
                writer.write(kind + size + body)
                await writer.drain()
        writer.close()


async def _call(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()
