"""The connection to Chroma, on a server or inside this process, and the translation of its errors."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import urlsplit

from trueweave.core.errors import ConfigError, StoreError, StoreUnavailable

if TYPE_CHECKING:
    from chromadb.api import ClientAPI
    from chromadb.api.client import Client
    from chromadb.api.models.Collection import Collection

T = TypeVar("T")

_THREADS = 8  # concurrent calls


class ChromaClient:
    """A Chroma server by its address (`http://host:8000`), or a folder for Chroma inside this process, which no other
    process may have open at the same time. Opened by the first call. Calls block, so they run in threads."""

    def __init__(self, address: str, key: str | None = None) -> None:
        if find_spec("chromadb") is None:
            raise ConfigError(
                'Chroma needs its library, which is not installed. Run `pip install "trueweave[chroma]"`.'
            )
        parts = urlsplit(address)
        self._is_server = parts.scheme in ("http", "https")
        if not self._is_server and "://" in address:
            raise ConfigError(f"chroma_url must look like http://host:8000, or be a folder, and is {address}")
        self.place = f"Chroma at {parts.hostname}:{parts.port or 8000}" if self._is_server else f"Chroma in {address}"
        self._address = address
        self._key = key
        self.collections: dict[str, Collection] = {}  # by name, as readers last found them
        self._client: Client | None = None
        self._threads = ThreadPoolExecutor(_THREADS, "chroma")
        self._opening = asyncio.Lock()

    async def aclose(self) -> None:
        """Wait for calls in progress, and close the connections."""
        await asyncio.to_thread(self._threads.shutdown)
        if self._client is not None:
            await asyncio.to_thread(self._close, self._client)

    async def call(self, act: Callable[[ClientAPI], T]) -> T:
        """Call a function with the client in a thread, and return its result."""
        async with self._opening:
            if self._client is None:
                self._client = await self._in_thread(self._open)
        client = self._client
        return await self._in_thread(lambda: act(client))

    async def collection(self, name: str) -> Collection | None:
        """The collection with this name, or None."""

        def find(client: ClientAPI) -> Collection | None:
            from chromadb.errors import NotFoundError

            try:
                return client.get_collection(name, embedding_function=None)
            except NotFoundError:
                return None

        return await self.call(find)

    async def _in_thread(self, act: Callable[[], T]) -> T:
        with self._translated():
            return await asyncio.get_running_loop().run_in_executor(self._threads, act)

    def _open(self) -> Client:
        import chromadb
        from chromadb.config import Settings

        settings = Settings(anonymized_telemetry=False)
        if not self._is_server:
            folder = Path(self._address).expanduser()
            return cast("Client", chromadb.PersistentClient(folder, settings=settings))
        parts = urlsplit(self._address)
        made = chromadb.HttpClient(
            parts.hostname or "",
            parts.port or 8000,
            ssl=parts.scheme == "https",
            headers={"x-chroma-token": self._key} if self._key else None,
            settings=settings,
        )
        return cast("Client", made)  # only the class has `close`

    def _close(self, client: Client) -> None:
        """Close a client and its connections to the server, which the library leaves open: its own, and those of a
        second client inside it."""
        servers: list[Any] = []
        if self._is_server:
            admin: Any = client._admin_client  # noqa: SLF001
            servers = [client._server, admin._server]  # noqa: SLF001
        client.close()
        for server in servers:
            server._session.close()  # noqa: SLF001

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Convert library errors to StoreError, or to StoreUnavailable if a later retry may help."""
        import httpx  # a dependency of the library

        try:
            yield
        except (httpx.TransportError, OSError) as error:
            raise StoreUnavailable(f"{self.place} is unavailable: {error}. Start it, or wait for it.") from error
        except ValueError as error:  # the library raises this if it cannot connect
            if "connect" not in str(error).lower():
                raise
            raise StoreUnavailable(f"{self.place} is unavailable: {error} Start it, or wait for it.") from error
        except Exception as error:
            if not type(error).__module__.startswith("chromadb"):
                raise
            raise StoreError(f"{self.place} refused a call: {error}") from error
