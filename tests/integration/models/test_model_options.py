"""Options of models by role: where each provider has them, what is refused, and what is cached apart."""

from __future__ import annotations

from typing import Any

import pytest

from tests.provider_servers import KEY, MODEL, AnthropicServer, BedrockServer
from trueweave import AsyncTrueweave, Message, Settings, Source
from trueweave.core.model_calls import Purpose
from trueweave.core.model_options import ModelOptions
from trueweave.engine.checks import model_checks
from trueweave.errors import ConfigError
from trueweave.extend import Prompt
from trueweave.models.names import endpoint
from trueweave.models.openai import OpenAIChat
from trueweave.models.opening import open_chat
from trueweave.testing import ModelServer

PROMPT = Prompt((Message("user", "Who was Ada?"),), max_tokens=50)
PURPOSE = Purpose("test")
FIRST, SAME_TEXT = (Source(uri, "Ada Lovelace met Charles Babbage.") for uri in ("a", "b"))
ALL: ModelOptions = {"think": False, "top_p": 0.9, "seed": 7}


async def sent(provider: str, options: ModelOptions) -> dict[str, Any]:
    async with ModelServer() as server:
        chat = open_chat(endpoint(f"{provider}/any", url=server.url, key="k"), options=options)
        await chat.complete(PROMPT, PURPOSE)
        await chat.close()
        return dict(server.calls[-1].body)


async def test_ollama_has_all_of_them() -> None:
    body = await sent("ollama", ALL)
    assert body["think"] is False
    assert (body["options"]["top_p"], body["options"]["seed"]) == (0.9, 7)
    assert "think" not in body["options"]
    assert "think" not in await sent("ollama", {"seed": 7})


async def test_servers_with_openais_api_have_them_under_names_of_their_own() -> None:
    body = await sent("vllm", ALL)
    assert (body["top_p"], body["seed"], body["chat_template_kwargs"]) == (0.9, 7, {"enable_thinking": False})
    assert (await sent("openrouter", {"think": True}))["reasoning"] == {"enabled": True}
    mistral = await sent("mistral", {"seed": 7})
    assert (mistral["random_seed"], "seed" in mistral) == (7, False)


async def test_anthropic_can_think_or_not_and_bedrock_has_top_p(monkeypatch: pytest.MonkeyPatch) -> None:
    async with AnthropicServer() as server:
        chat = open_chat(endpoint("anthropic/any", url=server.url, key=KEY), options={"think": False})
        await chat.complete(PROMPT, PURPOSE)
        await chat.close()
        assert server.received[-1].body["thinking"] == {"type": "disabled"}
    for name, value in {"ACCESS_KEY_ID": "AKIATEST", "SECRET_ACCESS_KEY": KEY, "DEFAULT_REGION": "eu-test-1"}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    async with BedrockServer() as bedrock:
        chat = open_chat(endpoint(f"bedrock/{MODEL}", url=bedrock.url), options={"top_p": 0.9})
        await chat.complete(PROMPT, PURPOSE)
        await chat.close()
        assert bedrock.received[-1].body["inferenceConfig"]["topP"] == 0.9


@pytest.mark.parametrize(
    ("name", "option", "has"),
    [
        ("openai/any", "think", "It has seed and top_p"),
        ("anthropic/any", "seed", "It has think"),
        (f"bedrock/{MODEL}", "think", "It has top_p"),
    ],
)
def test_an_option_that_a_provider_does_not_have_is_an_error(name: str, option: str, has: str) -> None:
    key = None if name.startswith("bedrock") else "k"
    options: ModelOptions = {option: ALL[option]}  # type: ignore[misc]  # a name of the parameters
    with pytest.raises(ConfigError, match=f"sets {option} for {name}, but its provider has no such option. {has}"):
        open_chat(endpoint(name, key=key), options=options)


def test_a_mistyped_option_and_an_impossible_value_are_errors() -> None:
    for options in ({"tink": False}, {"top_p": 2.0}, {"seed": -1}):
        with pytest.raises(ValueError, match=r"extra_forbidden|less than or equal to 1|greater than or equal to 0"):
            Settings(model_options={"extract": options})


async def test_each_role_has_its_own_and_replies_are_cached_apart(url: str) -> None:
    async with ModelServer() as server:
        common: dict[str, Any] = {"database_url": url, "model": "vllm/any", "model_url": server.url}
        settings = Settings(workspace="options", **common, model_options={"answer": {"seed": 7}})
        async with AsyncTrueweave.open(url, "options", settings=settings, make=True) as trueweave:
            core = trueweave._core
            answer, keywords = await core.chat("answer"), await core.chat("keywords")
            assert answer
            assert keywords
            await answer.complete(PROMPT, PURPOSE)
            assert not (await keywords.complete(PROMPT, PURPOSE)).kept, "it was asked with another seed"
            assert (await answer.complete(PROMPT, PURPOSE)).kept
        assert [call.body.get("seed") for call in server.calls] == [7, None]


async def test_an_estimate_knows_replies_that_were_given_with_options(url: str) -> None:
    async with ModelServer() as server:
        common: dict[str, Any] = {"database_url": url, "model": "vllm/any", "model_url": server.url, "extractor": "llm"}
        for options in ({"extract": {"seed": 7}}, {"extract": {"seed": 8}}):
            settings = Settings(workspace="estimate", **common, model_options=options)
            async with AsyncTrueweave.open(url, "estimate", settings=settings, make=True) as trueweave:
                assert (await trueweave.estimate(FIRST)).calls == 1
                await trueweave.add(FIRST)
                assert (await trueweave.estimate(SAME_TEXT)).calls == 0


async def test_doctor_tries_each_set_of_options() -> None:
    async with ModelServer() as server:
        settings = Settings(
            model="vllm/any", model_url=server.url, model_options={"answer": {"seed": 7}, "extract": {"think": True}}
        )
        checks = [check async for check in model_checks(settings, None)]
        assert [check.detail for check in checks if check.what.startswith("language model")] == [
            "for extract",
            "for keywords, report, judge",
            "for answer",
        ]
    async with ModelServer() as server:
        settings = Settings(model="lmstudio/any", model_url=server.url, model_options={"answer": {"think": False}})
        checks = [check async for check in model_checks(settings, None)]
        assert any("has no such option" in check.fix for check in checks)


def test_the_default_sends_nothing_more() -> None:
    chat = open_chat(endpoint("vllm/any"))
    assert isinstance(chat, OpenAIChat)
    assert set(chat._request(PROMPT, chat._dialect, stream=False).body) == {
        "model", "messages", "max_tokens", "temperature",
    }  # fmt: skip
