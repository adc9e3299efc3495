"""All that can go wrong between Trueweave and a model server, over real HTTP: what comes of it, and in which words."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest

from tests.clocks import FastClock
from tests.paid_calls import patient_chat, patient_embedder
from trueweave import Event, Message
from trueweave.core.events import in_run
from trueweave.core.model_calls import Purpose
from trueweave.errors import BadReply, ModelError, ModelRefused, ModelUnavailable
from trueweave.events import Noted
from trueweave.extend import Prompt, Reply
from trueweave.models.failures import UselessReply
from trueweave.models.names import endpoint
from trueweave.models.openai import OpenAIChat, OpenAIEmbedder
from trueweave.models.retry import Patience
from trueweave.testing import HashEmbedder
from trueweave.testing.model_server import Asked, Fault, ModelServer, Trouble
from trueweave.text import tokens

SECRET = "sk-do-not-show-me"
TEXT = json.dumps({"entities": ["Ada", "Babbage"], "relations": []})
SCHEMA = json.dumps({"type": "object", "properties": {"entities": {"type": "array"}}, "required": ["entities"]})
PROMPT = Prompt((Message("system", "Extract."), Message("user", "Ada met Babbage.")), max_tokens=100, schema=SCHEMA)
PURPOSE = Purpose("test")

# What is the model's fault, and not the server's: the extractor's to deal with.
CONTENT = {
    Fault.TRUNCATED: (TEXT[: len(TEXT) // 2], "stop"),
    Fault.CUT: (TEXT[: len(TEXT) // 2], "length"),
    Fault.PROSE: (f"Sure, here is the JSON:\n{TEXT}\nTell me if you need more.", "stop"),
    Fault.FENCES: (f"```json\n{TEXT}\n```", "stop"),
    Fault.WRONG_SCHEMA: ('{"unexpected": [1, null, {"deep": true}]}', "stop"),
    Fault.EMPTY: ('{"entities": []}', "stop"),
}
REFUSED = {
    Fault.BAD_KEY: r"refuses: 401, incorrect key: Bearer \(the key\)\. Set OPENAI_API_KEY to a key that is valid",
    Fault.NO_MODEL: r"refuses: 404, the model any does not exist\. Check the model's name\.",
    Fault.NO_CREDIT: r"refuses unpaid calls: 429, you exceeded your current quota\. Add credit",
    Fault.REDIRECT: r"redirects to http://localhost:9/v1/chat/completions, and nothing was sent there: .*set its URL\.",
    Fault.HUGE_ERROR: r"refuses: 400, \{\"error\": \{\"message\": \"and so on, ",
    Fault.ERROR_BOMB: r"refuses: 400, \{\"error\": \"",
}
USELESS = {
    Fault.TOO_LONG: (
        r"does not take this prompt: 400, .*maximum context length is 8192\..* make chunks smaller",
        False,
    ),
    Fault.NOT_JSON: (r"sent something that is not JSON: '<html>.*Is the URL that of a model server\?", True),
    Fault.NO_CHOICES: (r"sent no reply at all", True),
    Fault.FILTERED: (r"its content filter objects.*Use another model for this document", True),
    Fault.DECLINED: (r"declines to answer: I cannot help with that", True),
    Fault.BOMB: (r"did not stop: it sent more than .* bytes", True),
    Fault.ENDLESS: (r"did not stop: it sent more than .* bytes.*Does the server honour max_tokens\?", True),
}
PASSING = {
    Fault.RATE_LIMIT: (r"answered 429, too many requests\.", False),
    Fault.RATE_LIMIT_SECONDS: (r"answered 429, too many requests\.", False),
    Fault.RATE_LIMIT_DATE: (r"answered 429, too many requests\.", False),
    Fault.ERROR_IN_200: (r"answered 429, upstream is busy\.", False),
    Fault.BROKEN: (r"answered 500, something broke\.", False),
    Fault.OVERLOADED: (r"answered 503, overloaded\.", False),
    Fault.DROP_FIRST: (r"broke the connection off: ", True),
    Fault.DROP_MIDDLE: (r"broke the connection off: ", True),
    Fault.SLOW: (r"did not answer in full within 0\.5 s\. .*Raise the deadline", True),
}


def script(_: Asked) -> str:
    return TEXT


def deadline_for(fault: Fault) -> float:
    """A busy machine may take half a second to answer, so only the fault that is about the deadline has a short one."""
    return 0.5 if fault is Fault.SLOW else 30.0


@asynccontextmanager
async def chatting(trouble: Trouble, deadline: float = 30.0) -> AsyncIterator[tuple[OpenAIChat, ModelServer]]:
    async with ModelServer(script, trouble=trouble) as server:
        chat = OpenAIChat(endpoint("openai/any", url=server.url, key=SECRET), deadline=deadline)
        try:
            yield chat, server
        finally:
            await chat.close()


@asynccontextmanager
async def embedding(
    trouble: Trouble, deadline: float = 30.0, batch: int = 128, most_tokens: int = 8191, batch_tokens: int = 100_000
) -> AsyncIterator[tuple[OpenAIEmbedder, ModelServer]]:
    async with ModelServer(trouble=trouble) as server:
        embedder = OpenAIEmbedder(
            endpoint("openai/any", url=server.url, key=SECRET),
            64,
            deadline=deadline,
            batch=batch,
            most_tokens=most_tokens,
            batch_tokens=batch_tokens,
        )
        try:
            yield embedder, server
        finally:
            await embedder.close()


def is_fit_to_show(error: ModelError, server: ModelServer) -> bool:
    return f"openai/any at {server.url}" in str(error) and SECRET not in str(error)


def test_every_fault_of_a_chat_is_tried_here() -> None:
    others = {Fault.NO_USAGE, Fault.MISCOUNTED, Fault.OTHER_DIALECT, Fault.PACKED}
    vectors = {Fault.FEWER_VECTORS, Fault.OTHER_DIMENSION, Fault.SHUFFLED}
    streams = {Fault.NOT_STREAMED, Fault.UNFINISHED, Fault.ERROR_MIDDLE}  # see test_streaming.py
    assert {*CONTENT, *REFUSED, *USELESS, *PASSING, *others, *vectors, *streams} == set(Fault)


# --- chat ---------------------------------------------------------------------------------------------


async def test_a_reply_comes_with_the_servers_count_and_the_request_is_what_was_asked() -> None:
    asked: list[Asked] = []

    def recording(one: Asked) -> str:
        asked.append(one)
        return TEXT

    async with ModelServer(recording) as server:
        chat = OpenAIChat(endpoint("openai/any", url=server.url, key=SECRET))
        assert await chat.complete(PROMPT, PURPOSE) == Reply(TEXT, 16, tokens.count(TEXT), "stop")
        await chat.close()
    assert chat.model == "openai/any"
    assert asked == [Asked("any", PROMPT.messages, 100, json.loads(SCHEMA))]
    assert server.calls[0].headers["authorization"] == f"Bearer {SECRET}"


async def test_the_environment_tells_the_server_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.setenv(name, "from-the-environment")
    async with ModelServer(script) as server:
        chat = OpenAIChat(endpoint("vllm/any", url=server.url))
        await chat.complete(PROMPT, PURPOSE)
        await chat.close()
    assert not [value for value in server.calls[0].headers.values() if "environment" in value]


@pytest.mark.parametrize(("fault", "expected"), CONTENT.items(), ids=lambda one: getattr(one, "value", ""))
async def test_text_is_handed_on_as_it_is(fault: Fault, expected: tuple[str, str]) -> None:
    async with chatting(Trouble.always(fault)) as (chat, _):
        reply = await chat.complete(PROMPT, PURPOSE)
    assert (reply.text, reply.finish) == expected


async def test_tokens_are_counted_here_when_the_server_does_not() -> None:
    async with chatting(Trouble(at={0: Fault.NO_USAGE})) as (chat, _):
        assert await chat.complete(PROMPT, PURPOSE) == await chat.complete(PROMPT, PURPOSE)


async def test_a_prompt_that_the_server_cut_without_a_word_is_no_reply() -> None:
    long = Prompt((Message("user", "Ada met Babbage. " * 500),), max_tokens=100)
    async with chatting(Trouble(at={0: Fault.MISCOUNTED})) as (chat, server):
        with pytest.raises(ModelRefused, match=r"saw only 10 of about 3,005 tokens.*context that is long") as raised:
            await chat.complete(long, PURPOSE)
        assert is_fit_to_show(raised.value, server)
        assert (await chat.complete(long, PURPOSE)).tokens_in == 3005


async def test_a_model_of_another_dialect_is_asked_in_its_own_from_then_on() -> None:
    """As OpenAI's reasoning models are: no temperature, and max_completion_tokens."""
    async with chatting(Trouble.always(Fault.OTHER_DIALECT)) as (chat, server):
        assert (await chat.complete(PROMPT, PURPOSE)).text == TEXT
        assert len(server.calls) == 3
        assert (await chat.complete(PROMPT, PURPOSE)).text == TEXT
        assert len(server.calls) == 4


