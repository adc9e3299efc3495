"""Questions and runs that a workspace stores: they refer to passages and never hold their texts."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from trueweave import AsyncTrueweave, Chunk, Document, Settings, Source
from trueweave.bench import own
from trueweave.bench.own import WITHOUT_MODEL, own_questions, run_own
from trueweave.core.bench import BenchFinding, BenchMethod, BenchOutcome, BenchPassage, BenchRun, FoundPassage, Interval
from trueweave.errors import InvalidArgument, UnknownDocument, UnknownQuestion, UnknownRun
from trueweave.extend import Database
from trueweave.store.postgres.locks import share_view
from trueweave.store.postgres.record import bench_passages
from trueweave.testing import HashEmbedder, ModelServer
from trueweave.testing.tables import holding

ACME = "Acme was founded by Ada Lund in Oslo."
HATS = "Bob Hill sells hats in Rome."
MARKER = "Zyxomarque"


def document(uri: str, *texts: str) -> Document:
    """A document with a chunk for each text."""
    starts = [sum(len(one) for one in texts[:at]) for at in range(len(texts))]
    chunks = (Chunk(text, start) for text, start in zip(texts, starts, strict=True))
    return Document(uri, tuple(chunks), uri.title())


@pytest.fixture
async def filled(trueweave: AsyncTrueweave) -> AsyncTrueweave:
    await trueweave.add_documents([document("acme", ACME, HATS), document("rome", f"Rome and {MARKER}.")])
    return trueweave


async def passage(trueweave: AsyncTrueweave, uri: str, n: int = 0) -> BenchPassage:
    return BenchPassage(uri, (await trueweave.document(uri)).passages[n].id)


def run_of(scores: dict[str, list[float]], right: BenchPassage, questions: list[str]) -> tuple[BenchRun, Any]:
    """A run of methods with these scores, in which a passage is found where the score is 1."""
    methods = tuple(BenchMethod(name, {}, {"recall@5": Interval(0.5, 0.2, 0.8)}, 0.1, 0.2) for name in scores)
    facts = ("mine", True, len(questions), 2, "1", ("recall@5",), "recall@5", {"embedding model": "none"})
    run = BenchRun(uuid4(), datetime.now(UTC), "", *facts, methods, {}, (), "A verdict.")
    outcomes = [
        BenchOutcome(
            n,
            question,
            "",
            (right,),
            tuple(
                BenchFinding(name, {"recall@5": each[n]}, 0.1, (FoundPassage(right, True),) if each[n] else ())
                for name, each in scores.items()
            ),
        )
        for n, question in enumerate(questions)
    ]
    return run, outcomes


async def test_two_methods_are_compared_question_by_question(filled: AsyncTrueweave) -> None:
    right = await passage(filled, "acme")
    asked = [f"Question {n}?" for n in range(40)]
    a, b = [1.0] * 30 + [0.0] * 10, [0.0] * 20 + [1.0] * 15 + [0.0] * 5
    run = await filled.bench.save(*run_of({"weave": a, "naive": b}, right, asked))
    found = await filled.bench.compare(run.id, "weave", run.id, "naive", found_by="b", limit=3)
    assert found.counts == {"a": 20, "b": 5, "both": 10, "neither": 5}
    assert [(one.n_a, one.a, one.b, one.found_by) for one in found.questions] == [
        (n, 0.0, 1.0, "b") for n in (30, 31, 32)
    ]
    assert found.difference.mean == pytest.approx(15 / 40)
    assert found.difference.low > 0
    assert found.verdict.startswith(
        "A scores 37.5 points more than B by recall@5 on 40 questions; chance is unlikely to"
    )
    after = await filled.bench.compare(run.id, "weave", run.id, "naive", found_by="b", after=32)
    assert [one.n_a for one in after.questions] == [33, 34]
    turned = await filled.bench.compare(run.id, "naive", run.id, "weave")
    assert turned.difference.mean == -found.difference.mean
    assert turned.verdict.startswith("B scores 37.5 points more than A")
    with pytest.raises(UnknownRun, match=r"no method 'mix'. It has weave, naive"):
        await filled.bench.compare(run.id, "mix", run.id, "naive")
    with pytest.raises(UnknownRun, match="no measure"):
        await filled.bench.compare(run.id, "weave", run.id, "naive", measure="recall@7")


async def test_runs_are_compared_on_the_questions_that_both_have(filled: AsyncTrueweave) -> None:
    right, other = await passage(filled, "acme"), await passage(filled, "rome")
    first = await filled.bench.save(*run_of({"weave": [1.0, 0.0]}, right, ["Same?", "Only in the first?"]))
    second = await filled.bench.save(*run_of({"weave": [1.0, 1.0]}, right, ["New?", "Same?"]))
    elsewhere = await filled.bench.save(*run_of({"weave": [1.0]}, other, ["Same?"]))
    found = await filled.bench.compare(first.id, "weave", second.id, "weave")
    assert [(one.n_a, one.n_b, one.question) for one in found.questions] == [(0, 1, "Same?")]
    assert found.unpaired == 2
    assert "A and B score the same by recall@5 on 1 question. With so few questions" in found.verdict
    nothing = await filled.bench.compare(first.id, "weave", elsewhere.id, "weave")
    assert nothing.verdict == "The two runs have no question in common, so they cannot be compared."
    assert [one.id for one in await filled.bench.runs(2)] == [elsewhere.id, second.id]
    await filled.bench.remove_run(second.id)
    with pytest.raises(UnknownRun, match="Somebody may have removed it"):
        await filled.bench.outcome(second.id, 0)


async def test_a_removed_document_leaves_neither_text_nor_uri_in_questions_and_runs(
    filled: AsyncTrueweave, url: str
) -> None:
    right = await passage(filled, "rome")
    question = await filled.bench.add_question("Where?", [right, BenchPassage("acme")])
    run = await filled.bench.save(*run_of({"weave": [1.0]}, right, ["Where?"]))
    assert set(holding(url, MARKER)) & {"trueweave.bench_passage", "trueweave.bench_outcome"} == set()
    assert "trueweave.bench_passage" in holding(url, "rome")
    await filled.remove(["rome"])
    [gone, there] = (await filled.bench.questions())[0].passages
    assert (gone.uri, gone.text, gone.title, gone.state) == ("", "", "", "removed")
    assert (there.uri, there.state) == ("acme", "there")
    outcome = await filled.bench.outcome(run.id, 0)
    assert (outcome.passages[0].state, outcome.found[0].passages[0].passage.state) == ("removed", "removed")
    await filled.maintenance.sweep()
    assert [table for table in holding(url, "rome") if "bench" in table] == []
    assert (await filled.bench.outcome(run.id, 0)).passages[0].state == "removed"
    assert (await filled.bench.compare(run.id, "weave", run.id, "weave")).counts["both"] == 1
    with pytest.raises(InvalidArgument, match="passages of all of them have changed or were removed"):
        await own_questions(filled)
    await filled.bench.change_question(question.id, "Where?", [there])
    assert len((await own_questions(filled)).questions) == 1


def is_waiting(url: str) -> bool:
    """Whether a transaction waits for an advisory lock."""
    with psycopg.connect(url) as connection:
        query = "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted)"
        [(found,)] = connection.execute(query).fetchall()
    return bool(found)


async def test_a_document_that_is_removed_while_a_run_is_stored_is_erased_from_it(
    filled: AsyncTrueweave, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The removal is settled only when the run is stored, and erases its uri there."""
    right = await passage(filled, "rome")
    begun, go_on = asyncio.Event(), asyncio.Event()
    shared = share_view

    async def paused(tx: Any) -> None:
        await shared(tx)
        begun.set()
        await go_on.wait()

    monkeypatch.setattr(bench_passages, "share_view", paused)
    saving = asyncio.create_task(filled.bench.save(*run_of({"weave": [1.0]}, right, ["Where?"])))
    await begun.wait()
    removing = asyncio.create_task(filled.remove(["rome"]))
    async with asyncio.timeout(30):
        while not await asyncio.to_thread(is_waiting, url):  # noqa: ASYNC110 (another connection waits)
            await asyncio.sleep(0.01)
    go_on.set()
    run = await saving
    await removing
    await filled.maintenance.sweep()
    assert (await filled.bench.outcome(run.id, 0)).passages[0].state == "removed"
    assert [table for table in holding(url, "rome") if "bench" in table] == []


