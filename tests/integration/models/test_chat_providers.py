"""Chat models of Anthropic, Azure and Bedrock by their vendors' real SDKs, over real HTTP: one contract for all."""

import asyncio
import base64
import json
import threading
import time
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

from tests.provider_servers import (
    KEY,
    MODEL,
    RETRY_AFTER,
    TEXT,
    WORDS,
    AnthropicServer,
    AzureServer,
    BedrockServer,
    ProviderServer,
)
from trueweave import Message
from trueweave.core.model_calls import Image, Purpose
from trueweave.errors import BadReply, ModelError, ModelRefused, ModelUnavailable
from trueweave.extend import Prompt, Reply
from trueweave.models.checks import check_chat
from trueweave.models.failures import UselessReply
from trueweave.models.names import endpoint
from trueweave.models.openai import OpenAIEmbedder
from trueweave.models.opening import ChatModel, open_chat, open_embedder
from trueweave.models.reply_stream import ReplyStream

if TYPE_CHECKING:  # importing the SDKs takes seconds in each process that collects this module
    from trueweave.models.anthropic import AnthropicChat
    from trueweave.models.bedrock import BedrockChat

SERVERS: dict[str, type[ProviderServer]] = {
    "anthropic": AnthropicServer,
    "azure": AzureServer,
    "bedrock": BedrockServer,
}
SCHEMA = json.dumps({"type": "object", "properties": {"entities": {"type": "array"}}, "required": ["entities"]})
MESSAGES = (Message("system", "Extract."), Message("user", "Ada met Babbage."))
PROMPT = Prompt(MESSAGES, max_tokens=100)
FORMED = replace(PROMPT, schema=SCHEMA)
PURPOSE = Purpose("test")
DEADLINE = 1.5
PATIENT = 300.0  # seconds; a busy machine takes long to start and read an endless reply

# What becomes of a case: the error, its words, and whether the call may have been charged for.
OUTCOMES: dict[str, tuple[type[ModelError], str, bool]] = {
    "bad-key": (ModelRefused, r"refuses: 40[13], .*(a key that is valid and may|Check the AWS credentials)", False),
    "forbidden": (ModelRefused, r"refuses: 403, .*(a key that is valid and may|bedrock:InvokeModel)", False),
    "no-model": (ModelRefused, r"refuses: 404, .*(Check the model's|name of a deployment)", False),
    "rate-limit": (ModelUnavailable, r"answered 429, ", False),
    "broken": (ModelUnavailable, r"answered 500, ", False),
    "overloaded": (ModelUnavailable, r"answered 5(03|29), .*[Oo]verloaded\.", False),
    "too-long": (UselessReply, r"does not take this prompt: 400, .*make chunks smaller", False),
    "huge-error": (ModelRefused, r"refuses: 400, .*and so on", False),
    "redirect": (ModelRefused, r"redirects to http://localhost(:9)?/elsewhere, and nothing was sent there", False),
    "hang": (ModelUnavailable, r"did not answer in full within 1\.5 s\. .*Raise the deadline", True),
    "endless": (UselessReply, r"did not stop: it sent more than .* bytes", True),
    "dropped": (ModelUnavailable, r"broke the connection off: ", True),
}
ONLY = {
    ("anthropic", "refusal"): (UselessReply, r"declines to answer: I cannot help with that\.", True),
    ("anthropic", "no-credit"): (ModelRefused, r"refuses unpaid calls: 400, .*Add credit", False),
    ("azure", "refusal"): (UselessReply, r"declines to answer: I cannot help with that\.", True),
    ("azure", "withheld"): (UselessReply, r"its content filter objects", True),
    ("azure", "no-credit"): (ModelRefused, r"refuses unpaid calls: 429, .*Add credit", False),
    ("bedrock", "withheld"): (UselessReply, r"its content filter objects", True),
    ("bedrock", "model-late"): (ModelUnavailable, r"answered 408, ModelTimeoutException: ", False),
}
TRIED = [(provider, case, outcome) for case, outcome in OUTCOMES.items() for provider in SERVERS]
TRIED += [(provider, case, outcome) for (provider, case), outcome in ONLY.items()]
IN_STREAM: dict[str, tuple[type[ModelError], str]] = {
    "unfinished": (ModelUnavailable, r"broke the connection off: the stream ended before the reply did\."),
    "error-in-stream": (ModelUnavailable, r"answered (529|503|429), "),
}


