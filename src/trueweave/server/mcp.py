"""Tools for agents over HTTP: those of `trueweave.mcp`, with one path per workspace and the same keys."""

from __future__ import annotations

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
        self._manager: Any = None
        self.route = Route(PATH, self, methods=["POST"], name="mcp")

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Answer requests inside this context."""
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        made = make_server(_entered, _told, _Writing())
        self._manager = StreamableHTTPSessionManager(made, stateless=True, json_response=True)
        async with self._manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, and stop when its caller disconnects. Access to the workspace is checked as on all other
        routes."""
        scope["route"] = self.route  # as FastAPI does for its own routes
        async with _entered(Request(scope)):
            pass
        await while_connected(self._manager.handle_request, scope, receive, send)

    @classmethod
    def find(cls) -> AgentEndpoint | None:
        """An endpoint; None if the extra `mcp` is not installed."""
        return cls() if find_spec("mcp") else None


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
