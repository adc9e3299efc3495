"""Tools for agents over HTTP: those of `trueweave.mcp`, with one path per workspace and the same keys."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib.util import find_spec
from typing import Any

from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from trueweave.core.errors import TrueweaveError
from trueweave.engine.trueweave import AsyncTrueweave
from trueweave.mcp import make_server
from trueweave.server.access import caller_of, entered_workspace
from trueweave.server.problems import problem_of
from trueweave.server.streaming import while_connected

PATH = "/v1/workspaces/{workspace}/mcp"


class AgentEndpoint:
    """The endpoint for the protocol's streamable HTTP. It keeps no state between requests, so any replica of the server
    can answer. Responses are JSON."""

    def __init__(self) -> None:
        self._asked = asyncio.Event()
        self._manager: asyncio.Future[Any]
        self._managing: asyncio.Task[None]
        self.route = Route(PATH, self, methods=["POST"], name="mcp")

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Answer requests inside this context. The first one waits until the package is imported, which would be a
        quarter of the time in which a server starts."""
        self._manager = asyncio.get_running_loop().create_future()
        self._managing = asyncio.create_task(self._manage())
        try:
            yield
        finally:
            self._managing.cancel()
            await asyncio.wait((self._managing,))

    async def _manage(self) -> None:
        await self._asked.wait()
        manager = await asyncio.to_thread(_make_manager)
        async with manager.run():
            self._manager.set_result(manager)
            await asyncio.Event().wait()  # until it is cancelled

    async def _started(self) -> Any:
        """The manager of requests. Raises what the import raised."""
        self._asked.set()
        await asyncio.wait((self._manager, self._managing), return_when=asyncio.FIRST_COMPLETED)
        if self._managing.done():
            self._managing.result()
        return self._manager.result()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, and stop when its caller disconnects. Access to the workspace is checked as on all other
        routes."""
        scope["route"] = self.route  # as FastAPI does for its own routes
        async with _entered(Request(scope)):
            pass
        manager = await self._started()
        await while_connected(manager.handle_request, scope, receive, send)

    @classmethod
    def find(cls) -> AgentEndpoint | None:
        """An endpoint; None if the extra `mcp` is not installed."""
        return cls() if find_spec("mcp") else None


def _make_manager() -> Any:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    return StreamableHTTPSessionManager(make_server(_entered, _told, _Writing()), stateless=True, json_response=True)


def _entered(request: Request) -> AbstractAsyncContextManager[AsyncTrueweave]:
    return entered_workspace(request, request.path_params["workspace"], "read", asks=True)


class _Writing:
    """Lets callers with the scope `write` remember and forget."""

    def allows(self, request: Request) -> bool:
        return caller_of(request).may("write")

    def author(self, request: Request, given: str) -> str:
        return caller_of(request).author(given)

    def open(self, request: Request) -> AbstractAsyncContextManager[AsyncTrueweave]:
        return entered_workspace(request, request.path_params["workspace"], "write")


def _told(error: TrueweaveError) -> str:
    found = problem_of(error)
    return f"{found.detail} {found.next_step}".strip()