async def test_a_passage_follows_its_text_and_is_not_used_once_that_has_changed(filled: AsyncTrueweave) -> None:
    question = await filled.bench.add_question("Who sells hats?", [await passage(filled, "acme", 1)])
    assert question.passages[0].start == len(ACME)
    await filled.add_documents([document("acme", "A new beginning. ", ACME, HATS)])
    [moved] = (await filled.bench.questions())[0].passages
    assert (moved.state, moved.text, moved.start) == ("there", HATS, len("A new beginning. " + ACME))
    await filled.add_documents([document("acme", ACME, "Bob Hill sells shoes.")])
    [changed] = (await filled.bench.questions())[0].passages
    assert (changed.state, changed.text, changed.uri) == ("changed", "", "acme")
    with pytest.raises(InvalidArgument, match=r"the passage is no longer in it\. Choose it again"):
        await filled.bench.add_question("Who?", question.passages)


async def test_of_two_who_add_the_same_question_at_once_both_add_their_passages(filled: AsyncTrueweave) -> None:
    first, second = await passage(filled, "acme"), await passage(filled, "rome")
    added = await asyncio.gather(
        *(filled.bench.add_question(" Where? ", [right]) for right in (first, second, first)),
        filled.bench.add_question("Where?", [second], answers=["Rome"]),
    )
    [question] = await filled.bench.questions()
    assert {one.id for one in added} == {question.id}
    assert {one.chunk for one in question.passages} == {first.chunk, second.chunk}
    assert (len(question.passages), question.question, question.answers) == (2, "Where?", ("Rome",))
    other = await filled.bench.add_question("And who?", [first])
    with pytest.raises(InvalidArgument, match="another question has this text already"):
        await filled.bench.change_question(other.id, "Where?", [first])
    await filled.bench.remove_question(other.id)
    with pytest.raises(UnknownQuestion):
        await filled.bench.change_question(other.id, "Gone?", [first])
    with pytest.raises(UnknownDocument, match="there is no document 'nowhere'"):
        await filled.bench.add_question("Which?", [BenchPassage("nowhere")])


