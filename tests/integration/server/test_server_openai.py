"""OpenAI's own client asks the server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from openai import APIStatusError, AsyncOpenAI, NotFoundError
from openai.types.chat import ChatCompletionMessageParam

from tests.integration.serving import ANSWER, fill, serving
from trueweave.testing.model_server import ModelServer
from trueweave.testing.model_server.scripts import Asked

SOURCES = "\n\nSources:\n[1] Ada (mine/ada)"
TEXT = "Ada worked with Charles Babbage [1]." + SOURCES
INVENTING = f"{ANSWER} She was paid for it."
INVENTED = (
    f"Ada worked with Charles Babbage [1]. She was paid for it.{SOURCES}"
    "\n\nNot confirmed:\n- She was paid for it. (not checked: it cites no passage)"
)
REFUSAL = "It was probably Byron. The documents do not say. [0]"
REFUSED = "The documents do not say."


async def test_the_official_client_asks_and_listens(url: str) -> None:
    seen: list[Asked] = []

    def script(asked: Asked) -> str:
        seen.append(asked)
        return "Whom did Ada work with?" if "standalone" in str(asked.messages).lower() else ANSWER

    async with (
        ModelServer(script) as model,
        serving(url, model="vllm/any", model_url=model.url, model_tries=1) as server,
    ):
        await fill(server.database, "mine")
        await fill(server.database, "other")
        key = await server.key("read", "mine")
        async with AsyncOpenAI(base_url=f"{server.url}/v1", api_key=key, max_retries=0) as client:
            models = [one.id async for one in client.models.list()]
            assert models[0] == "trueweave/mine"
            assert "trueweave/mine/weave" in models
            assert not any("other" in one for one in models)

            question = {"role": "user", "content": "Whom did Ada work with?"}
            whole = await client.chat.completions.create(
                model="trueweave/mine/keyword",
                messages=[{"role": "system", "content": "Answer in verse."}, question],  # type: ignore[list-item]
                max_tokens=100,
            )
            assert whole.choices[0].message.content == TEXT
            assert whole.usage is not None
            assert whole.usage.total_tokens > 0
            assert "Answer in verse." in str(seen[-1].messages)

            stream = await client.chat.completions.create(
                model="trueweave/mine",
                messages=[
                    {"role": "user", "content": "Who was Ada?"},
                    {"role": "assistant", "content": "A mathematician."},
                    {"role": "user", "content": [{"type": "text", "text": "Whom did she work with?"}]},
                ],
                stream=True,
                stream_options={"include_usage": True},
            )
            chunks = [chunk async for chunk in stream]
            said = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
            assert said == TEXT
            assert chunks[-2].choices[0].finish_reason == "stop"
            assert chunks[-1].usage is not None
            assert "A mathematician." in str([one.messages for one in seen]), "the conversation is passed on"

            for name in ("trueweave/other", "trueweave/nowhere"):
                with pytest.raises(NotFoundError) as raised:
                    await client.chat.completions.create(model=name, messages=[question])  # type: ignore[list-item]
                assert "unknown_workspace" in str(raised.value)
            for name in ("gpt-4o", "trueweave/", ""):
                with pytest.raises(NotFoundError) as raised:
                    await client.chat.completions.create(model=name, messages=[question])  # type: ignore[list-item]
                assert "unknown_model" in str(raised.value)
                assert "Write one of these: trueweave/mine." in str(raised.value)
            with pytest.raises(APIStatusError, match="unknown_method"):
                await client.chat.completions.create(
                    model="trueweave/mine/magic",
                    messages=[question],  # type: ignore[list-item]
                )
        async with httpx.AsyncClient(base_url=server.url, headers={"Authorization": f"Bearer {key}"}) as plain:
            body = {"model": "trueweave/mine", "messages": [{"role": "assistant", "content": "Hm."}]}
            answer = await plain.post("/v1/chat/completions", json=body)
            assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")


@asynccontextmanager
async def asking(url: str, reply: str) -> AsyncIterator[AsyncOpenAI]:
    async with (
        ModelServer(lambda _: reply) as model,
        serving(url, model="vllm/any", model_url=model.url, model_tries=1) as server,
    ):
        await fill(server.database, "mine")
        key = await server.key("read", "mine")
        async with AsyncOpenAI(base_url=f"{server.url}/v1", api_key=key, max_retries=0) as client:
            yield client


QUESTION: list[ChatCompletionMessageParam] = [{"role": "user", "content": "Whom did Ada work with?"}]
MODEL = "trueweave/mine/keyword"


async def test_an_invented_sentence_is_marked_in_the_text_and_in_fields(url: str) -> None:
    async with asking(url, INVENTING) as client:
        whole = await client.chat.completions.create(model=MODEL, messages=QUESTION)
        assert whole.choices[0].message.content == INVENTED
        stream = await client.chat.completions.create(model=MODEL, messages=QUESTION, stream=True)
        chunks = [chunk async for chunk in stream]
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == INVENTED
    assert not any((chunk.model_extra or {}).get("trueweave") for chunk in chunks[:-1])
    for last in (whole, chunks[-1]):
        found = (last.model_extra or {})["trueweave"]
        assert found["known"] is True
        assert [(one["number"], one["uri"], one["quote"]) for one in found["citations"]] == [
            (1, "mine/ada", "worked with Charles Babbage")
        ]
        assert [(one["text"], one["status"], one["reason"]) for one in found["unconfirmed"]] == [
            ("She was paid for it.", "not checked", "it cites no passage")
        ]


async def test_a_refusal_streams_nothing_that_the_model_wrote(url: str) -> None:
    async with asking(url, REFUSAL) as client:
        whole = await client.chat.completions.create(model=MODEL, messages=QUESTION)
        assert whole.choices[0].message.content == REFUSED
        stream = await client.chat.completions.create(model=MODEL, messages=QUESTION, stream=True)
        chunks = [chunk async for chunk in stream]
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == REFUSED
    for last in (whole, chunks[-1]):
        assert (last.model_extra or {})["trueweave"] == {"known": False, "citations": [], "unconfirmed": []}