@pytest.fixture(autouse=True)
def _aws(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Credentials for boto3, and no files of AWS."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIATEST")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEY)
    monkeypatch.setenv("AWS_REGION", "eu-test-1")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-test-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK"):
        monkeypatch.delenv(name, raising=False)


@asynccontextmanager
async def chatting(
    provider: str, case: str = "", *, deadline: float = PATIENT
) -> AsyncIterator[tuple[ChatModel, ProviderServer]]:
    async with SERVERS[provider](case) as server:
        key = None if provider == "bedrock" else KEY
        chat = open_chat(endpoint(f"{provider}/{MODEL}", url=server.url, key=key), deadline=deadline)
        if provider == "bedrock" and deadline == DEADLINE:
            # Making boto3's client takes a while on a busy machine, and is not what the deadline is tried on.
            await asyncio.to_thread(getattr, cast("BedrockChat", chat)._exchange, "_client")
        try:
            yield chat, server
        finally:
            await chat.close()


async def heard(chat: ChatModel, prompt: Prompt, pieces: list[str]) -> Reply:
    """The whole reply; its pieces are put into the list as they come."""
    async with aclosing(ReplyStream(aiter(chat.stream(prompt, PURPOSE)))) as listening:
        async for piece in listening:
            pieces.append(piece)
    return listening.reply


async def has_no_reader() -> bool:
    """Whether no thread reads replies any longer, after a while."""
    until = time.monotonic() + 5
    while any(thread.name == "trueweave-model" for thread in threading.enumerate()):
        if time.monotonic() > until:
            return False
        await asyncio.sleep(0.02)
    return True


# --- the contract ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("prompt", [PROMPT, FORMED], ids=["text", "schema"])
@pytest.mark.parametrize("provider", SERVERS)
async def test_a_reply_comes_with_all_tokens_that_the_server_counted(provider: str, prompt: Prompt) -> None:
    async with chatting(provider) as (chat, server):
        assert chat.model == f"{provider}/{MODEL}"
        assert await chat.complete(prompt, PURPOSE) == Reply(TEXT, 16, 21, "stop")
        assert len(server.received) == 1
        assert await chat.complete(prompt, PURPOSE) == Reply(TEXT, 16, 21, "stop")


@pytest.mark.parametrize("provider", SERVERS)
async def test_an_image_is_sent_in_the_form_of_the_provider(provider: str) -> None:
    image = Image("image/png", b"a file", 640, 480)
    prompt = Prompt((Message("user", "Describe this.", (image,)),), max_tokens=100)
    data = base64.b64encode(image.data).decode()
    anthropic = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
    openai = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{data}"}}
    text = {"type": "text", "text": "Describe this."}
    contents = {
        "anthropic": [anthropic, text],
        "azure": [openai, text],
        "bedrock": [{"image": {"format": "png", "source": {"bytes": data}}}, {"text": "Describe this."}],
    }
    async with chatting(provider) as (chat, server):
        assert await chat.complete(prompt, PURPOSE) == Reply(TEXT, 16, 21, "stop")
        assert server.received[0].body["messages"] == [{"role": "user", "content": contents[provider]}]


@pytest.mark.parametrize("prompt", [PROMPT, FORMED], ids=["text", "schema"])
@pytest.mark.parametrize("provider", SERVERS)
async def test_a_stream_has_the_pieces_and_then_the_whole(provider: str, prompt: Prompt) -> None:
    pieces: list[str] = []
    async with chatting(provider) as (chat, _):
        assert await heard(chat, prompt, pieces) == Reply(TEXT, 16, 21, "stop")
    assert pieces == WORDS
    assert await has_no_reader()


