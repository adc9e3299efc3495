"""OpenAI's own client asks the server."""

import httpx
import pytest
from openai import APIStatusError, AsyncOpenAI, NotFoundError

from tests.integration.serving import ANSWER, fill, serving
from trueweave.testing.model_server import ModelServer
from trueweave.testing.model_server.scripts import Asked

SOURCES = "\n\nSources:\n[1] Ada (mine/ada)"
TEXT = "Ada worked with Charles Babbage [1]." + SOURCES


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

            for name in ("trueweave/other", "trueweave/nowhere", "gpt-4o", "trueweave/"):
                with pytest.raises(NotFoundError) as raised:
                    await client.chat.completions.create(model=name, messages=[question])  # type: ignore[list-item]
                assert "unknown_workspace" in str(raised.value)
            with pytest.raises(APIStatusError, match="unknown_method"):
                await client.chat.completions.create(
                    model="trueweave/mine/magic",
                    messages=[question],  # type: ignore[list-item]
                )
        async with httpx.AsyncClient(base_url=server.url, headers={"Authorization": f"Bearer {key}"}) as plain:
            body = {"model": "trueweave/mine", "messages": [{"role": "assistant", "content": "Hm."}]}
            answer = await plain.post("/v1/chat/completions", json=body)
            assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
