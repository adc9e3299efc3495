"""The tools over HTTP, as a server mounts them, each request answered from the workspace of its caller; and what they
make of odd documents."""

import json
import logging
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client

from trueweave import AsyncTrueweave, Chunk, Document, Link
from trueweave.errors import UnknownWorkspace
from trueweave.extend import Database
from trueweave.mcp import Opening, make_server
from trueweave.mcp.bounds import MOST_CHARACTERS
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
        with caplog.at_level(logging.ERROR), pytest.raises(MCPError, match="because of a bug") as raised:
            await client.call_tool("search", {"text": "kettle"})
    assert "swordfish" not in str(raised.value.error)
    assert "swordfish" in caplog.text


async def read_through(client: Client, uri: str, length: int) -> list[str]:
    """The stretches of a document, call by call until its end."""
    texts: list[str] = []
    cursor = ""
    for _ in range(1000):
        given = {"uri": uri, "cursor": cursor, "length": length}
        page = (await client.call_tool("document", given)).structured_content
        assert sum(len(one["text"]) for one in page["spans"]) <= length
        texts += [one["text"] for one in page["spans"]]
        cursor = page["next_cursor"]
        if not cursor:
            return texts
    raise AssertionError(f"{uri} has no end")


async def test_a_document_is_read_to_its_end_whatever_its_chunks_are(trueweave: AsyncTrueweave) -> None:
    overlapping = (Chunk("abcdef", 0), Chunk("efghij", 4), Chunk("ij", 8), Chunk("xyz", 20))
    without_places = (Chunk("one"), Chunk("two"), Chunk("three"))
    tiny = tuple(Chunk(str(n % 10), n) for n in range(130))
    chunks = {"overlapping": overlapping, "without places": without_places, "tiny": tiny, "empty": ()}
    await trueweave.add_documents(Document(uri, some) for uri, some in chunks.items())
    async with Client(make_server(lambda _: nullcontext(trueweave))) as client:
        assert await read_through(client, "overlapping", 100) == ["abcdef", "ghij", "xyz"]
        assert await read_through(client, "without places", 100) == ["one", "two", "three"]
        assert await read_through(client, "empty", 100) == []
        for length in (1, 3, 7):
            assert "".join(await read_through(client, "overlapping", length)) == "abcdefghijxyz"
            assert "".join(await read_through(client, "without places", length)) == "onetwothree"
            assert "".join(await read_through(client, "tiny", length)) == "0123456789" * 13
        middle = await client.call_tool("document", {"uri": "overlapping", "start": 5, "length": 3})
        assert [(one["start"], one["text"]) for one in middle.structured_content["spans"]] == [(5, "fgh")]
        behind = await client.call_tool("document", {"uri": "overlapping", "start": 500})
        assert behind.structured_content["spans"] == []


async def test_a_result_is_bounded_whatever_names_and_descriptions_there_are(trueweave: AsyncTrueweave) -> None:
    hub = "H" * 800
    links = tuple(Link(hub, f"{n:03}" + "N" * 800, "D" * 3000, ("K" * 500,), source_type="T" * 500) for n in range(60))
    uri = "u" * 1900
    await trueweave.add_documents([Document(uri, (Chunk("Text " * 4000, links=links),), "t" * 9000)])
    async with Client(make_server(lambda _: nullcontext(trueweave))) as client:
        found = (await trueweave.graph.search_entities(hub, 1)).items[0].item
        calls: dict[str, dict[str, Any]] = {
            "entity": {"name": str(found.id), "relations": 50, "passages": 5},
            "neighbours": {"name": str(found.id), "limit": 50},
            "search": {"text": "text", "limit": 20},
            "document": {"uri": uri, "length": 20_000},
            "documents": {},
        }
        for name, arguments in calls.items():
            result = await client.call_tool(name, arguments)
            [block] = result.content
            assert block.type == "text"
            assert not result.is_error, block.text
            for size in (len(block.text), len(json.dumps(result.structured_content))):
                assert 2_000 < size < 1.7 * MOST_CHARACTERS, (name, size)