@pytest.mark.parametrize(("fault", "words"), REFUSED.items(), ids=lambda one: getattr(one, "value", ""))
async def test_a_refusal_is_not_tried_again_and_says_what_to_set(fault: Fault, words: str) -> None:
    clock = FastClock()
    async with chatting(Trouble.always(fault)) as (chat, server):
        with pytest.raises(ModelRefused, match=words) as raised:
            await patient_chat(chat, Patience(), clock).complete(PROMPT, PURPOSE)
        assert is_fit_to_show(raised.value, server)
        assert (len(server.calls), clock.waits) == (1, [])


@pytest.mark.parametrize(("fault", "outcome"), USELESS.items(), ids=lambda one: getattr(one, "value", ""))
async def test_an_answer_of_no_use_is_not_asked_for_again(fault: Fault, outcome: tuple[str, bool]) -> None:
    words, charged = outcome
    async with chatting(Trouble.always(fault)) as (chat, server):
        with pytest.raises(UselessReply, match=words) as raised:
            await patient_chat(chat, Patience(), FastClock()).complete(PROMPT, PURPOSE)
        assert is_fit_to_show(raised.value, server)
        assert isinstance(raised.value, BadReply)
        assert (raised.value.charged, len(server.calls)) == (charged, 1)


@pytest.mark.parametrize(("fault", "outcome"), PASSING.items(), ids=lambda one: getattr(one, "value", ""))
async def test_what_passes_is_tried_again_until_it_has_passed(fault: Fault, outcome: tuple[str, bool]) -> None:
    clock = FastClock()
    async with chatting(Trouble(at={0: fault, 1: fault}), deadline=deadline_for(fault)) as (chat, server):
        reply = await patient_chat(chat, Patience(tries=3), clock).complete(PROMPT, PURPOSE)
        assert reply.text == TEXT
        assert (len(server.calls), len(clock.waits)) == (3, 2)


