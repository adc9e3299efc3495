"""Replies that are listened to while they are written, over real HTTP: what they cost, and all that can go wrong."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.clocks import FastClock
from tests.paid_calls import patient_chat
from trueweave import Message, Settings, Spent
from trueweave.core.model_calls import Purpose
from trueweave.core.money import Price
from trueweave.engine.workspace_models import WorkspaceModels
from trueweave.errors import BadReply, ModelError, ModelRefused, ModelUnavailable
from trueweave.extend import Database, ModelFactory, Prompt, Reply, StreamingLLM, Workspace
from trueweave.models.failures import UselessReply
from trueweave.models.names import endpoint
from trueweave.models.opening import open_chat
from trueweave.models.paid import PaidChat
from trueweave.models.reply_stream import ReplyStream
from trueweave.models.retry import Patience
from trueweave.models.stored_replies import prompt_key
from trueweave.models.usage import most_prompt_tokens, prompt_tokens
from trueweave.store.postgres.money import ledger
from trueweave.store.postgres.money.replies import PostgresReplies
from trueweave.store.postgres.queue.liveness import Liveness
from trueweave.testing.model_server import Fault, ModelServer, Trouble
from trueweave.text import tokens

SECRET = "sk-do-not-show-me"
TEXT = "Ada met Babbage in London,\nand wrote the first program for his engine."
WORDS = ["Ada ", "met ", "Babbage ", "in ", "London,\n", "and ", "wrote ", "the ", "first ", "program ", "for ", "his "]
WORDS += ["engine."]
PROMPT = Prompt((Message("system", "Answer."), Message("user", "What did Ada do?")), max_tokens=100)
LONG = Prompt((Message("user", "Ada met Babbage. " * 1000),), max_tokens=50)  # about 6,000 tokens
TOKENS_IN = prompt_tokens(PROMPT)
PURPOSE = Purpose("answer")
PRICE = Price(Decimal("0.5"), Decimal(2))
PROVIDERS = ["openai", "ollama"]


class Outcome(NamedTuple):
    """What becomes of a fault, for these providers: which error, in which words, after how many pieces."""

    error: type[ModelError]
    words: str
    charged: bool
    pieces: int = 0
    providers: tuple[str, ...] = ("openai", "ollama")


OUTCOMES = [
    (Fault.RATE_LIMIT, Outcome(ModelUnavailable, r"answered 429, too many requests\.", False)),
    (Fault.RATE_LIMIT_SECONDS, Outcome(ModelUnavailable, r"answered 429, too many requests\.", False)),
    (Fault.RATE_LIMIT_DATE, Outcome(ModelUnavailable, r"answered 429, too many requests\.", False)),
    (Fault.BROKEN, Outcome(ModelUnavailable, r"answered 500, something broke\.", False)),
    (Fault.OVERLOADED, Outcome(ModelUnavailable, r"answered 503, overloaded\.", False)),
    (Fault.ERROR_IN_200, Outcome(ModelUnavailable, r"answered 429, upstream is busy\.", False)),
    (Fault.DROP_FIRST, Outcome(ModelUnavailable, r"broke the connection off: ", True)),
    (Fault.SLOW, Outcome(ModelUnavailable, r"did not answer in full within 0\.5 s\. .*Raise the deadline", True)),
    (Fault.DROP_MIDDLE, Outcome(ModelUnavailable, r"broke the connection off: ", True, 1)),
    (
        Fault.UNFINISHED,
        Outcome(ModelUnavailable, r"broke the connection off: the stream ended before the reply did\.", True, 13),
    ),
    (Fault.ERROR_MIDDLE, Outcome(ModelUnavailable, r"answered 500, the model crashed\.", True, 1, ("openai",))),
    (Fault.ERROR_MIDDLE, Outcome(ModelUnavailable, r"answered 502, the model crashed\.", True, 1, ("ollama",))),
    (
        Fault.BAD_KEY,
        Outcome(ModelRefused, r"401, incorrect key: .*Set OPENAI_API_KEY to a key that", False, 0, ("openai",)),
    ),
    (Fault.BAD_KEY, Outcome(ModelRefused, r"401, incorrect key: .*Give it a key that is valid", False, 0, ("ollama",))),
    (Fault.NO_MODEL, Outcome(ModelRefused, r"404, .*Check the model's name\.", False, 0, ("openai",))),
    (Fault.NO_MODEL, Outcome(ModelRefused, r"404, .*Run `ollama pull any`", False, 0, ("ollama",))),
    (Fault.NO_CREDIT, Outcome(ModelRefused, r"refuses unpaid calls: 429, .*Add credit", False)),
    (Fault.TOO_LONG, Outcome(UselessReply, r"does not take this prompt: 400, .*make chunks smaller", False)),
    (Fault.NOT_JSON, Outcome(UselessReply, r"not JSON: '<html>.*Is the URL that of a model server\?", True)),
    (Fault.ENDLESS, Outcome(UselessReply, r"did not stop: it sent more than .* bytes", True, -1)),
    (
        Fault.NO_CHOICES,
        Outcome(ModelUnavailable, r"broke the connection off: the stream ended before", True, 0, ("openai",)),
    ),
    (Fault.DECLINED, Outcome(UselessReply, r"declines to answer: I cannot help with that\.", True, 0, ("openai",))),
    (Fault.FILTERED, Outcome(UselessReply, r"its content filter objects", True, 13, ("openai",))),
]
TRIED = [(fault, provider, outcome) for fault, outcome in OUTCOMES for provider in outcome.providers]

CONTENT = {
    Fault.NOT_STREAMED: (TEXT, "stop"),
    Fault.NO_USAGE: (TEXT, "stop"),
    Fault.TRUNCATED: (TEXT[: len(TEXT) // 2], "stop"),
    Fault.CUT: (TEXT[: len(TEXT) // 2], "length"),
    Fault.PROSE: (f"Sure, here is the JSON:\n{TEXT}\nTell me if you need more.", "stop"),
    Fault.FENCES: (f"```json\n{TEXT}\n```", "stop"),
    Fault.WRONG_SCHEMA: ('{"unexpected": [1, null, {"deep": true}]}', "stop"),
    Fault.EMPTY: ("ok", "stop"),
}


@asynccontextmanager
async def speaking(
    provider: str, trouble: Trouble | None = None, *, deadline: float = 30.0, log: Path | None = None
) -> AsyncIterator[tuple[StreamingLLM, ModelServer]]:
    async with ModelServer(lambda _: TEXT, trouble=trouble, log=log) as server:
        chat = open_chat(endpoint(f"{provider}/any", url=server.url, key=SECRET), deadline=deadline)
        try:
            yield chat, server
        finally:
            await chat.close()


async def heard(llm: StreamingLLM, pieces: list[str], prompt: Prompt = PROMPT) -> Reply:
    """The whole reply; its pieces are put into the list as they come."""
    async with aclosing(ReplyStream(llm.stream(prompt, PURPOSE))) as listening:
        async for piece in listening:
            pieces.append(piece)
    return listening.reply


@pytest.fixture
async def workshop(database: Database, workspace: Workspace) -> AsyncIterator[WorkspaceModels]:
    prices = {f"{provider}/any": (PRICE.tokens_in, PRICE.tokens_out) for provider in PROVIDERS}
    settings = Settings(prices=prices, model_tries=1)
    async with (
        ModelFactory(database) as factory,
        aclosing(await WorkspaceModels.open(factory, workspace, settings)) as made,
    ):
        yield made


@pytest.fixture
def receipt(database: Database, workspace: Workspace) -> Callable[[], Awaitable[list[Spent]]]:
    async def read() -> list[Spent]:
        async with workspace.transaction() as tx:
            return await ledger.receipt(tx)

    return read


def logged(log: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


def test_every_fault_of_a_chat_is_tried_here() -> None:
    others = {Fault.MISCOUNTED, Fault.OTHER_DIALECT}
    others |= {Fault.REDIRECT, Fault.HUGE_ERROR, Fault.BOMB, Fault.ERROR_BOMB, Fault.PACKED}  # see test_bounds.py
    vectors = {Fault.FEWER_VECTORS, Fault.OTHER_DIMENSION, Fault.SHUFFLED}
    assert {*CONTENT, *(fault for fault, _ in OUTCOMES), *others, *vectors} == set(Fault)


# --- from the server ----------------------------------------------------------------------------------


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_pieces_come_one_by_one_and_add_up_to_the_reply_that_comes_whole(provider: str) -> None:
    async with speaking(provider) as (chat, _):
        pieces: list[str] = []
        reply = await heard(chat, pieces)
        assert pieces == WORDS
        assert reply == Reply(TEXT, TOKENS_IN, tokens.count(TEXT), "stop") == await chat.complete(PROMPT, PURPOSE)


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_piece_is_there_before_the_next_is_written(provider: str) -> None:
    async with speaking(provider, Trouble(at={0: Fault.SLOW}, pause=0.001)) as (chat, _):
        loop = asyncio.get_running_loop()
        async with aclosing(ReplyStream(chat.stream(PROMPT, PURPOSE))) as listening:
            times = [loop.time() async for _ in listening]
    assert len(times) == len(WORDS)
    assert times[-1] - times[0] > 0.5  # a thousand bytes, a millisecond each


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(("fault", "expected"), CONTENT.items(), ids=lambda one: getattr(one, "value", ""))
async def test_text_is_handed_on_as_it_is_and_counted_if_the_server_does_not(
    provider: str, fault: Fault, expected: tuple[str, str]
) -> None:
    async with speaking(provider, Trouble.always(fault)) as (chat, _):
        pieces: list[str] = []
        reply = await heard(chat, pieces)
    text, finish = expected
    assert ("".join(pieces), reply.text, reply.finish) == (text, text, finish)
    assert (reply.tokens_in, reply.tokens_out) == (TOKENS_IN, tokens.count(text))


async def test_a_prompt_that_the_server_cut_without_a_word_is_no_reply() -> None:
    async with speaking("openai", Trouble.always(Fault.MISCOUNTED)) as (chat, _):
        with pytest.raises(ModelRefused, match=r"saw only 10 of about 6,005 tokens") as raised:
            await heard(chat, [], LONG)
        assert raised.value.charged
    async with speaking("ollama", Trouble.always(Fault.MISCOUNTED)) as (chat, _):
        assert (await heard(chat, [], LONG)).text == TEXT  # it has a context that is long enough


async def test_a_model_of_another_dialect_is_asked_in_its_own_from_then_on() -> None:
    async with speaking("openai", Trouble.always(Fault.OTHER_DIALECT)) as (chat, server):
        for calls in (3, 4):
            pieces: list[str] = []
            assert (await heard(chat, pieces)).text == TEXT
            assert (pieces, len(server.calls)) == (WORDS, calls)


@pytest.mark.parametrize(("fault", "provider", "outcome"), TRIED, ids=lambda one: getattr(one, "value", None))
async def test_what_goes_wrong_is_told_in_plain_words_and_not_tried_again_once_a_piece_was_heard(
    fault: Fault, provider: str, outcome: Outcome
) -> None:
    clock = FastClock()
    deadline = 0.5 if fault is Fault.SLOW else 30.0
    async with speaking(provider, Trouble.always(fault), deadline=deadline) as (chat, server):
        pieces: list[str] = []
        with pytest.raises(outcome.error, match=outcome.words) as raised:
            await heard(patient_chat(chat, Patience(tries=3), clock), pieces)
        assert f"{provider}/any at {server.url}" in str(raised.value)
        assert SECRET not in str(raised.value)
        assert raised.value.charged is outcome.charged
        is_passing = outcome.error is ModelUnavailable and not outcome.pieces
        assert len(server.calls) == (3 if is_passing else 1)
        assert pieces == WORDS[: outcome.pieces] or outcome.pieces == -1
        is_partial = outcome.error is ModelUnavailable and outcome.pieces > 0
        assert ("A part of the reply had come by then. Ask again." in str(raised.value)) is is_partial


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("fault", [Fault.OVERLOADED, Fault.DROP_FIRST, Fault.SLOW, Fault.ERROR_IN_200])
async def test_what_passes_before_the_first_piece_is_tried_again(provider: str, fault: Fault) -> None:
    clock = FastClock()
    async with speaking(provider, Trouble(at={0: fault, 1: fault}), deadline=0.5) as (chat, server):
        pieces: list[str] = []
        reply = await heard(patient_chat(chat, Patience(tries=3), clock), pieces)
        assert (reply.text, pieces) == (TEXT, WORDS)
        assert (len(server.calls), len(clock.waits)) == (3, 2)


async def test_a_listener_may_take_longer_than_the_deadline() -> None:
    async with speaking("openai", deadline=0.3) as (chat, _):
        pieces = []
        async with aclosing(ReplyStream(chat.stream(PROMPT, PURPOSE))) as listening:
            async for piece in listening:
                pieces.append(piece)
                await asyncio.sleep(0.05)
    assert pieces == WORDS


async def test_a_stream_that_does_not_end_with_the_reply_is_an_error_whatever_it_is_made_of() -> None:
    class Words:
        """Pieces that are no generator, so that there is nothing to close."""

        def __init__(self, *said: str | Reply) -> None:
            self._said = list(said)

        def __aiter__(self) -> AsyncIterator[str | Reply]:
            return self

        async def __anext__(self) -> str | Reply:
            if not self._said:
                raise StopAsyncIteration
            return self._said.pop(0)

    async with aclosing(ReplyStream(Words("a", "b", Reply("ab", 1, 2)))) as listening:
        assert [piece async for piece in listening] == ["a", "b"]
    assert listening.reply == Reply("ab", 1, 2)
    async with aclosing(ReplyStream(Words("a"))) as listening:
        with pytest.raises(BadReply, match="ended without the whole reply"):
            assert [piece async for piece in listening]


# --- with everything round it -------------------------------------------------------------------------


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_reply_is_paid_for_once_and_then_kept(
    provider: str, workshop: WorkspaceModels, receipt: Callable[[], Awaitable[list[Spent]]]
) -> None:
    async with speaking(provider) as (chat, server):
        llm = workshop.paid_chat(chat)
        pieces: list[str] = []
        reply = await heard(llm, pieces)
        price = PRICE.of(TOKENS_IN, tokens.count(TEXT))
        assert (pieces, reply) == (WORDS, Reply(TEXT, TOKENS_IN, tokens.count(TEXT), "stop", price))
        before = await receipt()

        again: list[str] = []
        kept = Reply(TEXT, TOKENS_IN, tokens.count(TEXT), "stop", Decimal(0), kept=True)
        assert await heard(llm, again) == kept == await llm.complete(PROMPT, PURPOSE)
        assert again == [TEXT]
        assert len(server.calls) == 1
    [spent] = before
    assert (spent.stage, spent.calls, spent.lost, spent.price) == ("answer", 1, 0, price)
    assert (spent.tokens_in, spent.tokens_out) == (TOKENS_IN, tokens.count(TEXT))
    assert await receipt() == before


async def test_a_reply_that_came_whole_is_streamed_from_what_is_kept(workshop: WorkspaceModels) -> None:
    async with speaking("openai") as (chat, server):
        llm = workshop.paid_chat(chat)
        whole = await llm.complete(PROMPT, PURPOSE)
        assert (whole.kept, whole.price) == (False, PRICE.of(TOKENS_IN, tokens.count(TEXT)))
        assert (await heard(llm, [])).kept
        assert len(server.calls) == 1


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_listener_who_leaves_hangs_up_pays_what_it_may_have_cost_and_leaves_the_question_to_others(
    provider: str, workshop: WorkspaceModels, receipt: Callable[[], Awaitable[list[Spent]]], tmp_path: Path
) -> None:
    log = tmp_path / "calls.jsonl"
    async with speaking(provider, Trouble(at={0: Fault.ENDLESS}), log=log) as (chat, _):
        llm = workshop.paid_chat(chat)
        async with aclosing(llm.stream(PROMPT, PURPOSE)) as stream:
            assert [await anext(stream), await anext(stream)] == WORDS[:2]

        [spent] = await receipt()
        assert (spent.calls, spent.lost) == (1, 1)
        assert (spent.tokens_in, spent.tokens_out) == (most_prompt_tokens(PROMPT), PROMPT.max_tokens)
        async with asyncio.timeout(5):
            while len(logged(log)) < 2:  # noqa: ASYNC110 (it is the server that hears of it)
                await asyncio.sleep(0.02)
        assert (logged(log)[1]["event"], logged(log)[1]["sent"]) == ("end", False)
        async with asyncio.timeout(5):
            assert (await heard(llm, [])).kept is False


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(("fault", "lost"), [(Fault.OVERLOADED, 0), (Fault.DROP_MIDDLE, 1)])
async def test_a_stream_that_fails_is_paid_for_if_it_may_have_cost_something_and_asked_anew(
    provider: str, fault: Fault, lost: int, workshop: WorkspaceModels, receipt: Callable[[], Awaitable[list[Spent]]]
) -> None:
    async with speaking(provider, Trouble(at={0: fault})) as (chat, _):
        llm: PaidChat = workshop.paid_chat(chat)
        with pytest.raises(ModelUnavailable):
            await heard(llm, [])
        assert sum(spent.lost for spent in await receipt()) == lost
        async with asyncio.timeout(5):
            assert (await heard(llm, [])).text == TEXT


async def test_who_has_heard_a_reply_gets_that_one_and_all_others_the_one_that_was_kept_first(
    workshop: WorkspaceModels, database: Database, workspace: Workspace, processes: list[Liveness]
) -> None:
    async with speaking("openai") as (chat, _):
        llm = workshop.paid_chat(chat)
        elsewhere = PostgresReplies(workspace, processes[0], llm.model)
        first = json.dumps(["Something else.", 1, 2, "stop"]).encode()

        async with aclosing(ReplyStream(llm.stream(PROMPT, PURPOSE))) as listening:
            pieces = [await anext(listening)]
            await elsewhere.keep(prompt_key(llm.model, PROMPT), first, Purpose("answer"))
            pieces += [piece async for piece in listening]
        assert "".join(pieces) == listening.reply.text == TEXT
        assert (await llm.complete(PROMPT, PURPOSE)).text == "Something else."


async def test_a_listener_who_is_cancelled_leaves_nothing_behind(
    workshop: WorkspaceModels, receipt: Callable[[], Awaitable[list[Spent]]]
) -> None:
    async with speaking("openai", Trouble(at={0: Fault.SLOW})) as (chat, server):
        llm = workshop.paid_chat(chat)
        listening = asyncio.create_task(heard(llm, []))
        async with asyncio.timeout(20):
            while not server.calls:  # noqa: ASYNC110 (the server says nothing)
                await asyncio.sleep(0.01)
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)
        assert [spent.lost for spent in await receipt()] == [1]
        async with asyncio.timeout(5):
            assert (await heard(llm, [])).text == TEXT
