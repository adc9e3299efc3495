"""The tools over HTTP, as a server mounts them: each request is answered from the workspace of its caller."""

import logging
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from trueweave import AsyncTrueweave, Chunk, Document
from trueweave.errors import UnknownWorkspace
from trueweave.mcp import Opening, make_server
from trueweave.store.postgres.db import Database
from trueweave.testing import HashEmbedder

ADDRESS = "http://127.0.0.1/mcp"


@asynccontextmanager
async def connected(opening: Opening, caller: str) -> AsyncIterator[Client]:
    """A client who says who it is, of a server in this process."""
    app = make_server(opening).streamable_http_app(transport_security=None, host="127.0.0.1")
    sent = httpx2.AsyncClient(transport=httpx2.ASGITransport(app), headers={"caller": caller, "host": "127.0.0.1:80"})
    async with (
        app.router.lifespan_context(app),
        sent,
        Client(streamable_http_client(ADDRESS, http_client=sent)) as client,
    ):
        yield client


async def test_each_caller_is_answered_from_a_workspace_of_its_own(database: Database) -> None:
    async def filled(name: str) -> AsyncTrueweave:
        made = await AsyncTrueweave.enter(database, name, HashEmbedder())
        await made.add_documents([Document(f"{name}.md", (Chunk(f"The kettle of {name}."),))])
        return made

    workspaces = {name: await filled(name) for name in ("ada", "ben")}

    def opening(request: Any) -> AbstractAsyncContextManager[AsyncTrueweave]:
        caller = request.headers["caller"]
        if caller not in workspaces:
            raise UnknownWorkspace(f"there is no workspace {caller!r}")
        return nullcontext(workspaces[caller])

    for name in workspaces:
        async with connected(opening, name) as client:
            result = await client.call_tool("search", {"text": "kettle"})
            assert [one["uri"] for one in result.structured_content["passages"]] == [f"{name}.md"]
            assert [one.name for one in (await client.list_resources()).resources] == [f"{name}.md"]
    async with connected(opening, "eve") as client:
        assert (await client.call_tool("search", {"text": "kettle"})).is_error
        for refused in (client.list_tools, client.list_resources):
            with pytest.raises(MCPError, match="there is no workspace 'eve'"):
                await refused()
    for one in workspaces.values():
        await one.aclose()


async def test_of_a_bug_nothing_is_told_but_that_there_is_one(caplog: pytest.LogCaptureFixture) -> None:
    def opening(request: Any) -> AbstractAsyncContextManager[AsyncTrueweave]:
        raise ZeroDivisionError("the password is swordfish")

    server = make_server(opening)
    async with Client(server) as client:
        with caplog.at_level(logging.ERROR), pytest.raises(MCPError, match="by a bug of its own") as raised:
            await client.call_tool("search", {"text": "kettle"})
    assert "swordfish" not in str(raised.value.error)
    assert "swordfish" in caplog.text