@pytest.mark.parametrize(("fault", "outcome"), PASSING.items(), ids=lambda one: getattr(one, "value", ""))
async def test_what_does_not_pass_is_given_up_in_plain_words(fault: Fault, outcome: tuple[str, bool]) -> None:
    words, charged = outcome
    async with chatting(Trouble.always(fault), deadline=deadline_for(fault)) as (chat, server):
        with pytest.raises(ModelUnavailable, match=rf"{words}.*Tried 2 times in \d s\. Try again later\.") as raised:
            await patient_chat(chat, Patience(tries=2), FastClock()).complete(PROMPT, PURPOSE)
        assert is_fit_to_show(raised.value, server)
        assert (raised.value.charged, len(server.calls)) == (charged, 2)


@pytest.mark.parametrize("fault", [Fault.RATE_LIMIT_SECONDS, Fault.RATE_LIMIT_DATE])
async def test_the_server_is_left_alone_for_as_long_as_it_asks(fault: Fault) -> None:
    clock = FastClock()
    async with chatting(Trouble(at={0: fault}, retry_after=30)) as (chat, _):
        await patient_chat(chat, Patience(longest=60), clock).complete(PROMPT, PURPOSE)
    assert clock.waits == [pytest.approx(30, abs=2)]  # a date has whole seconds


async def test_slow_output_ends_by_the_deadline_and_endless_output_by_that_or_its_size() -> None:
    late = r"did not answer in full within 0\.5 s"
    for fault, said in ((Fault.SLOW, late), (Fault.ENDLESS, rf"{late}|did not stop: it sent more than")):
        async with chatting(Trouble.always(fault), deadline=0.5) as (chat, _):
            with pytest.raises(ModelError, match=said):
                await chat.complete(PROMPT, PURPOSE)


async def test_a_server_that_is_not_there_is_named_and_charges_nothing() -> None:
    async with ModelServer() as server:
        pass
    chat = OpenAIChat(endpoint("openai/any", url=server.url, key=SECRET))
    with pytest.raises(ModelUnavailable, match=r"cannot reach .*Is it running, and the URL right\?") as raised:
        await chat.complete(PROMPT, PURPOSE)
    assert is_fit_to_show(raised.value, server)
    assert not raised.value.charged
    await chat.close()


async def test_a_url_without_v1_is_told_of() -> None:
    async with ModelServer() as server:
        chat = OpenAIChat(endpoint("vllm/any", url=server.url.removesuffix("/v1")))
        with pytest.raises(ModelRefused, match=r"404.*and the URL: most end in /v1"):
            await chat.complete(PROMPT, PURPOSE)
        await chat.close()


