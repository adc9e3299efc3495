"""Tools for agents over the Model Context Protocol: to search, read and ask a workspace, and to remember if allowed.

`make_server` returns a server for any transport of the package `mcp`, and `serve_stdio` runs one on stdin and stdout.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from trueweave.core.errors import ConfigError, TrueweaveError
from trueweave.mcp.opening import Opening, Writing

if TYPE_CHECKING:
    from mcp.server import Server

    from trueweave.engine.trueweave import AsyncTrueweave

__all__ = ["Opening", "Writing", "make_server", "require_package", "serve_stdio"]


def require_package() -> None:
    """Raise ConfigError if the package `mcp` is not installed."""
    if find_spec("mcp") is None:
        raise ConfigError('tools for agents need the package mcp: pip install "trueweave[mcp]"')


def make_server(
    opening: Opening, told: Callable[[TrueweaveError], str] = str, writing: Writing | None = None
) -> Server[Any]:
    """A server with all tools, resources and prompts. It answers each request from the workspace that `opening` opens
    for it. `told` gives the text that a caller sees of an error, by default all of it. `writing` says who may use
    `remember` and `forget`; without it, nobody may. Raises ConfigError if the package `mcp` is not installed."""
    require_package()
    from trueweave.mcp.server import server

    return server(opening, told, writing)


async def serve_stdio(trueweave: AsyncTrueweave, *, write: bool = False) -> None:
    """Serve one workspace over stdin and stdout, until stdin is closed. With `write`, the agent may remember and
    forget, and this process indexes what is remembered, as any worker does."""
    made = make_server(lambda _: nullcontext(trueweave), writing=_Anybody(trueweave) if write else None)
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (incoming, outgoing), AsyncExitStack() as stack:
        if write:
            await stack.enter_async_context(_indexing(trueweave))
        await made.run(incoming, outgoing, made.create_initialization_options())


class _Anybody:
    """Lets the one caller of this process write."""

    def __init__(self, trueweave: AsyncTrueweave) -> None:
        self._trueweave = trueweave

    def allows(self, _: Any) -> bool:
        return True

    def author(self, _: Any, given: str) -> str:
        return given

    def open(self, _: Any) -> AbstractAsyncContextManager[AsyncTrueweave]:
        return nullcontext(self._trueweave)


@asynccontextmanager
async def _indexing(trueweave: AsyncTrueweave) -> AsyncIterator[None]:
    """Process the queue of the workspace meanwhile."""
    stop = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(trueweave.work(stop=stop))
        try:
            yield
        finally:
            stop.set()
