"""All that can go wrong with a model while documents are added: what comes of it, and what the user is told."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg
import pytest

from trueweave import AsyncTrueweave, Event, Settings, Source
from trueweave.errors import ModelError, ModelRefused, ModelUnavailable
from trueweave.events import Added, Extracted, Failed
from trueweave.extend import Database, Workspace
from trueweave.ingest import jobs
from trueweave.store.postgres.record import sources
from trueweave.store.postgres.record.sources import Job
from trueweave.testing import HashEmbedder
from trueweave.testing.model_server import Asked, Fault, ModelServer, Script, Trouble, smallest
from trueweave.text import tokens

SECRET = "sk-do-not-show-me"
TRIES = 2  # of a document, and of a call to a model that does not answer
ADA = Source("notes/ada", "Ada Lovelace worked with Charles Babbage in London.")
BOB = Source("notes/bob", "Bob knows nobody.")


def entity(name: str, type_: str) -> dict[str, Any]:
    return {"name": name, "type": type_, "description": f"{name} is in the passage.", "emphasis": 5}


FOUND = json.dumps(
    {
        "entities": [entity("Ada Lovelace", "person"), entity("Charles Babbage", "person"), entity("London", "place")],
        "relations": [
            {
                "source": "Ada Lovelace",
                "target": "Charles Babbage",
                "description": "They worked together.",
                "keywords": ["work"],
                "strength": 8,
                "emphasis": 8,
            }
        ],
    }
)
ALL = {"Ada Lovelace", "Charles Babbage", "London"}

# How often it goes wrong.
ONCE, ALWAYS = "once", "always"

# What comes of the document.
IN = "in"  # as if nothing had been amiss
NOTED = "in, with a note"
ASIDE = "failed"  # with its error, after TRIES failures
UNAVAILABLE = ModelUnavailable  # the run stops; later it may be run again
REFUSED = ModelRefused  # the run stops; somebody has to set something

# fault, how often, what comes of it, what the user is told, how many calls, and how many of them may be paid in vain
TABLE: list[tuple[Fault, str, str | type[ModelError], str, int, int]] = [
    # The text is not what it should be.
    (Fault.TRUNCATED, ALWAYS, NOTED, r"the reply was not plain JSON and was repaired", 1, 0),
    (Fault.CUT, ALWAYS, NOTED, r"the reply was cut off; what was complete in it is kept", 1, 0),
    (Fault.PROSE, ALWAYS, NOTED, r"the reply was not plain JSON and was repaired", 1, 0),
    (Fault.FENCES, ALWAYS, NOTED, r"the reply was not plain JSON and was repaired", 1, 0),
    (Fault.EMPTY, ALWAYS, NOTED, r"the model found no entity and no relation in this chunk", 1, 0),
    (Fault.WRONG_SCHEMA, ONCE, NOTED, r"first reply was unusable \(it has neither .*called once more", 2, 0),
    (Fault.WRONG_SCHEMA, ALWAYS, ASIDE, r"unusable, twice: it has neither .*Try another model, and add it", 2, 0),
    # The reply is not what it should be.
    (Fault.NO_USAGE, ALWAYS, IN, "", 1, 0),
    (Fault.PACKED, ALWAYS, IN, "", 1, 0),
    (Fault.BOMB, ONCE, IN, "", 2, 1),
    (Fault.BOMB, ALWAYS, ASIDE, r"did not stop: it sent more than", TRIES, TRIES),
    (Fault.ERROR_BOMB, ALWAYS, REFUSED, r"refuses: 400, ", 1, 0),
    (Fault.HUGE_ERROR, ALWAYS, REFUSED, r"refuses: 400, ", 1, 0),
    (Fault.REDIRECT, ALWAYS, REFUSED, r"redirects to http://localhost:9/.*set its URL", 1, 0),
    (Fault.MISCOUNTED, ALWAYS, REFUSED, r"saw only 10 of about .* Give the server a context that is long", 1, 1),
    (Fault.ENDLESS, ALWAYS, ASIDE, r"did not stop: it sent more than .*Does the server honour max_tokens\?", 2, 2),
    (Fault.ENDLESS, ONCE, IN, "", 2, 1),
    (Fault.NOT_JSON, ALWAYS, ASIDE, r"is not JSON: '<html>.*Is the URL that of a model server\?", 2, 2),
    (Fault.NO_CHOICES, ALWAYS, ASIDE, r"sent no reply at all", 2, 2),
    (Fault.FILTERED, ALWAYS, ASIDE, r"its content filter objects.*Use another model", 2, 2),
    (Fault.DECLINED, ALWAYS, ASIDE, r"declines to answer: I cannot help with that", 2, 2),
    # The connection breaks, or drags on.
    (Fault.DROP_FIRST, ONCE, IN, "", 2, 1),
    (Fault.DROP_FIRST, ALWAYS, UNAVAILABLE, r"broke the connection off: .*Tried 2 times.*Try again later", 2, 2),
    (Fault.DROP_MIDDLE, ONCE, IN, "", 2, 1),
    (Fault.DROP_MIDDLE, ALWAYS, UNAVAILABLE, r"broke the connection off: .*Tried 2 times.*Try again later", 2, 2),
    (Fault.SLOW, ONCE, IN, "", 2, 1),
    (Fault.SLOW, ALWAYS, UNAVAILABLE, r"not answer in full within 1 s\. .*Raise the deadline.*Tried 2 times", 2, 2),
    # The server says no, for now.
    (Fault.RATE_LIMIT, ONCE, IN, "", 2, 0),
    (Fault.RATE_LIMIT, ALWAYS, UNAVAILABLE, r"answered 429, too many requests\. Tried 2 times", 2, 0),
    (Fault.RATE_LIMIT_SECONDS, ONCE, IN, "", 2, 0),
    (Fault.RATE_LIMIT_SECONDS, ALWAYS, UNAVAILABLE, r"answered 429, too many requests\. Tried 2 times", 2, 0),
    (Fault.RATE_LIMIT_DATE, ONCE, IN, "", 2, 0),
    (Fault.ERROR_IN_200, ONCE, IN, "", 2, 0),
    (Fault.BROKEN, ONCE, IN, "", 2, 0),
    (Fault.BROKEN, ALWAYS, UNAVAILABLE, r"answered 500, something broke\. Tried 2 times", 2, 0),
    (Fault.OVERLOADED, ONCE, IN, "", 2, 0),
    # The server says no.
    (Fault.BAD_KEY, ALWAYS, REFUSED, r"401, incorrect key: Bearer \(the key\)\. Set OPENAI_API_KEY to a key", 1, 0),
    (Fault.NO_MODEL, ALWAYS, REFUSED, r"404, the model any does not exist\. Check the model's name", 1, 0),
    (Fault.NO_CREDIT, ALWAYS, REFUSED, r"refuses unpaid calls: 429, .*Add credit", 1, 0),
    (Fault.TOO_LONG, ALWAYS, ASIDE, r"does not take this prompt: 400, .*length is 8192\..*make chunks smaller", 2, 0),
    (Fault.OTHER_DIALECT, ALWAYS, IN, "", 3, 0),
]


@dataclass
class Desk:
    """A workspace whose settings name the model server, and what a user of it gets to hear."""

    trueweave: AsyncTrueweave
    server: ModelServer
    database_url: str
    heard: list[Event] = field(default_factory=list)

    async def add(self, *what: Source) -> Added:
        return await asyncio.wait_for(self.trueweave.add(*what, listener=self.heard.append), 60)

    def notes(self, uri: str) -> list[str]:
        """What the record keeps of how a document came in, in the very words that were told."""
        with psycopg.connect(self.database_url) as connection:
            [(kept,)] = connection.execute("SELECT notes FROM trueweave.document WHERE uri = %s", (uri,)).fetchall()
        [told] = [event.notes for event in self.heard if isinstance(event, Extracted) and event.uri == uri]
        assert list(told) == kept
        return list(told)

    async def errors(self, uri: str) -> list[str]:
        """What was told each time that a document failed, the last of which is kept with it.

        A model that was shown what is wrong with its reply is not asked once more: "twice" is in the words then.
        """
        told = [event for event in self.heard if isinstance(event, Failed) and event.uri == uri]
        tries = 1 if "unusable, twice" in told[-1].error else TRIES
        assert [event.final for event in told] == [False] * (tries - 1) + [True]
        [kept] = [one for one in await self.trueweave.maintenance.failed_documents() if one.uri == uri]
        assert (kept.error, kept.failures) == (told[-1].error, tries)
        return [event.error for event in told]

    async def names(self) -> set[str]:
        return {entity.name for entity in await self.trueweave.graph.entities()}

    async def spent(self) -> tuple[int, int]:
        """Calls in all that were paid or may have been, and those of them that brought nothing."""
        receipt = await self.trueweave.budget.receipt()
        assert (await self.trueweave.budget.get()).held_tokens == 0
        return sum(one.calls for one in receipt), sum(one.lost for one in receipt)


Desks = Callable[..., AbstractAsyncContextManager[Desk]]


@pytest.fixture
def desk(database: Database, monkeypatch: pytest.MonkeyPatch) -> Desks:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)

    @asynccontextmanager
    async def open_desk(script: Script, trouble: Trouble, deadline: float = 30.0) -> AsyncIterator[Desk]:
        async with ModelServer(script, trouble=trouble) as server:
            settings = Settings(
                model="openai/any",
                model_url=server.url,
                max_reply_tokens=256,
                deadline=deadline,
                model_tries=TRIES,
                tries=TRIES,
                try_again_after=0.05,
            )
            trueweave = await AsyncTrueweave.enter(database, "faults", HashEmbedder(), settings=settings)
            async with aclosing(trueweave):
                yield Desk(trueweave, server, database.url)

    return open_desk


def found(_: Asked) -> str:
    return FOUND


def trouble(fault: Fault, often: str, retry_after: float = 0.2) -> Trouble:
    return Trouble(
        at={0: fault} if often == ONCE else {}, share={fault: 1.0} if often == ALWAYS else {}, retry_after=retry_after
    )


def test_every_fault_of_a_chat_is_tried_here() -> None:
    vectors = {Fault.FEWER_VECTORS, Fault.OTHER_DIMENSION, Fault.SHUFFLED}
    streams = {Fault.NOT_STREAMED, Fault.UNFINISHED, Fault.ERROR_MIDDLE}
    assert {fault for fault, *_ in TABLE} | vectors | streams == set(Fault)


@pytest.mark.parametrize(
    ("fault", "often", "outcome", "words", "calls", "lost"),
    TABLE,
    ids=[f"{fault.value} {often}" for fault, often, *_ in TABLE],
)
async def test_what_comes_of_a_fault_and_what_the_user_is_told(
    desk: Desks, fault: Fault, often: str, outcome: str | type[ModelError], words: str, calls: int, lost: int
) -> None:
    async with desk(found, trouble(fault, often), deadline=1.0 if fault is Fault.SLOW else 30.0) as at:
        told: list[str]
        if isinstance(outcome, str):
            added = await at.add(ADA)
            expected = {IN: (1, 0, 0), NOTED: (1, 1, 0), ASIDE: (0, 0, 1)}[outcome]
            assert (added.extracted, added.noted, added.failed) == expected
            told = await at.errors(ADA.uri) if outcome == ASIDE else at.notes(ADA.uri)
        else:
            with pytest.raises(ModelError) as stopped:
                await at.add(ADA)
            assert isinstance(stopped.value, outcome)
            assert await at.trueweave.maintenance.failed_documents() == [], "it is no fault of the document's"
            told = [str(stopped.value)]
        is_in = outcome in (IN, NOTED)
        assert (await at.trueweave.status()).documents == is_in
        assert all(re.search(words, one) for one in told), told
        assert bool(told) == bool(words)
        assert SECRET not in " ".join(told)
        assert (len(at.server.calls), (await at.spent())[1]) == (calls, lost)
        if outcome == IN:
            assert await at.names() == ALL


# --- and then -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "outcome"), [(Fault.BAD_KEY, REFUSED), (Fault.BROKEN, UNAVAILABLE)], ids=["bad-key", "broken"]
)
async def test_a_run_that_was_stopped_again_and_again_goes_on_once_the_cause_is_mended(
    desk: Desks, fault: Fault, outcome: type[ModelError], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "_STARTS", 1)  # so many deaths of workers are forgiven; this is no death
    async with desk(found, trouble(fault, ALWAYS)) as at:
        for _ in range(3):
            with pytest.raises(outcome):
                await at.add(ADA)
        at.server.trouble = Trouble()
        added = await at.add(ADA, BOB)
        assert (added.extracted, added.failed) == (2, 0), "once each, however often it was handed in"
        assert (await at.names(), at.notes(ADA.uri)) == (ALL, [])


@pytest.mark.parametrize("fault", [Fault.TOO_LONG, Fault.ENDLESS, Fault.DECLINED], ids=lambda fault: fault.value)
async def test_a_document_that_was_set_aside_comes_in_when_it_is_added_again_and_the_model_can(
    desk: Desks, fault: Fault
) -> None:
    async with desk(found, trouble(fault, ALWAYS)) as at:
        await at.add(ADA)
        at.server.trouble = Trouble()
        assert (await at.add()).extracted == 0, "nobody asked for it"
        await at.add(ADA)
        assert (await at.trueweave.maintenance.failed_documents(), await at.names(), at.notes(ADA.uri)) == ([], ALL, [])


async def test_a_hopeless_document_is_set_aside_and_the_others_come_in(desk: Desks) -> None:
    def hopeless_about_bob(asked: Asked) -> str:
        return "Bob? No idea." if "Bob" in asked.messages[1].content else FOUND

    others = [Source(f"notes/{n}", f"{ADA.text} That was in {1840 + n}.") for n in range(5)]
    async with desk(hopeless_about_bob, Trouble()) as at:
        added = await at.add(*others[:2], BOB, *others[2:])
        assert (added.new, added.extracted, added.noted, added.failed) == (6, 5, 0, 1)
        for error in await at.errors(BOB.uri):
            assert error == (
                "notes/bob: the reply of openai/any for the chunk at character 0 is unusable, twice: it holds no "
                "JSON object. It begins 'Bob? No idea.'. Try another model, and add it again."
            )
        assert (await at.trueweave.status()).documents == 5
        assert (await at.trueweave.maintenance.verify()).exact
        by_stage = {one.stage: (one.calls, one.lost) for one in await at.trueweave.budget.receipt()}
        assert by_stage == {"extract": (6, 0), "repair": (1, 0)}, "what the model replied is paid for once"


async def test_of_a_document_with_one_hopeless_chunk_the_others_are_paid_for_once(desk: Desks) -> None:
    def hopeless_at_the_end(asked: Asked) -> str:
        return smallest(asked) if "The end" not in asked.messages[1].content else "No."

    text = "\n\n".join(f"{ADA.text} {'More of that follows here. ' * 120}Part {n}." for n in range(3)) + "\n\nThe end."
    async with desk(hopeless_at_the_end, Trouble()) as at:
        await at.add(Source("book", text))
        assert all("unusable, twice" in error for error in await at.errors("book"))
        assert len({call.key for call in at.server.calls}) == len(at.server.calls) > 3


async def test_a_reply_that_is_cut_off_before_anything_is_complete_is_an_error_that_says_what_to_raise(
    desk: Desks,
) -> None:
    def long_winded(_: Asked) -> str:
        return '{"entities": [{"name": "Ada ' + "Lovelace " * 100

    async with desk(long_winded, Trouble.always(Fault.CUT)) as at:
        await at.add(ADA)
        [*_, error] = await at.errors(ADA.uri)
    assert "it was cut off before anything in it was complete" in error
    assert "Raise max_reply_tokens from 256, or make chunks smaller" in error
    assert "max_reply_tokens" in Settings.model_fields


async def test_a_server_that_asks_for_more_patience_than_there_is_stops_the_run_at_once(desk: Desks) -> None:
    async with desk(found, trouble(Fault.RATE_LIMIT_SECONDS, ALWAYS, retry_after=300)) as at:
        with pytest.raises(ModelUnavailable, match=r"Tried once\. It asks callers to wait for 300 s\. Try again later"):
            await at.add(ADA)
        assert len(at.server.calls) == 1


async def test_a_server_that_is_not_there_stops_the_run_and_is_named(desk: Desks) -> None:
    async with desk(found, Trouble()) as at:
        await at.server.__aexit__()
        with pytest.raises(ModelUnavailable, match=rf"cannot reach openai/any at {at.server.url}: .*Is it running"):
            await at.add(ADA)
        assert await at.spent() == (0, 0)


async def test_tokens_are_counted_here_where_the_server_counts_none(desk: Desks) -> None:
    sent: list[int] = []

    def counting(asked: Asked) -> str:
        sent.append(sum(tokens.count(message.content) + 4 for message in asked.messages))
        return FOUND

    async with desk(counting, Trouble.always(Fault.NO_USAGE)) as at:
        await at.add(ADA)
        [spent] = await at.trueweave.budget.receipt()
        assert (spent.calls, spent.lost) == (1, 0)
        assert (spent.tokens_in, spent.tokens_out) == (sent[0], tokens.count(FOUND))


async def test_a_database_that_is_away_when_a_document_fails_does_not_hold_the_run_up(
    desk: Desks, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail, away = sources.fail, [psycopg.OperationalError("the server closed the connection")]

    async def flaky(workspace: Workspace, job: Job, error: str, tries: int) -> bool | None:
        if away:
            raise away.pop()
        return await fail(workspace, job, error, tries)

    monkeypatch.setattr(sources, "fail", flaky)
    async with desk(found, trouble(Fault.DECLINED, ALWAYS)) as at:
        assert (await at.add(ADA)).failed == 1
        assert len(await at.errors(ADA.uri)) == TRIES
