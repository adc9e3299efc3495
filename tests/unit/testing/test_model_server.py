"""The model server that tests are written with: what it scripts, logs and breaks."""

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from trueweave import Message
from trueweave.testing import HashEmbedder
from trueweave.testing.model_server import Asked, Fault, ModelServer, Trouble, smallest, table

CHAT = {"model": "any", "messages": [{"role": "user", "content": "Who was Ada?"}], "max_tokens": 50}


async def post(server: ModelServer, body: Any, path: str = "/chat/completions", method: str = "POST") -> bytes:
    """The raw response on a connection of its own; what came of it, when it breaks off."""
    parts = urlsplit(server.url)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    payload = body if isinstance(body, bytes) else json.dumps(body).encode()
    writer.write(f"{method} {parts.path}{path} HTTP/1.1\r\nContent-Length: {len(payload)}\r\n\r\n".encode() + payload)
    writer.write_eof()
    found = await reader.read()
    writer.close()
    return found


async def ask(server: ModelServer, body: Any, path: str = "/chat/completions", method: str = "POST") -> Any:
    return json.loads((await post(server, body, path, method)).partition(b"\r\n\r\n")[2])


async def test_a_script_sees_the_request_and_its_reply_is_counted_always_alike() -> None:
    seen: list[Asked] = []

    def script(asked: Asked) -> str:
        seen.append(asked)
        return "A mathematician."

    async with ModelServer(script) as server:
        first, second = await ask(server, CHAT), await ask(server, CHAT)
    assert seen[0] == Asked("any", (Message("user", "Who was Ada?"),), 50, None)
    assert first == second
    assert first["choices"][0]["message"]["content"] == "A mathematician."
    assert first["usage"] == {"prompt_tokens": 8, "completion_tokens": 4, "total_tokens": 12}


async def test_a_table_answers_by_a_phrase_and_what_is_not_in_it_is_an_error() -> None:
    async with ModelServer(table({"Ada": "yes"})) as server:
        assert (await ask(server, CHAT))["choices"][0]["message"]["content"] == "yes"
        other = {**CHAT, "messages": [{"role": "user", "content": "Who was Ida?"}]}
        assert "no reply is scripted for 'Who was Ida?'" in (await ask(server, other))["error"]["message"]


def test_the_smallest_reply_keeps_to_the_schema() -> None:
    item = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    properties = {
        "items": {"type": "array", "items": {"$ref": "#/$defs/Item"}},
        "first": {"$ref": "#/$defs/Item"},
        "rank": {"type": "integer", "minimum": 1},
        "kind": {"enum": ["a", "b"]},
        "note": {"anyOf": [{"type": "null"}, {"type": "string"}]},
        "extra": {"type": "string"},
    }
    required = ["items", "first", "rank", "kind", "note"]
    schema = {"type": "object", "properties": properties, "required": required, "$defs": {"Item": item}}
    found = json.loads(smallest(Asked("any", (), 10, schema)))
    assert found == {"items": [], "first": {"name": ""}, "rank": 1, "kind": "a", "note": None}


async def test_a_stream_is_the_same_reply_in_pieces() -> None:
    async with ModelServer(lambda _: "one  two\nthree") as server:
        asked = {**CHAT, "stream": True, "stream_options": {"include_usage": True}}
        raw = (await post(server, asked)).decode()
    events = [line.removeprefix("data: ") for line in raw.splitlines() if line.startswith("data: ")]
    assert events[-1] == "[DONE]"
    deltas = [json.loads(event) for event in events[:-1]]
    assert "".join(d["choices"][0]["delta"].get("content", "") for d in deltas if d["choices"]) == "one  two\nthree"
    assert deltas[-2]["choices"][0]["finish_reason"] == "stop"
    assert deltas[-1]["usage"]["completion_tokens"] > 0


async def test_vectors_are_those_of_the_hash_embedder() -> None:
    async with ModelServer() as server:
        found = await ask(server, {"model": "any", "input": ["a b", "c"]}, "/embeddings")
    expected = await HashEmbedder().embed(["a b", "c"], "document")
    assert [row["embedding"] for row in found["data"]] == [pytest.approx(row.tolist()) for row in expected]


async def test_connections_are_kept_alive_and_unknown_paths_and_broken_requests_are_refused() -> None:
    async with ModelServer() as server:
        parts = urlsplit(server.url)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        for _ in range(3):
            writer.write(b"GET /v1/models HTTP/1.1\r\n\r\n")
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200 OK")
            await reader.readexactly(int(head.partition(b"Content-Length: ")[2].split()[0]))
        writer.close()
        assert (await post(server, b"", "/nothing", "GET")).startswith(b"HTTP/1.1 404")
        assert (await post(server, b"{")).startswith(b"HTTP/1.1 400")
        assert server.calls == []


async def test_the_log_has_a_line_when_a_call_begins_and_one_when_it_ended(tmp_path: Path) -> None:
    log = tmp_path / "calls.jsonl"
    under_way: list[list[str]] = []

    def logged() -> list[dict[str, Any]]:
        return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]

    def script(_: Asked) -> str:
        under_way.append([line["event"] for line in logged()])
        return "ok"

    async with ModelServer(script, log=log, trouble=Trouble(at={2: Fault.DROP_FIRST})) as server:
        await ask(server, {"model": "any", "input": ["a", "b", "c"]}, "/embeddings")
        await ask(server, CHAT)
        await post(server, CHAT)
    assert under_way == [["start", "end", "start"]]
    embed, _, chat, _, dropped, end = logged()
    assert (embed["kind"], embed["texts"], chat["kind"], chat["texts"]) == ("embed", 3, "chat", 0)
    assert chat["key"] == dropped["key"] != embed["key"]
    assert chat["id"] != dropped["id"] == end["id"]
    assert (end["event"], end["fault"], end["sent"]) == ("end", "drop-first", False)


async def test_a_second_server_adds_to_the_log_of_the_first(tmp_path: Path) -> None:
    for _ in range(2):
        async with ModelServer(log=tmp_path / "calls.jsonl") as server:
            await ask(server, CHAT)
    assert len((tmp_path / "calls.jsonl").read_text(encoding="utf-8").splitlines()) == 4


def test_trouble_comes_by_number_or_by_chance_and_always_the_same_for_a_seed() -> None:
    trouble = Trouble(at={3: Fault.BROKEN}, share={Fault.RATE_LIMIT: 0.2, Fault.SLOW: 0.1}, seed=7)
    drawn = [trouble.of(number) for number in range(2000)]
    assert drawn == [trouble.of(number) for number in range(2000)]
    assert drawn != [Trouble(share=trouble.share, seed=8).of(number) for number in range(2000)]
    assert drawn[3] is Fault.BROKEN
    counts = Counter(drawn)
    assert 350 < counts[Fault.RATE_LIMIT] < 450
    assert 150 < counts[Fault.SLOW] < 250
    assert {Trouble.always(Fault.CUT).of(number) for number in range(100)} == {Fault.CUT}
