"""Ollama's protocol, in the forms that its documentation has."""

import json
from datetime import datetime

import pytest

from tests.integration.server.test_server_openai import INVENTED, INVENTING, REFUSAL, REFUSED, TEXT
from tests.integration.serving import ANSWER, fill, serving
from trueweave.testing.model_server import Fault, ModelServer, Trouble

ASKED = {"role": "user", "content": "Whom did Ada work with?"}


async def test_a_chat_in_lines_and_whole(url: str) -> None:
    async with (
        ModelServer(lambda _: ANSWER) as model,
        serving(url, model="vllm/any", model_url=model.url, model_tries=1) as server,
        server.client(await server.key("read", "mine")) as client,
    ):
        await fill(server.database, "mine")
        tags = (await client.get("/api/tags")).json()["models"]
        assert {"trueweave/mine", "trueweave/mine/keyword"} <= {one["name"] for one in tags}
        for one in tags:
            assert one.keys() == {"name", "model", "modified_at", "size", "digest", "details"}
            assert (one["name"], len(one["digest"])) == (one["model"], 64)
        body = {"model": "trueweave/mine/keyword", "messages": [ASKED]}
        answer = await client.post("/api/chat", json=body)
        assert answer.headers["content-type"] == "application/x-ndjson"
        *pieces, last = [json.loads(line) for line in answer.text.splitlines()]
        assert len(pieces) > 1
        assert all(one.keys() == {"model", "created_at", "message", "done"} and not one["done"] for one in pieces)
        assert "".join(one["message"]["content"] for one in pieces) == TEXT
        assert (last["done"], last["done_reason"], last["message"]) == (
            True,
            "stop",
            {"role": "assistant", "content": ""},
        )
        assert last["total_duration"] > 0
        assert last["prompt_eval_count"] >= 0
        assert datetime.fromisoformat(last["created_at"]).tzinfo

        options = {"temperature": 0.5, "num_predict": -1, "top_k": 3}
        whole = await client.post("/api/chat", json={**body, "stream": False, "options": options, "keep_alive": 5})
        found = whole.json()
        assert (found["message"], found["done"]) == ({"role": "assistant", "content": TEXT}, True)
        assert found["model"] == "trueweave/mine/keyword"
        assert found["eval_count"] > 0


@pytest.mark.parametrize(("reply", "text", "known"), [(INVENTING, INVENTED, True), (REFUSAL, REFUSED, False)])
async def test_checks_are_in_the_text_and_in_the_last_reply(url: str, reply: str, text: str, known: bool) -> None:
    async with (
        ModelServer(lambda _: reply) as model,
        serving(url, model="vllm/any", model_url=model.url, model_tries=1) as server,
        server.client(await server.key("read", "mine")) as client,
    ):
        await fill(server.database, "mine")
        body = {"model": "trueweave/mine/keyword", "messages": [ASKED]}
        lines = (await client.post("/api/chat", json=body)).text.splitlines()
        whole = (await client.post("/api/chat", json={**body, "stream": False})).json()
    *pieces, last = [json.loads(line) for line in lines]
    assert "".join(one["message"]["content"] for one in pieces) == whole["message"]["content"] == text
    assert not any("trueweave" in one for one in pieces)
    for found in (last["trueweave"], whole["trueweave"]):
        assert found["known"] is known
        assert [one["text"] for one in found["unconfirmed"]] == (["She was paid for it."] if known else [])
        assert [one["uri"] for one in found["citations"]] == (["mine/ada"] if known else [])


async def test_errors_are_told_as_ollama_does(url: str) -> None:
    async with (
        ModelServer(lambda _: ANSWER, trouble=Trouble.always(Fault.BAD_KEY)) as model,
        serving(url, model="vllm/any", model_url=model.url, model_tries=1) as server,
    ):
        await fill(server.database, "mine")
        async with server.client(await server.key("read", "mine")) as client:
            body = {"model": "trueweave/nowhere", "messages": [ASKED]}
            answer = await client.post("/api/chat", json=body)
            assert (answer.status_code, answer.json()["code"]) == (404, "unknown_workspace")
            assert answer.json()["error"].startswith("There is no such workspace")
            refused = await client.post("/api/chat", json={"model": "trueweave/mine/keyword", "messages": [ASKED]})
            assert "(model_refused)" in json.loads(refused.text.splitlines()[-1])["error"]
            silent = {"model": "trueweave/mine", "messages": [{"role": "assistant", "content": "x"}]}
            assert (await client.post("/api/chat", json=silent)).status_code == 422
        async with server.client() as client:
            answer = await client.get("/api/tags")
            assert answer.status_code == 401
            assert isinstance(answer.json()["error"], str)


@pytest.mark.parametrize("wanted", [-3, 10**6])
async def test_a_length_that_makes_no_sense_is_refused(url: str, wanted: int) -> None:
    async with serving(url) as server, server.client(await server.key("read", "mine")) as client:
        body = {"model": "trueweave/mine", "messages": [ASKED], "options": {"num_predict": wanted}}
        assert (await client.post("/api/chat", json=body)).status_code == 422
