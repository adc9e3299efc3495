"""Requests to the workspace of a client, as its calls make them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import quote

from trueweave.client.connection import MakeBody, Repeats, ServerConnection
from trueweave.client.forms import part, read
from trueweave.core.streams import OpenStreams
from trueweave.ingest.loading import Files

T = TypeVar("T")

_PAGE = 200  # maximum items of one page


class WorkspaceRequests:
    """Requests to one workspace of a server. `files` finds and names the files to send, and `max_upload` is the maximum
    bytes of files in one request."""

    max_upload = 100 * 2**20

    def __init__(self, connection: ServerConnection, workspace: str, files: Files) -> None:
        self.connection = connection
        self.workspace = workspace
        self.files = files
        self._path = f"/v1/workspaces/{quote(workspace, safe='')}"

    @property
    def streams(self) -> OpenStreams:
        """The streams handed out to callers."""
        return self.connection.streams

    def at(self, time: datetime) -> WorkspaceRequests:
        """Requests to the index of the workspace as it was at this time."""
        return WorkspaceRequests(self.connection.at(time), self.workspace, self.files)

    async def get(self, path: str, **params: Any) -> Any:
        """The response to GET on a path of the workspace."""
        return await self.connection.get(self._path + path, params)

    async def ask(self, path: str, body: object, repeats: Repeats = Repeats.ALWAYS, **params: Any) -> Any:
        """The response to a POST that changes nothing."""
        return await self.connection.send("POST", self._path + path, params=params, body=body, repeats=repeats)

    async def upload(self, path: str, make: MakeBody, *, once: bool, **params: Any) -> Any:
        """The response to a POST of files."""
        return await self.connection.send(
            "POST", self._path + path, params=params, make=make, repeats=Repeats.ALWAYS, once=once
        )

    async def write(self, path: str, body: object = None, *, method: str = "POST", **params: Any) -> Any:
        """The response to a request that changes something. It is executed once, even if it is sent again."""
        return await self.connection.send(
            method, self._path + path, params=params, body=body, repeats=Repeats.ALWAYS, once=True
        )

    async def delete(self, path: str = "", **params: Any) -> Any:
        """The response to DELETE on a path."""
        return await self.connection.send("DELETE", self._path + path, params=params, repeats=Repeats.UNBEGUN)

    async def listed(self, path: str, kind: type[T], limit: int | None, **params: Any) -> list[T]:
        """The first items of a list, fetched page by page; all of them without a limit."""
        found: list[T] = []
        cursor: str | None = None
        while limit is None or len(found) < limit:
            size = _PAGE if limit is None else min(_PAGE, limit - len(found))
            page = await self.get(path, **params, limit=size, cursor=cursor)
            found += [read(kind, one) for one in part(page, "items")]
            cursor = part(page, "next")
            if cursor is None:
                break
        return found

    @asynccontextmanager
    async def events(self, path: str, body: Mapping[str, Any]) -> AsyncIterator[AsyncGenerator[tuple[str, Any], None]]:
        """The events in response to a question."""
        repeats = Repeats.REFUSED
        async with self.connection.events("POST", self._path + path, body=body, repeats=repeats) as events:
            yield events

    @asynccontextmanager
    async def lines(self, path: str) -> AsyncIterator[AsyncGenerator[bytes, None]]:
        """The lines of a response."""
        async with self.connection.lines(self._path + path) as lines:
            yield lines
