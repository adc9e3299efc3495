"""Tools for agents over the server, by the official client."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.integration.serving import Served, fill, serving
from trueweave import AsyncTrueweave
from trueweave.errors import DatabaseUnavailable


@asynccontextmanager
async def connected(server: Served, workspace: str, key: str) -> AsyncIterator[Client]:
    async with (
        server.client(key) as sent,
        Client(streamable_http_client(f"{server.url}/v1/workspaces/{workspace}/mcp", http_client=sent)) as client,
    ):
        yield client


async def test_an_agent_with_a_key_uses_the_tools(url: str) -> None:
    async with serving(url) as server:
        await fill(server.database, "acme")
        async with connected(server, "acme", await server.key("read", "acme")) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert {"search", "entity", "documents"} <= names
            assert "ask" not in names, "no language model is set"
            found = await client.call_tool("search", {"text": "Babbage"})
            assert found.structured_content is not None
            [passage] = found.structured_content["passages"]
            assert "Charles Babbage" in passage["text"]
            resources = (await client.list_resources()).resources
            assert resources
            read = await client.read_resource(resources[0].uri)
            assert "Charles Babbage" in str(read.contents[0])


async def test_who_has_no_key_or_one_for_another_workspace_is_refused(url: str) -> None:
    async with serving(url) as server:
        await fill(server.database, "acme")
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        accepting = {"Accept": "application/json, text/event-stream"}
        for key, workspace, status in (
            ("", "acme", 401),
            (await server.key("read", "acme"), "other", 404),
            (await server.key("read", "other"), "acme", 404),
        ):
            async with server.client(key, **accepting) as client:
                answer = await client.post(f"/v1/workspaces/{workspace}/mcp", json=call)
                assert answer.status_code == status
                assert answer.headers["content-type"] == "application/problem+json"
        async with server.client(await server.key("read", "acme")) as client:
            assert (await client.get("/v1/workspaces/acme/mcp")).status_code == 405


async def test_what_fails_inside_is_told_to_the_log_alone(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def failing(*_: object, **__: object) -> None:
        raise DatabaseUnavailable("cannot reach db.internal:5432")

    async with serving(url) as server:
        await fill(server.database, "acme")
        async with connected(server, "acme", await server.key("read", "acme")) as client:
            monkeypatch.setattr(AsyncTrueweave, "search", failing)
            result = await client.call_tool("search", {"text": "Babbage"})
    assert result.is_error
    assert "db.internal" not in str(result.content)
    assert "did not answer" in str(result.content)
