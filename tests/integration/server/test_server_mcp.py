"""Tools for agents over the server, by the official client."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import psycopg
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


async def test_a_key_that_may_write_remembers_and_forgets_under_its_name(url: str) -> None:
    async with serving(url) as server:
        index = await fill(server.database, "acme")
        async with connected(server, "acme", await server.key("write", "acme")) as client:
            said = {"text": "The kettle was sold to Bob.", "by": "Alice", "date": "2024-05-01T10:00:00Z"}
            stored = await client.call_tool("remember", said)
            assert stored.structured_content is not None
            uri = stored.structured_content["uri"]
            await index.maintenance.retry()  # a worker works
            found = await client.call_tool("recall", {"text": "kettle", "since": "2024-04-01T00:00:00Z"})
            assert found.structured_content is not None
            [passage] = found.structured_content["passages"]
            assert (passage["uri"], passage["source"]) == (uri, "Told by test write: Alice on 2024-05-01")
            document = await index.document(uri)
            assert document.metadata == {
                "memory": True,
                "told_by": "test write: Alice",
                "said_at": "2024-05-01T10:00:00+00:00",
                "date": "2024-05-01T10:00:00+00:00",
            }
            refused = await client.call_tool("forget", {"uris": ["acme/ada"]})
            assert refused.is_error
            assert "is not a memory" in str(refused.content)
        async with connected(server, "acme", await server.key("read", "acme")) as reader:
            assert not {"remember", "forget"} & {tool.name for tool in (await reader.list_tools()).tools}
            refused = await reader.call_tool("forget", {"uris": [uri]})
            assert refused.is_error
            assert "only read" in str(refused.content)
        async with connected(server, "acme", await server.key("write", "acme")) as client:
            assert (await client.call_tool("forget", {"uris": [uri]})).structured_content["forgotten"] == 1
        assert await index.recall("kettle") == []
        with psycopg.connect(url) as connection:
            logged = connection.execute(
                "SELECT count(*), count(DISTINCT caller) FROM trueweave.audit_log WHERE route LIKE '%%/mcp'"
            ).fetchall()
        assert logged == [(3, 2)], "writes are audited, and reads are not"
