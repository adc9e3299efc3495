"""Questions over HTTP: whole and as events, filtered, compared; and callers who hang up."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.integration.serving import ANSWER, Served, fill, serving
from trueweave.testing.model_server import Fault, ModelServer, Trouble

ASK, RETRIEVE = "/v1/workspaces/mine/ask", "/v1/workspaces/mine/retrieve"
QUESTION = {"question": "Whom did Ada work with?", "method": "keyword"}


@asynccontextmanager
async def asked(
    url: str, *, trouble: Trouble | None = None, text: str = ANSWER, log: Path | None = None, **settings: Any
) -> AsyncIterator[tuple[Served, httpx2.AsyncClient, ModelServer]]:
    """A server with a model, and a workspace with documents."""
    async with (
        ModelServer(lambda _: text, trouble=trouble, log=log) as model,
        serving(url, model="vllm/any", model_url=model.url, model_tries=1, **settings) as server,
    ):
        await fill(server.database, "mine", "Grace Hopper wrote a compiler.")
        async with server.client(await server.key("read", "mine")) as client:
            yield server, client, model


async def events(client: httpx2.AsyncClient, path: str, **more: Any) -> list[tuple[str, Any]]:
    """The events that a request is answered with."""
    found = []
    async with client.stream("POST", path, headers={"Accept": "text/event-stream"}, **more) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")
        name = ""
        async for line in answer.aiter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                found.append((name, json.loads(line.removeprefix("data: "))))
    return found


def notes(log: Path) -> list[tuple[str, bool]]:
    """When calls to the model began and ended, and whether all of their replies was sent."""
    lines = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    return [(line["event"], line.get("sent", False)) for line in lines]


async def until(holds: Callable[[], bool], within: float = 10) -> None:
    """Wait until something holds."""
    async with asyncio.timeout(within):
        while not holds():  # noqa: ASYNC110 (what a file says, and the state of another task)
            await asyncio.sleep(0.01)


async def test_an_answer_has_checked_citations(url: str) -> None:
    async with asked(url) as (_, client, _model):
        answer = await client.post(ASK, json=QUESTION)
        found = answer.json()
        assert (answer.status_code, found["answer"]) == (200, "Ada worked with Charles Babbage [1].")
        [cited] = found["citations"]
        assert (cited["uri"], cited["quote"], cited["verbatim"]) == ("mine/ada", "worked with Charles Babbage", True)
        assert found["sentences"][0]["confirmed"]
        assert found["usage"]["calls"] == 1
        assert found["evidence"]["passages"][0]["uri"] == "mine/ada"
        only = (await client.post(ASK, json={**QUESTION, "context_only": True})).json()
        assert (only["answer"], only["known"]) == (None, None)
        assert "Ada Lovelace" in only["context"]


async def test_events_are_what_was_found_then_the_answer_in_pieces_then_the_whole(url: str) -> None:
    async with asked(url) as (_, client, _model):
        found = await events(client, ASK, json=QUESTION)
        names = [name for name, _ in found]
        assert names == ["evidence", *["token"] * (len(names) - 2), "answer"]
        assert found[0][1]["evidence"]["passages"][0]["uri"] == "mine/ada"
        assert "".join(data["text"] for name, data in found if name == "token") == found[-1][1]["answer"]
        assert found[-1][1]["citations"][0]["quote"] == "worked with Charles Babbage"
        whole = (await client.post(ASK, json=QUESTION)).json()
        for name in ("answer", "citations", "sentences", "evidence", "context"):
            assert found[-1][1][name] == whole[name]


async def test_an_invented_sentence_is_marked_in_the_last_event(url: str) -> None:
    async with asked(url, text=f"{ANSWER} She was paid for it.") as (_, client, _model):
        found = await events(client, ASK, json=QUESTION)
    name, answer = found[-1]
    assert name == "answer"
    assert [(one["confirmed"], one["status"], one["reason"]) for one in answer["sentences"]] == [
        (True, "quoted", ""),
        (False, "not checked", "it cites no passage"),
    ]


async def test_no_event_of_a_refusal_has_words_of_the_model(url: str) -> None:
    async with asked(url, text="It was probably Byron. The documents do not say. [0]") as (_, client, _model):
        found = await events(client, ASK, json=QUESTION)
    assert [data["text"] for name, data in found if name == "token"] == ["The documents do not say."]
    answer = found[-1][1]
    assert (answer["answer"], answer["known"], answer["sentences"]) == ("The documents do not say.", False, [])


async def test_what_goes_wrong_is_a_problem(url: str) -> None:
    async with asked(url, trouble=Trouble.always(Fault.BAD_KEY)) as (_, client, model):
        answer = await client.post(ASK, json=QUESTION)
        assert (answer.status_code, answer.json()["code"]) == (502, "model_refused")
        assert model.url not in answer.text
        found = await events(client, ASK, json=QUESTION)
        assert [name for name, _ in found] == ["evidence", "problem"]
        assert found[1][1]["code"] == "model_refused"
    wrong: list[tuple[dict[str, Any], int, str]] = [
        ({**QUESTION, "method": "magic"}, 422, "unknown_method"),
        ({**QUESTION, "parameters": {"magic": 1}}, 422, "unknown_method"),
        ({**QUESTION, "filter": {"metadata": {"year": {"low": "when?"}}}}, 422, "invalid_filter"),
        ({**QUESTION, "surprise": 1}, 422, "invalid_request"),
        ({**QUESTION, "question": "a\x00b"}, 422, "invalid_request"),
        ({**QUESTION, "verifiers": ["onnx//etc"]}, 422, "invalid_request"),
    ]
    async with asked(url) as (_, client, _model):
        for body, status, code in wrong:
            answer = await client.post(ASK, json=body)
            assert (answer.status_code, answer.json()["code"]) == (status, code), body
            assert answer.json()["next_step"]


async def test_without_a_model_it_is_said_what_is_missing(url: str) -> None:
    async with serving(url) as server:
        await fill(server.database, "mine")
        async with server.client(await server.key("read")) as client:
            answer = await client.post(ASK, json=QUESTION)
            assert (answer.status_code, answer.json()["code"]) == (409, "not_configured")
            assert "a setting or a model is missing" in answer.json()["detail"]
        async with server.client(await server.key("admin")) as client:
            assert "no language model is set" in (await client.post(ASK, json=QUESTION)).json()["detail"]


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
async def test_who_hangs_up_stops_the_model(url: str, accept: str, tmp_path: Path) -> None:
    slow, log = Trouble(share={Fault.SLOW: 1.0}, pause=0.005), tmp_path / "calls"
    async with asked(url, trouble=slow, text="[1] " + "word " * 2000, log=log) as (server, client, _):

        async def ask() -> None:
            async with client.stream("POST", ASK, json=QUESTION, headers={"Accept": accept}) as answer:
                async for _ in answer.aiter_bytes():
                    pass

        asking = asyncio.create_task(ask())
        await until(lambda: len(notes(log)) == 1)
        assert server.app.state.services.workspaces._open["mine"].users == 1, "it is open for as long as it is needed"
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await until(lambda: len(notes(log)) == 2)
        assert notes(log)[1] == ("end", False), "the model's server was hung up on"
        await until(lambda: server.app.state.services.workspaces._open["mine"].users == 0)


async def test_documents_are_filtered_as_in_python(url: str) -> None:
    async with asked(url) as (_, client, _model):
        for metadata, passes in (
            ({"year": 1843}, True),
            ({"year": [1, 1843]}, True),
            ({"year": {"low": 1800, "high": 1843, "bounds": "[)"}}, False),
            ({"year": {"low": 1800}}, True),
            ({"year": "1843"}, False),
        ):
            answer = await client.post(RETRIEVE, json={**QUESTION, "filter": {"metadata": metadata}})
            assert bool(answer.json()["evidence"]["passages"]) is passes, metadata
        answer = await client.post(RETRIEVE, json={**QUESTION, "filter": {"uris": ["mine/0"]}})
        assert answer.json()["evidence"]["passages"] == []
        answer = await client.post(RETRIEVE, json={**QUESTION, "parameters": {"top_k": 1}})
        assert len(answer.json()["evidence"]["passages"]) == 1


async def test_methods_are_listed_and_compared(url: str) -> None:
    async with asked(url) as (_, client, _model):
        found = (await client.get("/v1/methods")).json()["methods"]
        keyword = next(one for one in found if one["name"] == "keyword")
        assert keyword["parameters"]["properties"]["top_k"]["type"] == "integer"
        fuse = next(one for one in found if one["name"] == "fuse")
        assert fuse["parameters"]["properties"]["parts"]["default"] == ["naive", "keyword"]
        body = {"question": "Ada", "methods": ["keyword", "naive"], "answers": True}
        rows = (await client.post("/v1/workspaces/mine/compare", json=body)).json()
        assert [bool(row["problem"]) for row in rows["methods"]] == [False, True]
        assert rows["methods"][0]["answer"] == "Ada worked with Charles Babbage [1]."
        parts = {"method": "fuse", "parameters": {"parts": ["keyword", "keyword"]}}
        assert (await client.post(RETRIEVE, json={**QUESTION, **parts})).status_code == 200
