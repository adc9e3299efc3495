"""How far a long document is can be told while it is worked."""

import time
from decimal import Decimal

import pytest

from trueweave import Budget, Event, Source
from trueweave.cli.render.run_summary import IngestTally
from trueweave.cli.run_progress import IngestWatch
from trueweave.core.events import in_run
from trueweave.events import Extracted, Waiting, Working
from trueweave.ingest.extract.capitals import CapitalsExtractor
from trueweave.ingest.recipe import Recipe
from trueweave.ingest.stages import work
from trueweave.text.names import key
from trueweave.types import IngestProgress

RECIPE = Recipe(extractor="capitals", min_chunk_size=50, max_chunk_size=100)


async def worked(text: str) -> list[Event]:
    events: list[Event] = []
    with in_run(events.append):
        await work(Source("notes/long.txt", text), key("x"), RECIPE, CapitalsExtractor())
    return events


async def test_a_long_document_tells_how_many_of_its_chunks_are_done() -> None:
    begun, *told = await worked("Ada Lovelace wrote to Charles Babbage again. " * 12_000)
    assert begun == Working("notes/long.txt")
    done = [one.done for one in told if isinstance(one, Working)]
    assert done == sorted(done)
    assert len(done) > 20
    assert {one.total for one in told if isinstance(one, Working)} == {done[-1]}


async def test_a_short_document_tells_nothing() -> None:
    assert await worked("Ada Lovelace wrote to Charles Babbage. " * 20) == []


def test_the_bar_shows_it_until_the_document_is_in() -> None:
    tally, nothing = IngestTally(), Budget(None, None, Decimal(0), 0, Decimal(0), 0)
    watch = IngestWatch(IngestProgress(0, 1, 0, 0, 0), nothing, None)
    tally(Working("notes/long.txt"))
    assert watch.notes(nothing, [*tally.working.values()]) == "long.txt: being cut into chunks"
    tally(Working("notes/long.txt", 1200, 2400))
    assert watch.notes(nothing, [*tally.working.values()]) == "long.txt: 1,200 of 2,400 chunks"
    tally(Extracted("notes/long.txt", 2400))
    assert watch.notes(nothing, [*tally.working.values()]) == ""


def test_a_document_alone_is_counted_in_chunks_and_several_in_documents() -> None:
    nothing = Budget(None, None, Decimal(0), 0, Decimal(0), 0)
    half = Working("notes/long.txt", 1200, 2400)
    alone = IngestWatch(IngestProgress(0, 1, 0, 0, 0), nothing, None)
    assert alone.shown([half]) == (1200, 2400, " chunks")
    assert alone.shown([Working("notes/long.txt")]) == (0, 1, "")
    assert alone.shown([]) == (0, 1, "")
    alone.see(IngestProgress(1, 0, 0, 0, 0))
    assert alone.shown([]) == (1, 1, "")
    several = IngestWatch(IngestProgress(0, 2, 0, 0, 0), nothing, None)
    assert several.shown([half]) == (0, 2, "")


def test_a_countdown_moves_until_the_model_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    tally = IngestTally()
    assert str(tally.countdown) == ""
    tally(Waiting("cannot reach vllm/any.", pause=3.0))
    tally(Waiting("cannot reach vllm/any.", pause=20.0))  # of another call, which is tried later
    shown = []
    for now in (100.2, 101.2, 102.9, 103.1):  # noqa: B007 (the clock reads it)
        shown.append(str(tally.countdown))
    assert shown == [*(f"model unavailable, next try in {n} s" for n in (3, 2, 1)), "model unavailable, trying again"]
    tally(Extracted("a.md", 1, ()))
    assert str(tally.countdown) == ""
