"""A TCP proxy that can stop passing anything on without closing a connection, as a machine without power does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit, urlunsplit


class Proxy:
    """Passes on between clients and the database at `url`, until `freeze`."""

    def __init__(self, url: str) -> None:
        self._target = urlsplit(url)
        self._open = asyncio.Event()
        self._open.set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.url = ""

    def freeze(self) -> None:
        """Pass nothing on any more, in either direction. All connections stay open."""
        self._open.clear()

    def thaw(self) -> None:
        """Pass on again, all that was held back first."""
        self._open.set()

    @asynccontextmanager
    async def serve(self) -> AsyncIterator[Proxy]:
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        login = self._target.netloc.rpartition("@")[0]
        self.url = urlunsplit(self._target._replace(netloc=f"{login}@127.0.0.1:{port}"))
        try:
            yield self
        finally:
            server.close()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._join(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._open.wait()
            back, forth = await asyncio.open_connection(self._target.hostname, self._target.port)
            try:
                await asyncio.gather(self._call(reader, forth), self._call(back, writer))
            finally:
                forth.close()
        finally:
            writer.close()

    async def _call(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await source.read(65536):
                await self._open.wait()
                sink.write(data)
                await sink.drain()
        await self._open.wait()
        sink.close()  # and the other direction ends as well
