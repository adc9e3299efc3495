"""The largest input that each route accepts keeps nobody else waiting, and work ends when its caller disconnects."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any
from uuid import UUID

import httpx2
import pytest

from tests.conftest import FULL
from tests.integration.ingest.test_responsiveness import watched
from tests.integration.server.test_server_questions import until
from tests.integration.serving import ANSWER, Served, fill, serving
from trueweave import AsyncTrueweave, Chunk, Document, Mention
from trueweave.server.app import create_app
from trueweave.server.fields import LONGEST_LINE, LONGEST_MESSAGE
from trueweave.store.postgres.db import Transaction
from trueweave.store.postgres.record import suggestions
from trueweave.store.postgres.record.resolution import LONGEST_LABEL
from trueweave.testing.model_server import ModelServer

LONGEST = 0.25  # seconds
TRIES = 3  # of a measurement, as a collection of garbage can spoil one
HERE = "/v1/workspaces/mine"
SENT = {"Content-Type": "application/json"}

LINE = ("Ada Lovelace met Bob " * 100)[:LONGEST_LINE]
QUESTION = ("Whom did Ada Lovelace meet? " * 1000)[:20_000]
MESSAGE = ("Ada Lovelace met Bob. He left. " * 10_000)[:LONGEST_MESSAGE]
HISTORY = [{"role": role, "content": MESSAGE} for role in ("user", "assistant") * 9]
URIS = [f"{n}{LINE}"[:LONGEST_LINE] for n in range(1000)]
FILTER = {"uris": URIS, "metadata": {f"k{n}": [f"{n}{m}" for m in range(100)] for n in range(20)}}
SHARE = 1 if FULL else 5  # one part of so many of the longest texts and of the names, which take a minute
TEXT = {"documents": [{"uri": "big/0", "text": MESSAGE * (75 // SHARE)}]}
WORD = {"documents": [{"uri": "big/0", "text": "a" * (15_000_000 // SHARE)}]}
PLACED = {"documents": [{"uri": "big/0", "text": "x", "places": [{"start": 0, "kind": "page", "label": "1"}] * 20_000}]}
NAMES = [{"name": f"{n}{LINE}"[:LONGEST_LINE]} for n in range(1000)]
IDS = [str(UUID(int=n)) for n in range(700)]
TYPES = {f"{n}{LINE}"[:LONGEST_LINE]: LINE for n in range(100)}
RIGHT = {
    "question": QUESTION,
    "passages": [{"uri": uri, "chunk": id_} for uri, id_ in zip(URIS, IDS[:100], strict=False)],
    "answers": [MESSAGE[:LONGEST_LABEL]] * 20,
    "kind": LINE,
}
ASK = {"question": QUESTION[:10_000], "method": "keyword", "parameters": {"top_k": 1000}, "history": HISTORY}
CHAT = {"model": "trueweave/mine/keyword", "messages": [*HISTORY, {"role": "user", "content": QUESTION[:10_000]}]}

# Each operation with a JSON body. Routes that take files are bounded by the size of an upload.
LARGEST: dict[tuple[str, str], list[Any]] = {
    ("post", "/v1/workspaces/{workspace}/retrieve"): [{"question": QUESTION, "method": "keyword", "filter": FILTER}],
    ("post", "/v1/workspaces/{workspace}/ask"): [ASK, {**ASK, "filter": FILTER, "history": [], "context_only": True}],
    ("post", "/v1/workspaces/{workspace}/search"): [{"text": QUESTION, "limit": 200, "filter": FILTER}],
    ("post", "/v1/workspaces/{workspace}/compare"): [{"question": QUESTION, "methods": ["keyword"] * 30}],
    ("post", "/v1/workspaces/{workspace}/subgraph"): [{"entities": IDS[:500], "chunks": IDS[500:700], "limit": 500}],
    ("put", "/v1/workspaces/{workspace}/access"): [
        {"prefix": LINE, "readers": [uri[:200].strip() for uri in URIS[:100]]}
    ],
    ("put", "/v1/workspaces/{workspace}/history"): [{"days": 100_000}],
    ("post", "/v1/workspaces/{workspace}/documents"): [TEXT, PLACED],
    ("post", "/v1/workspaces/{workspace}/estimate"): [TEXT, WORD],
    ("post", "/v1/workspaces/{workspace}/documents/retry"): [{"uris": URIS}],
    ("post", "/v1/workspaces/{workspace}/documents/delete"): [{"uris": URIS}],
    ("post", "/v1/workspaces/{workspace}/documents/off"): [{"uris": URIS}],
    ("post", "/v1/workspaces/{workspace}/documents/on"): [{"uris": URIS}],
    ("post", "/v1/workspaces/{workspace}/memories"): [
        {"text": TEXT["documents"][0]["text"], "by": LINE, "source": LINE},
        {"messages": [{"role": "user", "content": "word " * 20}] * 1000, "conversation": LINE[:900]},
    ],
    ("post", "/v1/workspaces/{workspace}/memories/recall"): [{"text": QUESTION, "limit": 200, "by": LINE}],
    ("post", "/v1/workspaces/{workspace}/memories/forget"): [{"uris": [f"memory:{uri}"[:900] for uri in URIS]}],
    ("post", "/v1/workspaces/{workspace}/rules"): [
        {"kind": "describe", "names": [{"name": "Ada Lovelace"}], "label": MESSAGE[:LONGEST_LABEL]},
        {"kind": "merge", "names": NAMES[:100]},
    ],
    ("post", "/v1/workspaces/{workspace}/rules/suggestions/accept"): [{"ids": ["1"] * 200}],
    ("post", "/v1/workspaces/{workspace}/rules/suggestions/reject"): [{"ids": ["1"] * 200}],
    ("post", "/v1/workspaces/{workspace}/rules/suggestions/decide"): [
        {"one": NAMES[0], "other": NAMES[1], "same": True, "by": LINE}
    ],
    ("post", "/v1/workspaces/{workspace}/rules/suggestions/again"): [{"one": NAMES[0], "other": NAMES[1]}],
    ("post", "/v1/workspaces/{workspace}/rules/preview"): [{"kind": "merge", "names": NAMES[:100], "limit": 200}],
    ("post", "/v1/workspaces/{workspace}/rules/mentioned"): [{"names": NAMES}],
    ("put", "/v1/workspaces/{workspace}/rules/resolution"): [{"mode": "fuzzy", "threshold": 70}],
    ("patch", "/v1/workspaces/{workspace}/settings"): [{"entity_types": TYPES, "relation_types": TYPES}],
    ("post", "/v1/workspaces/{workspace}/try-extract"): [
        {"text": MESSAGE[:20_000], "settings": {"entity_types": TYPES}}
    ],
    ("post", "/v1/workspaces/{workspace}/bench"): [{"methods": [LINE] * 30}, {"methods": ["keyword"]}],
    ("post", "/v1/workspaces/{workspace}/bench/questions"): [RIGHT],
    ("put", "/v1/workspaces/{workspace}/bench/questions/{question}"): [RIGHT],
    ("post", "/v1/workspaces/{workspace}/watches"): [{"question": LINE, "name": "x" * 100, "passages": 50, "by": LINE}],
    ("put", "/v1/workspaces/{workspace}/sources/{source}"): [
        {"address": LINE, "secrets": {f"{n}{LINE}"[:LONGEST_LINE]: LINE for n in range(20)}, "by": LINE}
    ],
    ("post", "/v1/workspaces/{workspace}/sources/{source}/sync"): [{"confirmed": True}],
    ("put", "/v1/workspaces/{workspace}/budget"): [{"tokens": 10**15}],
    ("post", "/v1/workspaces"): [{"name": "x" * 100}],
    ("post", "/v1/keys"): [{"name": "x" * 200, "workspaces": [f"{n}" for n in range(1000)]}],
    ("post", "/v1/session"): [{"key": "x" * 200}, {"code": "x" * 200}],
    ("post", "/v1/chat/completions"): [CHAT],
    ("post", "/api/chat"): [{**CHAT, "stream": False}],
}


@asynccontextmanager
async def served(url: str) -> AsyncIterator[tuple[Served, httpx2.AsyncClient]]:
    async with (
        ModelServer(lambda _: ANSWER) as model,
        serving(url, model="vllm/any", model_url=model.url, model_tries=1) as server,
    ):
        trueweave = await fill(server.database, "mine")
        names = [Mention(f"Name{n} Other{n % 97}") for n in range(3000 // SHARE)]
        chunks = [Chunk(f"Ada Lovelace met Bob {n}. " * 50, mentions=tuple(names[n::100])) for n in range(100)]
        await trueweave.add_documents([Document(f"more/{n}", (chunk,)) for n, chunk in enumerate(chunks)])
        async with server.client(await server.key("admin")) as client:
            client.timeout = httpx2.Timeout(120)
            yield server, client


def json_operations(url: str) -> set[tuple[str, str]]:
    from trueweave import Settings

    paths = create_app(Settings(database_url=url)).openapi()["paths"]
    return {
        (method, path)
        for path, operations in paths.items()
        for method, one in operations.items()
        if "application/json" in one.get("requestBody", {}).get("content", {})
    }


@asynccontextmanager
async def pulse(url: str) -> AsyncIterator[list[float]]:
    """The processor time of this process while `/healthz` is answered, asked again and again. A thread that keeps the
    interpreter to itself shows here; other programs on a busy machine do not."""
    took: list[float] = []

    async def beat() -> None:
        async with httpx2.AsyncClient(base_url=url, timeout=60) as client:
            while True:
                began = time.process_time()
                await client.get("/healthz")
                took.append(time.process_time() - began)
                await asyncio.sleep(0.01)

    beating = asyncio.create_task(beat())
    await until(lambda: bool(took))
    try:
        yield took
    finally:
        beating.cancel()
        with suppress(asyncio.CancelledError):
            await beating


async def slowest(
    server: Served, client: httpx2.AsyncClient, method: str, path: str, body: Any, patch: pytest.MonkeyPatch
) -> tuple[float, httpx2.Response]:
    """The slowest `/healthz` while a request is answered, or the longest step of the event loop if that is more, in
    processor time; and the answer."""
    found, content = list[float](), json.dumps(body).encode()
    for _ in range(TRIES):
        async with pulse(server.url) as during:
            where = path.format(workspace="mine", question=IDS[0], source="kettles")
            with watched(patch) as steps:
                answer = await client.request(method, where, content=content, headers=SENT)
        found.append(max(*during, *steps))
        if found[-1] < LONGEST:
            break
    return min(found), answer


def test_every_route_has_its_largest_input(url: str) -> None:
    assert set(LARGEST) == json_operations(url)


@pytest.mark.nightly  # it needs the processors for itself
async def test_no_route_keeps_others_waiting_with_the_largest_input_that_it_accepts(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: dict[str, float] = {}
    async with served(url) as (server, client):
        for (method, path), bodies in LARGEST.items():
            for number, body in enumerate(bodies):
                took, answer = await slowest(server, client, method, path, body, monkeypatch)
                assert answer.status_code not in (413, 500), (method, path, number)
                assert answer.is_success or answer.json().get("code") != "invalid_request", answer.text[:300]
                found[f"{method} {path} {number}"] = took
        for name, path, status in (
            ("suggestions", f"{HERE}/rules/suggestions?threshold=70", 200),
            ("unknown entity", f"{HERE}/entity?name={LINE}", 404),
        ):
            took, answer = await slowest(server, client, "get", path, None, monkeypatch)
            assert answer.status_code == status
            found[name] = took
    assert {name: took for name, took in found.items() if took >= LONGEST} == {}


@pytest.mark.parametrize(
    "body",
    [
        b'{"documents": [' + b"{}," * 200_000 + b"{}]}",
        b'{"documents": ' + b"[" * 200_001,
        b'{"documents": [{"uri": "a", "text": "b", "metadata": {"a": [' + b"[]," * 200_000 + b"[]]}}]}",
    ],
    ids=["objects", "nested", "lists"],
)
async def test_json_with_too_many_values_is_refused_before_it_is_parsed(url: str, body: bytes) -> None:
    async with serving(url) as server:
        await fill(server.database, "mine")
        async with server.client(await server.key("write", "mine")) as client:
            answer = await client.post(f"{HERE}/documents", content=body, headers={"Content-Type": "application/json"})
            assert answer.status_code == 413
            assert "values" in answer.json()["detail"]


async def test_suggestions_stop_when_their_caller_disconnects(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()
    here = asyncio.get_running_loop()

    async def endless(tx: Transaction, *_: object, **__: object) -> list[Any]:
        here.call_soon_threadsafe(begun.set)
        try:
            await tx.execute("SELECT pg_sleep(600)")
        finally:
            here.call_soon_threadsafe(ended.set)
        return []

    monkeypatch.setattr(suggestions, "_found", endless)
    async with serving(url) as server:
        await fill(server.database, "mine")
        async with server.client(await server.key("write", "mine")) as client:
            asking = asyncio.create_task(client.get(f"{HERE}/rules/suggestions"))
            await asyncio.wait_for(begun.wait(), 20)
            asking.cancel()
            await asyncio.wait_for(ended.wait(), 20)


async def test_callers_who_wait_for_suggestions_leave_connections_to_others(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go = asyncio.Event(), asyncio.Event()
    here = asyncio.get_running_loop()

    async def held(tx: Transaction, *_: object, **__: object) -> list[Any]:
        await tx.execute("SELECT 1")
        here.call_soon_threadsafe(begun.set)
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(go.wait(), here))
        return []

    monkeypatch.setattr(suggestions, "_found", held)
    async with serving(url, connections=4) as server:
        await fill(server.database, "mine")
        async with server.client(await server.key("write", "mine")) as client:
            asking = [asyncio.create_task(client.get(f"{HERE}/rules/suggestions")) for _ in range(8)]
            await asyncio.wait_for(begun.wait(), 20)
            other = await asyncio.wait_for(client.get(f"{HERE}/entities"), 20)
            assert other.status_code == 200
            go.set()
            assert {one.status_code for one in await asyncio.gather(*asking)} == {200}


async def test_a_tool_stops_when_its_caller_disconnects(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def endless(*_: object, **__: object) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    monkeypatch.setattr(AsyncTrueweave, "search", endless)
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "search", "arguments": {"text": "a"}}}
    async with serving(url) as server:
        await fill(server.database, "mine")
        headers = {"Accept": "application/json, text/event-stream"}
        async with server.client(await server.key("read", "mine"), **headers) as client:
            asking = asyncio.create_task(client.post(f"{HERE}/mcp", json=call))
            await asyncio.wait_for(begun.wait(), 20)
            asking.cancel()
            await asyncio.wait_for(ended.wait(), 20)
            await until(lambda: not server.app.state.services.asking._under_way)