@pytest.mark.parametrize("provider", SERVERS)
async def test_a_reply_that_reached_its_limit_says_so(provider: str) -> None:
    pieces: list[str] = []
    async with chatting(provider, "length") as (chat, _):
        assert (await chat.complete(PROMPT, PURPOSE)).finish == "length"
        assert (await chat.complete(FORMED, PURPOSE)).finish == "length"
        cut = await heard(chat, FORMED, pieces)
    assert (cut.text, cut.finish) == ("".join(WORDS[:2]), "length")
    assert pieces == WORDS[:2]


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize(("provider", "case", "outcome"), TRIED, ids=lambda one: one if isinstance(one, str) else "")
async def test_what_goes_wrong_is_sorted_alike(
    provider: str, case: str, outcome: tuple[type[ModelError], str, bool], streams: bool
) -> None:
    error, words, charged = outcome
    async with chatting(provider, case, deadline=DEADLINE if case == "hang" else PATIENT) as (chat, server):
        with pytest.raises(error, match=words) as raised:
            await (heard(chat, PROMPT, []) if streams else chat.complete(PROMPT, PURPOSE))
        assert f"{provider}/{MODEL} at {server.url}" in str(raised.value)
        assert KEY not in str(raised.value)
        assert raised.value.charged == charged
        # A busy machine may reach the deadline before the request is sent.
        assert len(server.received) <= 1, "the SDK is not to try again"
        if case == "rate-limit":
            assert isinstance(raised.value, ModelUnavailable)
            assert raised.value.retry_after == RETRY_AFTER
        if case in ("hang", "endless", "huge-error"):
            await asyncio.wait_for(server.left.wait(), 5)
    assert await has_no_reader()


@pytest.mark.parametrize(("case", "outcome"), IN_STREAM.items(), ids=lambda one: one if isinstance(one, str) else "")
@pytest.mark.parametrize("provider", SERVERS)
async def test_a_stream_that_breaks_was_charged_for(
    provider: str, case: str, outcome: tuple[type[ModelError], str]
) -> None:
    pieces: list[str] = []
    async with chatting(provider, case) as (chat, _):
        with pytest.raises(outcome[0], match=outcome[1]) as raised:
            await heard(chat, PROMPT, pieces)
    assert raised.value.charged
    assert pieces == WORDS[:2]


@pytest.mark.parametrize("provider", SERVERS)
async def test_who_leaves_a_stream_ends_the_connection(provider: str) -> None:
    async with chatting(provider, "paused") as (chat, server):
        stream = chat.stream(PROMPT, PURPOSE)
        async with aclosing(ReplyStream(aiter(stream))) as listening:
            assert await anext(listening) == WORDS[0]
        await asyncio.wait_for(server.left.wait(), 5)
        assert await has_no_reader()


@pytest.mark.parametrize("provider", SERVERS)
async def test_a_stream_that_pauses_too_long_ends_by_the_deadline(provider: str) -> None:
    pieces: list[str] = []
    async with chatting(provider, "paused", deadline=DEADLINE) as (chat, server):
        with pytest.raises(ModelUnavailable, match=r"did not answer in full within 1\.5 s"):
            await heard(chat, PROMPT, pieces)
        await asyncio.wait_for(server.left.wait(), 5)
    assert pieces == WORDS[:2]
    assert await has_no_reader()


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("provider", SERVERS)
async def test_a_model_that_takes_no_temperature_is_asked_without_it_from_then_on(provider: str, streams: bool) -> None:
    async with chatting(provider, "no-temperature") as (chat, server):
        if provider == "anthropic":  # as with version 1 of its SDK, which speaks the API that had one
            anthropic = cast("AnthropicChat", chat)
            anthropic._dialect = replace(anthropic._dialect, takes_temperature=True)
        for asked in (2, 3):
            reply = await (heard(chat, PROMPT, []) if streams else chat.complete(PROMPT, PURPOSE))
            assert (reply.text, len(server.received)) == (TEXT, asked)


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("provider", ["anthropic", "bedrock"])
async def test_a_model_that_cannot_be_made_to_call_a_tool_gets_the_schema_as_a_format(
    provider: str, streams: bool
) -> None:
    async with chatting(provider, "no-forced-tool") as (chat, server):
        for asked in (2, 3):
            reply = await (heard(chat, FORMED, []) if streams else chat.complete(FORMED, PURPOSE))
            assert (reply.text, len(server.received)) == (TEXT, asked)
        formats = {"anthropic": "output_config", "bedrock": "outputConfig"}
        assert formats[provider] in server.received[-1].body


@pytest.mark.parametrize("provider", SERVERS)
async def test_an_empty_turn_is_not_refused(provider: str) -> None:
    """A reply that was empty is shown to the model again, with what was wrong with it."""
    again = Prompt((*MESSAGES, Message("assistant", ""), Message("user", "That was no JSON.")), max_tokens=100)
    async with chatting(provider) as (chat, _):
        assert (await chat.complete(again, PURPOSE)).text == TEXT


@pytest.mark.parametrize("provider", SERVERS)
async def test_a_page_in_place_of_a_reply_is_of_no_use(provider: str) -> None:
    async with chatting(provider, "not-json") as (chat, _):
        with pytest.raises(BadReply, match=r"sent (something that is not JSON|no reply at all)"):
            await chat.complete(PROMPT, PURPOSE)


