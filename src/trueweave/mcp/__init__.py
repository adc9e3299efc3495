"""Tools for agents over the Model Context Protocol, to search, read and ask a workspace, never to change it.

`make_server` returns a server for any transport of the package `mcp`, and `serve_stdio` runs one on stdin and stdout.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from trueweave.core.errors import ConfigError, TrueweaveError
from trueweave.mcp.opening import Opening

if TYPE_CHECKING:
    from mcp.server import Server

    from trueweave.engine.trueweave import AsyncTrueweave

__all__ = ["Opening", "make_server", "require_package", "serve_stdio"]


def require_package() -> None:
    """Raise ConfigError if the package `mcp` is not installed."""
    if find_spec("mcp") is None:
        raise ConfigError('tools for agents need the package mcp: pip install "trueweave[mcp]"')


def make_server(opening: Opening, told: Callable[[TrueweaveError], str] = str) -> Server[Any]:
    """A server with all tools, resources and prompts. It answers each request from the workspace that `opening` opens
    for it. `told` gives the text that a caller sees of an error, by default all of it. Raises ConfigError if the
    package `mcp` is not installed."""
    require_package()
    from trueweave.mcp.server import server

    return server(opening, told)


async def serve_stdio(trueweave: AsyncTrueweave) -> None:
    """Serve one workspace over stdin and stdout, until stdin is closed."""
    made = make_server(lambda _: nullcontext(trueweave))
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (incoming, outgoing):
        await made.run(incoming, outgoing, made.create_initialization_options())
