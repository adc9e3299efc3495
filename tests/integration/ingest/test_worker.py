"""From files to the index: documents are worked once, failures are kept and shown, and what was stopped goes on."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from trueweave import AsyncTrueweave, Chunk, Document, Event, Link, Mention, Settings, Source
from trueweave.errors import BadReply, BudgetReached, InvalidDocument, ModelRefused
from trueweave.events import Extracted, Failed, Unreadable
from trueweave.extend import Database, Extraction, Extractor
from trueweave.graph.contribution import Contribution, contribution
from trueweave.ingest.intake import take_in
from trueweave.ingest.jobs import WorkerDependencies, WorkerSettings
from trueweave.ingest.recipe import Recipe
from trueweave.ingest.worker import Worker, run_until, worker_of
from trueweave.store.postgres.record import record
from trueweave.testing import HashEmbedder

CAPITALS = Recipe(extractor="capitals")
QUICK = WorkerSettings(try_again_after=0.05, gather=0.01)


class Scripted:
    """Finds the words of each chunk, unless its text says to go wrong."""

    fingerprint = "scripted"

    def __init__(self) -> None:
        self.worked: list[str] = []
        self.error: Exception | None = None

    async def extract(self, source: Source, chunks: Sequence[Chunk]) -> Sequence[Extraction]:
        self.worked.append(source.uri)
        if self.error:
            raise self.error
        if "poison" in source.text:
            raise InvalidDocument(f"{source.uri}: of no use")
        if "bug" in source.text:
            raise KeyError("bug")
        found = []
        for chunk in chunks:
            words = chunk.text.split()
            links = tuple(Link(a, b) for a, b in pairwise(words))
            found.append(
                Extraction(tuple(map(Mention, dict.fromkeys(words))), links, ("odd",) if "odd" in words else ())
            )
        return found


class Mill:
    """A workspace with a worker that can be run again and again."""

    def __init__(self, trueweave: AsyncTrueweave) -> None:
        self.trueweave = trueweave
        self.extractor = Scripted()
        self.events: list[Event] = []

    def worker(self, *, patient: bool = False) -> Worker:
        def extractor(_: Recipe) -> Extractor:
            return self.extractor

        kit = WorkerDependencies(extractor, HashEmbedder())
        self.last = worker_of(self.trueweave.workspace, kit, self.events.append, QUICK, patient=patient)
        return self.last

    async def add(self, *sources: Source, recipe: Recipe = CAPITALS) -> None:
        no_more = asyncio.Event()
        working = asyncio.create_task(self.worker().run_until_done(no_more))
        await take_in(self.trueweave.workspace, sources, recipe, self.events.append)
        no_more.set()
        await asyncio.wait_for(working, 30)


@pytest.fixture
def mill(trueweave: AsyncTrueweave) -> Mill:
    return Mill(trueweave)


async def test_documents_come_in_and_are_settled(mill: Mill) -> None:
    await mill.add(*(Source(f"doc/{n}", f"Ada knows Bob{n}", metadata={"n": n}) for n in range(100)))
    status = await mill.trueweave.status()
    assert (status.documents, status.chunks, status.waiting_documents) == (100, 100, 0)
    assert sorted(mill.extractor.worked) == sorted(f"doc/{n}" for n in range(100))
    assert (await mill.trueweave.graph.entities(1))[0].count == 100
    assert (await mill.trueweave.maintenance.verify()).exact
    assert {d.metadata["n"] for d in [d async for d in mill.trueweave.documents()]} == set(range(100))


async def test_what_is_unchanged_is_not_worked_again_and_what_changed_is(mill: Mill) -> None:
    await mill.add(Source("a", "Ada knows Bob"), Source("b", "Bob sleeps"))
    mill.extractor.worked.clear()
    await mill.add(Source("a", "Ada knows Bob"), Source("b", "Bob wakes"))
    assert mill.extractor.worked == ["b"]
    await mill.add(Source("a", "Ada knows Bob"), recipe=Recipe(extractor="capitals", max_chunk_size=500))
    assert mill.extractor.worked == ["b", "a"]
    await mill.add(Source("a", "Ada knows Bob"), recipe=Recipe(extractor="capitals", max_chunk_size=500))
    assert mill.extractor.worked == ["b", "a"]
    assert {e.name for e in await mill.trueweave.graph.entities()} == {"Ada", "knows", "Bob", "wakes"}


@pytest.mark.parametrize(("text", "error"), [("poison", "bad: of no use"), ("bug", "unexpected KeyError: 'bug'")])
async def test_a_document_that_keeps_failing_is_set_aside_with_its_error_and_the_others_come_in(
    mill: Mill, text: str, error: str
) -> None:
    await mill.add(Source("good", "Ada"), Source("bad", text), Source("odd", "odd Bob"))
    assert (await mill.trueweave.status()).documents == 2
    [aside] = await mill.trueweave.maintenance.failed_documents()
    assert (aside.uri, aside.failures) == ("bad", 3)
    assert aside.error.startswith(error)
    assert mill.extractor.worked.count("bad") == 3
    assert [e.final for e in mill.events if isinstance(e, Failed)] == [False, False, True]
    assert [e.notes for e in mill.events if isinstance(e, Extracted) and e.uri == "odd"] == [("odd",)]
    await mill.add(Source("bad", text))
    assert mill.extractor.worked.count("bad") == 6, "adding it again tries it again"
    await mill.add(Source("bad", "mended"))
    assert await mill.trueweave.maintenance.failed_documents() == []
    assert (await mill.trueweave.status()).documents == 3


async def test_a_reply_of_no_use_sets_its_document_aside_at_once(mill: Mill) -> None:
    mill.extractor.error = BadReply("a: of no use, twice")
    await mill.add(Source("a", "Ada"))
    assert [(aside.uri, aside.failures) for aside in await mill.trueweave.maintenance.failed_documents()] == [("a", 1)]


async def test_a_worker_that_is_abandoned_ends_at_once_and_leaves_its_documents_to_others(mill: Mill) -> None:
    class Endless(Scripted):
        async def extract(self, source: Source, chunks: Sequence[Chunk]) -> Sequence[Extraction]:
            self.worked.append(source.uri)
            await asyncio.sleep(3600)
            return []

    mill.extractor = Endless()
    adding = asyncio.create_task(mill.add(*(Source(f"doc/{n}", f"Ada{n}") for n in range(30))))
    while len(mill.extractor.worked) < 30:  # noqa: ASYNC110
        await asyncio.sleep(0.02)
    mill.last.abandon()
    await asyncio.wait_for(adding, 5)
    mill.extractor = Scripted()
    await mill.add()
    assert (await mill.trueweave.status()).documents == 30


@pytest.mark.parametrize("is_stopping", [False, True])
async def test_a_worker_that_is_cancelled_ends_at_once_also_while_it_waits_for_the_end_of_its_jobs(
    mill: Mill, is_stopping: bool
) -> None:
    class Endless(Scripted):
        async def extract(self, source: Source, chunks: Sequence[Chunk]) -> Sequence[Extraction]:
            self.worked.append(source.uri)
            await asyncio.Event().wait()
            return []

    mill.extractor = Endless()
    await take_in(mill.trueweave.workspace, [Source("a", "Ada")], CAPITALS, mill.events.append)
    stop = asyncio.Event()
    working = asyncio.create_task(run_until(mill.worker(), stop))
    while not mill.extractor.worked:  # noqa: ASYNC110 (the worker acts)
        await asyncio.sleep(0.02)
    if is_stopping:
        stop.set()
        await asyncio.wait((working,), timeout=0.2)
    assert not working.done()
    working.cancel()
    done, _ = await asyncio.wait((working,), timeout=10)
    mill.last.abandon()  # or a worker that has not ended would keep this test from ending
    assert done
    mill.extractor = Scripted()
    await mill.add()
    assert (await mill.trueweave.status()).documents == 1


@pytest.mark.parametrize("error", [BudgetReached("no money"), ModelRefused("wrong key")])
async def test_a_run_stops_in_good_order_and_goes_on_when_the_cause_is_mended(mill: Mill, error: Exception) -> None:
    sources = [Source(f"doc/{n}", f"Ada{n}") for n in range(40)]
    mill.extractor.error = error
    with pytest.raises(type(error), match=str(error)):
        await mill.add(*sources)
    assert await mill.trueweave.maintenance.failed_documents() == []
    mill.extractor.error = None
    await mill.add()
    assert (await mill.trueweave.status()).documents == 40


async def test_a_patient_worker_waits_for_a_budget(mill: Mill) -> None:
    mill.extractor.error = BudgetReached("no money")
    worker = mill.worker(patient=True)
    working = asyncio.create_task(worker.run())
    await take_in(mill.trueweave.workspace, [Source("a", "Ada")], CAPITALS, mill.events.append)
    await asyncio.sleep(0.5)
    assert not working.done()
    mill.extractor.error = None
    while (await mill.trueweave.status()).documents == 0:  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    worker.stop()
    await asyncio.wait_for(working, 10)


async def test_a_document_that_is_removed_or_replaced_while_it_is_worked_does_not_come_back(mill: Mill) -> None:
    class Slow(Scripted):
        async def extract(self, source: Source, chunks: Sequence[Chunk]) -> Sequence[Extraction]:
            if source.text == "Old":
                await mill.trueweave.remove(["gone"])
                await take_in(
                    mill.trueweave.workspace,
                    [Source("replaced", "New")],
                    CAPITALS,
                    mill.events.append,
                )
            return await super().extract(source, chunks)

    mill.extractor = Slow()
    await mill.add(Source("gone", "Old"), Source("replaced", "Old"))
    assert [d.uri async for d in mill.trueweave.documents()] == ["replaced"]
    assert {e.name for e in await mill.trueweave.graph.entities()} == {"New"}


async def test_a_document_without_text_comes_in_with_a_note(mill: Mill) -> None:
    await mill.add(Source("empty", " \n"))
    assert [(e.chunks, e.notes) for e in mill.events if isinstance(e, Extracted)] == [(0, ("it has no text",))]
    assert (await mill.trueweave.status()).documents == 1


@pytest.fixture
async def filed(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[AsyncTrueweave]:
    monkeypatch.chdir(tmp_path)
    trueweave = await AsyncTrueweave.enter(database, "files", HashEmbedder(), settings=Settings(extractor="capitals"))
    yield trueweave
    await trueweave.aclose()


async def test_a_folder_becomes_an_index_without_any_model(filed: AsyncTrueweave, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "ada.md").write_text("# Ada Lovelace\n\nAda Lovelace worked with Charles Babbage in London.\n")
    (notes / "bob.txt").write_text("Charles Babbage designed the Analytical Engine.")
    (notes / "broken.txt").write_bytes(b"\xff\xfe\xff")
    (notes / "rows.jsonl").write_text("\n".join(json.dumps({"id": f"r{n}", "text": f"Row {n}"}) for n in range(3)))
    events: list[Event] = []
    added = await filed.add(notes, listener=events.append)
    assert (added.new, added.unreadable, added.extracted, added.failed) == (5, 1, 5, 0)
    assert [e.path for e in events if isinstance(e, Unreadable)] == [f"{notes}/broken.txt"]
    names = {e.name for e in await filed.graph.entities()}
    assert {"Ada Lovelace", "Charles Babbage", "Analytical Engine", "London"} <= names
    [document] = [d async for d in filed.documents() if d.uri == f"{notes}/ada.md"]
    assert [(p.kind, p.label, p.start) for p in document.places] == [("heading", "Ada Lovelace", 0)]
    again = await filed.add(notes)
    assert (again.new, again.unchanged) == (0, 5)


async def test_an_estimate_counts_and_sends_nothing(database: Database, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(" ".join(f"Ada Lovelace wrote letter {n} to Charles Babbage." for n in range(200)))
    settings = Settings(model="openai/some", model_url="http://127.0.0.1:9/v1", prices={"openai/some": (1, 4)})
    trueweave = await AsyncTrueweave.enter(database, "money", settings=settings)
    found = await trueweave.estimate(tmp_path)
    await trueweave.aclose()
    assert (found.documents, found.unchanged, found.model) == (1, 0, "openai/some")
    assert found.chunks == found.calls > 1
    assert found.tokens_in > found.tokens
    assert found.price is not None
    assert found.most_price is not None
    assert 0 < found.price < found.most_price
    assert not found.learnt


async def test_of_two_versions_that_are_stored_together_the_one_that_was_handed_in_last_stays(mill: Mill) -> None:
    workspace = mill.trueweave.workspace

    async def made(text: str) -> Contribution:
        await take_in(workspace, [Source("a", text)], CAPITALS, mill.events.append)
        async with workspace.transaction() as tx:
            [(id_,)] = await (await tx.execute("SELECT id FROM source")).fetchall()
        return contribution(Document("a", (Chunk(text),)), id_)

    old, new = await made("Old"), await made("New")
    await record.store(workspace, [new, old])
    await mill.trueweave.maintenance.settle()
    assert [[c.text for c in d.chunks] async for d in mill.trueweave.documents()] == [["New"]]