async def test_a_server_that_is_killed_leaves_the_calls_under_way_without_an_end(tmp_path: Path) -> None:
    log = tmp_path / "calls.jsonl"
    command = (sys.executable, "-m", "trueweave.testing.model_server", "--log", str(log), "--delay", "0.5")
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    url = (await process.stdout.readline()).decode().strip()
    chat = OpenAIChat(endpoint("vllm/any", url=url))
    assert (await chat.complete(Prompt(PROMPT.messages, 10), PURPOSE)).text == "ok"
    second = asyncio.create_task(chat.complete(Prompt(PROMPT.messages, 20), PURPOSE))
    await asyncio.sleep(0.25)
    process.kill()
    await process.wait()
    with pytest.raises(ModelUnavailable, match="broke the connection off") as raised:
        await second
    assert raised.value.charged
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert [line["event"] for line in lines] == ["start", "end", "start"]
    await chat.close()


# --- embeddings ---------------------------------------------------------------------------------------


async def test_vectors_come_in_order_whatever_the_batches() -> None:
    texts = [f"text {number} {'word ' * (number % 7)}" for number in range(25)]
    expected = await HashEmbedder().embed(texts, "document")
    async with embedding(Trouble.always(Fault.SHUFFLED), batch=10) as (embedder, server):
        assert np.array_equal(await embedder.embed(texts, "document"), expected)
        assert [call.texts for call in server.calls] == [10, 10, 5]
    async with embedding(Trouble(), batch_tokens=30) as (embedder, server):
        assert np.array_equal(await embedder.embed(texts, "document"), expected)
        assert all(call.texts < 10 for call in server.calls)


async def test_no_texts_are_no_call_and_empty_ones_are_embedded() -> None:
    async with embedding(Trouble()) as (embedder, server):
        assert (await embedder.embed([], "document")).shape == (0, 64)
        assert server.calls == []
        assert (await embedder.embed(["", "Ada"], "document")).shape == (2, 64)


async def test_only_the_beginning_of_a_long_text_is_embedded() -> None:
    async with embedding(Trouble(), most_tokens=3) as (embedder, _):
        told: list[Event] = []
        with in_run(told.append):
            long, short = await embedder.embed(["one two three four five", "one two three"], "document")
        assert told == [Noted("openai/any is given the first 3 tokens of longer texts. Set max_chunk_size to less.")]
    assert np.array_equal(long, short)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Fault.FEWER_VECTORS, r"sent 1 vectors for 2 texts\. Is it an embedding model\?"),
        (Fault.OTHER_DIMENSION, r"sent vectors of 65 dimensions; 64 were to be expected"),
        (Fault.NOT_JSON, r"sent something that is not JSON"),
    ],
)
async def test_vectors_of_the_wrong_number_or_form_are_of_no_use(fault: Fault, words: str) -> None:
    async with embedding(Trouble.always(fault)) as (embedder, server):
        with pytest.raises(UselessReply, match=words) as raised:
            await patient_embedder(embedder, Patience(), FastClock()).embed(["a", "b"], "document")
        assert is_fit_to_show(raised.value, server)
        assert len(server.calls) == 1


@pytest.mark.parametrize(("fault", "words"), REFUSED.items(), ids=lambda one: getattr(one, "value", ""))
async def test_an_embedder_is_refused_in_the_same_words(fault: Fault, words: str) -> None:
    async with embedding(Trouble.always(fault)) as (embedder, server):
        with pytest.raises(ModelRefused, match=words) as raised:
            await embedder.embed(["a"], "document")
        assert is_fit_to_show(raised.value, server)


@pytest.mark.parametrize("fault", PASSING, ids=lambda fault: fault.value)
async def test_an_embedder_is_asked_again_too(fault: Fault) -> None:
    async with embedding(Trouble(at={0: fault}, pause=0.5), deadline=0.5) as (embedder, server):
        found = await patient_embedder(embedder, Patience(), FastClock()).embed(["a", "b"], "document")
        assert np.array_equal(found, await HashEmbedder().embed(["a", "b"], "document"))
        assert len(server.calls) == 2


async def test_the_dimension_is_found_by_asking_or_asked_for() -> None:
    async with ModelServer(embedder=HashEmbedder(dimensions=48)) as server:
        at = endpoint("openai/any", url=server.url, key=SECRET)
        own = await OpenAIEmbedder.open(at)
        shorter = await OpenAIEmbedder.open(at, dimensions=12)
        assert (own.dimensions, (await own.embed(["a"], "document")).shape) == (48, (1, 48))
        assert (shorter.dimensions, (await shorter.embed(["a"], "document")).shape) == (12, (1, 12))
        await own.close()
        await shorter.close()


async def test_a_model_that_cannot_be_opened_says_why() -> None:
    async with ModelServer(trouble=Trouble.always(Fault.NO_MODEL)) as server:
        with pytest.raises(ModelRefused, match=r"404, the model any does not exist"):
            await OpenAIEmbedder.open(endpoint("openai/any", url=server.url, key=SECRET))