@pytest.mark.parametrize("provider", SERVERS)
async def test_a_server_that_is_not_there_is_named_and_charges_nothing(provider: str) -> None:
    async with SERVERS[provider]() as server:
        pass
    key = None if provider == "bedrock" else KEY
    chat = open_chat(endpoint(f"{provider}/{MODEL}", url=server.url, key=key))
    with pytest.raises(ModelUnavailable, match=rf"cannot reach {provider}/.*Is it running, and the URL") as raised:
        await chat.complete(PROMPT, PURPOSE)
    assert (raised.value.unreachable, raised.value.charged) == (True, False)
    await chat.close()


@pytest.mark.parametrize("provider", SERVERS)
async def test_doctor_asks_each_of_them(provider: str) -> None:
    async with chatting(provider) as (chat, _):
        answers, form, context = await check_chat(chat)
    assert (answers.ok, answers.detail) == (True, "16 tokens in, 21 out")
    assert form.ok is False  # the server answers something else than was asked for
    assert context.ok is None


# --- Anthropic ------------------------------------------------------------------------------------------


async def test_the_request_to_anthropic_has_the_system_apart_and_the_schema_as_a_tool() -> None:
    async with chatting("anthropic") as (chat, server):
        await chat.complete(FORMED, PURPOSE)
    body = server.received[0].body
    assert body["system"] == "Extract."
    assert body["messages"] == [{"role": "user", "content": "Ada met Babbage."}]
    assert (body["tools"][0]["name"], body["tools"][0]["input_schema"]) == ("reply", json.loads(SCHEMA))
    assert body["tool_choice"] == {"type": "tool", "name": "reply", "disable_parallel_tool_use": True}


async def test_the_environment_tells_anthropic_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_PROFILE")
    for name in names:
        monkeypatch.setenv(name, "http://127.0.0.1:9/from-the-environment")
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "x-secret: from-the-environment")
    async with chatting("anthropic") as (chat, server):
        await chat.complete(PROMPT, PURPOSE)
    headers = server.received[0].headers
    assert headers["authorization"] == f"Bearer {KEY}"
    assert not [value for value in headers.values() if "environment" in value]


# --- Azure ----------------------------------------------------------------------------------------------


async def test_azure_embeds_too() -> None:
    async with AzureServer() as server:
        embedder = await open_embedder(endpoint("azure/small", url=server.url, key=KEY))
        vectors = await embedder.embed(["Ada", "Babbage"], "document")
        assert np.array_equal(vectors, np.array([[1, 0], [1, 1]], dtype=np.float32))
        assert {asked.path for asked in server.received} == {"/openai/v1/embeddings"}
        assert isinstance(embedder, OpenAIEmbedder)
        await embedder.close()


# --- Bedrock --------------------------------------------------------------------------------------------


async def test_the_event_loop_goes_on_while_boto3_waits() -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    async with chatting("bedrock", "hang", deadline=DEADLINE) as (chat, _):
        ticking = asyncio.create_task(tick())
        with pytest.raises(ModelUnavailable, match="did not answer in full"):
            await chat.complete(PROMPT, PURPOSE)
        ticking.cancel()
    assert ticks > 10


async def test_damaged_events_of_bedrock_are_told_by_their_checksum(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = BedrockServer.event
    damaged = staticmethod(lambda *given: plain(*given).replace(b"Ada", b"Eve"))
    monkeypatch.setattr(BedrockServer, "event", damaged)
    async with chatting("bedrock") as (chat, _):
        with pytest.raises(ModelUnavailable, match=r"broke the connection off: Checksum mismatch"):
            await heard(chat, PROMPT, [])


async def test_bedrock_without_credentials_or_region_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    async with chatting("bedrock") as (chat, server):
        with pytest.raises(ModelRefused, match=r"needs credentials of AWS.*Set AWS_PROFILE, or AWS_ACCESS_KEY_ID"):
            await chat.complete(PROMPT, PURPOSE)
        assert server.received == []
    monkeypatch.delenv("AWS_REGION")
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    async with chatting("bedrock") as (chat, _):
        with pytest.raises(ModelRefused, match=r"needs a region of AWS.*Set AWS_REGION, as in us-east-1"):
            await chat.complete(PROMPT, PURPOSE)