# --- a run at a server --------------------------------------------------------------------------------


@pytest.fixture
async def with_model(database: Database) -> AsyncIterator[tuple[AsyncTrueweave, ModelServer]]:
    async with ModelServer(lambda _: "Nobody knows.") as server:
        settings = Settings(model="vllm/any", model_url=server.url, model_tries=1, extractor="capitals")
        made = await AsyncTrueweave.enter(database, "test", HashEmbedder(16), settings=settings)
        async with aclosing(made) as trueweave:
            await trueweave.add(Source("acme", ACME), Source("rome", HATS))
            yield trueweave, server


async def test_a_run_on_ones_own_questions_calls_no_language_model_and_is_stored(
    with_model: tuple[AsyncTrueweave, ModelServer],
) -> None:
    trueweave, server = with_model
    await trueweave.bench.add_question("Who sells hats?", [await passage(trueweave, "rome")])
    await trueweave.bench.add_question("Who founded Acme?", [await passage(trueweave, "acme")], kind="people")
    steps: list[tuple[int, int]] = []
    run = await run_own(trueweave, [*WITHOUT_MODEL, "keyword"], "me", lambda *step: steps.append(step))
    assert {one.name for one in run.methods} == set(WITHOUT_MODEL)
    assert len(server.calls) == 0
    assert steps[-1] == (2 * len(WITHOUT_MODEL), 2 * len(WITHOUT_MODEL))
    assert (run.name, run.own, run.questions, run.author, run.leading) == ("mine", True, 2, "me", "recall@5")
    assert await trueweave.bench.runs() == [run]
    outcome = await trueweave.bench.outcome(run.id, 1)
    assert (outcome.question, outcome.kind) == ("Who founded Acme?", "people")
    [keyword] = [one for one in outcome.found if one.method == "keyword"]
    assert keyword.passages[0].right
    assert keyword.passages[0].passage.text == ACME
    assert keyword.scores["recall@2"] == 1.0


async def test_a_run_that_is_too_long_or_may_cost_money_is_refused(
    with_model: tuple[AsyncTrueweave, ModelServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    trueweave, _ = with_model
    with pytest.raises(InvalidArgument, match="there are no questions in this workspace"):
        await run_own(trueweave, ["keyword"], "")
    await trueweave.bench.add_question("Who sells hats?", [await passage(trueweave, "rome")])
    with pytest.raises(InvalidArgument, match="local may call a language model"):
        await run_own(trueweave, ["keyword", "local"], "")
    monkeypatch.setattr(own, "MOST_SEARCHES", 1)
    with pytest.raises(InvalidArgument, match="1 questions with 2 methods are 2 searches"):
        await run_own(trueweave, ["keyword", "naive"], "")
    assert await trueweave.bench.runs() == []
