"""What AsyncTrueweave and AsyncClient must both do. Most calls are made of both, on one workspace, and must come to the
same; the others are made of each on a workspace of its own."""

import inspect
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import is_dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints
from uuid import UUID, uuid4

import pytest

from tests.integration.serving import ANSWER, Served, serving
from trueweave import (
    Answer,
    AnswerOptions,
    AsyncClient,
    AsyncTrueweave,
    Chunk,
    Document,
    Event,
    Evidence,
    Filter,
    Link,
    Mention,
    Message,
    NamedFile,
    NameKey,
    Place,
    Range,
    ResolutionSettings,
    Settings,
    Source,
    Stream,
)
from trueweave.bench.own import run_own
from trueweave.core import errors
from trueweave.core.bench import BenchPassage
from trueweave.events import Extracted, Found, Refused, Retrieved, Skipped, Unreadable
from trueweave.methods import Fuse, Keyword, Naive
from trueweave.store.postgres.access import api_keys
from trueweave.testing.model_server import ModelServer
from trueweave.types import Trace

Index = AsyncTrueweave | AsyncClient
NOWHERE, LONG_AGO = uuid4(), datetime(2020, 1, 1, tzinfo=UTC)
ADA = "Ada Lovelace worked with Charles Babbage in London."
QUESTION = "Whom did Ada work with?"
QUOTE = "worked with Charles Babbage"


def script(prompt: Any) -> str:
    told = str(prompt)
    return json.dumps({"low_level": ["Ada"], "high_level": ["work"]}) if "high_level" in told else ANSWER


def documents() -> list[Document]:
    said = Chunk(
        ADA,
        mentions=(Mention("Ada Lovelace", "person", "a mathematician", 7, ((0, 12),)), Mention("London", "place")),
        links=(
            Link("Ada Lovelace", "Charles Babbage", "worked with", ("work", "engine"), 8),
            Link("Ada Lovelace", "London", "lived in"),
            Link("Charles Babbage", "London", "lived in"),
        ),
    )
    places = (Place(0, "heading", "Letters", 1), Place(0, "page", "3"))
    hopper = (Mention("Grace Hopper", "person"),)
    more = [Document(f"more/{n}", (Chunk(f"Grace Hopper wrote compiler {n}.", mentions=hopper),)) for n in range(3)]
    alike = Chunk("Ada Lovelase wrote.", mentions=(Mention("Ada Lovelase", "person"), Mention("Ada", "ship")))
    ada = Document("ada", (said,), "Of Ada", {"year": 1843, "tags": ["letter"], "date": "1843-07-05"}, places)
    return [ada, Document("alike", (alike,)), *more]


class Both(NamedTuple):
    """The same workspace twice: in the database, and at a server."""

    engine: AsyncTrueweave
    client: AsyncClient
    server: Served


@pytest.fixture
async def both(url: str) -> AsyncIterator[Both]:
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(ModelServer(script))
        how: dict[str, Any] = {
            "extractor": "capitals",
            "model": "vllm/any",
            "model_url": model.url,
            "embedding_model": "vllm/embed",
            "embedding_url": model.url,
            "model_tries": 1,
            "source_connectors": {"mine": ["https"]},
            "functional_relations": {"lived in": "one source"},
        }
        server = await stack.enter_async_context(serving(url, works=True, **how))
        settings = Settings(database_url=url, **how)
        engine = await stack.enter_async_context(AsyncTrueweave.open(url, "mine", settings=settings, make=True))
        await engine.add_documents(documents())
        await engine.communities.find()
        key = (await api_keys.make(server.database, "contract", "admin", None, groups=["*"])).token
        client = await stack.enter_async_context(AsyncClient.open(server.url, "mine", key=key, make=True))
        yield Both(engine, client, server)


def still(value: Any) -> Any:
    """The same without what differs between any two runs: how long steps took, and in which order they ended."""
    match value:
        case Trace():
            steps = [replace(one, seconds=0.0, statements=0) for one in value.steps]  # which ends first is chance
            return replace(value, seconds=0.0, steps=tuple(sorted(steps, key=lambda one: (one.what, one.searched))))
        case Answer():
            checks = tuple(replace(one, seconds=0.0) for one in value.checks)
            return replace(value, evidence=still(value.evidence), checks=checks)
        case Evidence():
            return replace(value, trace=still(value.trace))
        case list() | tuple():
            return type(value)(map(still, value))
    if is_dataclass(value) and hasattr(value, "rows"):
        return replace(value, rows=tuple(replace(one, evidence=still(one.evidence)) for one in value.rows))  # type: ignore[type-var]
    return value


async def all_of(stream: Stream[Any]) -> list[Any]:
    return [one async for one in stream]


async def talked(it: Index) -> tuple[Any, ...]:
    heard: list[Event] = []
    talk = it.conversation("keyword", history=[Message("user", "Who was Ada?"), Message("assistant", "A countess.")])
    answer = await talk.ask(QUESTION, listener=heard.append)
    *_, last = await all_of(talk.stream("And where?"))
    return (still(answer), still(last), talk.history, [type(one) for one in heard])


async def heard_while(it: Index) -> list[Any]:
    heard: list[Event] = []
    await it.ask(QUESTION, "keyword", listener=heard.append)
    return [still(one.evidence) if isinstance(one, Retrieved) else one for one in heard]


def by_id(found: list[Any]) -> list[Any]:
    """In the order of their ids, where what weighs the same has no order."""
    return sorted(found, key=lambda one: str(one.id))


async def community(it: Index) -> UUID:
    return (await it.communities.select(limit=1))[0].id


async def of_heaviest(it: Index, call: Callable[[UUID], Awaitable[Any]]) -> Any:
    return await call((await it.graph.relations(limit=1))[0].id)


async def of_latest_run(it: Index, call: Callable[[UUID], Awaitable[Any]]) -> Any:
    return await call((await it.bench.runs(limit=1))[0].id)


# Calls that change nothing, each of both.
READS: dict[str, Callable[[Index], Awaitable[Any]]] = {
    "ask": lambda it: it.ask(QUESTION, "keyword"),
    "ask by a method of its own": lambda it: it.ask(QUESTION, Keyword(top_k=2)),
    "ask with options": lambda it: it.ask(
        QUESTION,
        "keyword",
        filter=Filter(metadata={"year": Range(1800, 1900)}),
        options=AnswerOptions("Be brief.", "English", 100),
        verifiers=["rules"],
        repair=False,
    ),
    "ask for the context": lambda it: it.ask(QUESTION, "keyword", context_only=True),
    "stream": lambda it: all_of(it.stream(QUESTION, "keyword")),
    "what a listener hears": heard_while,
    "conversation": talked,
    "retrieve": lambda it: it.retrieve(QUESTION),
    "retrieve by a method of its own": lambda it: it.retrieve(QUESTION, Fuse(parts=(Naive(), Keyword()), top_k=2)),
    "retrieve by the graph": lambda it: it.retrieve(QUESTION, "local"),
    "search": lambda it: it.search("Ada Babbage", 2, filter=Filter(uris=("ada", "more/0"))),
    "compare": lambda it: it.compare(QUESTION, ["keyword", Keyword(top_k=1), "community"]),
    "methods": lambda it: it.methods(),
    "status": lambda it: it.status(),
    "list_documents": lambda it: it.list_documents(3, after="ada", prefix="more/"),
    "list_documents, the latest first": lambda it: it.list_documents(2, state="any", order="added", since=LONG_AGO),
    "count_documents": lambda it: it.count_documents(prefix="more/", state="indexed", since=LONG_AGO),
    "list_documents by filter": lambda it: it.list_documents(
        filter=Filter(metadata={"date": Range("1843"), "tags": ["letter", "note"]})
    ),
    "document": lambda it: it.document("ada", entities=2),
    "document_outline": lambda it: it.document_outline("ada", first=1),
    "document_mentions": lambda it: it.document_mentions("ada", start=1, end=12),
    "documents": lambda it: all_of(it.documents()),
    "estimate": lambda it: it.estimate(Source("new", ADA * 20), Source("other", ADA)),
    "graph.entities": lambda it: it.graph.entities(4, type="person"),
    "graph.entity": lambda it: it.graph.entity("ada lovelace"),
    "graph.entity by its type": lambda it: it.graph.entity(NameKey("Ada", "ship"), passages=1),
    "graph.mentions": lambda it: it.graph.mentions("Ada Lovelace"),
    "graph.mentions in a document": lambda it: it.graph.mentions("Grace Hopper", document="more/1", limit=1),
    "graph.mention_counts": lambda it: it.graph.mention_counts("Grace Hopper", limit=2),
    "graph.relation": lambda it: of_heaviest(it, it.graph.relation),
    "graph.statements": lambda it: of_heaviest(it, it.graph.statements),
    "graph.search_entities": lambda it: it.graph.search_entities("Lovelace", filter=Filter(uris=("ada",))),
    "graph.search_relations": lambda it: it.graph.search_relations("Babbage", 2),
    "graph.path": lambda it: it.graph.path("Charles Babbage", "London"),
    "graph.no path": lambda it: it.graph.path("Grace Hopper", "London"),
    "graph.neighbours": lambda it: it.graph.neighbours("London", "Charles Babbage", limit=2),
    "graph.map": lambda it: it.graph.map(-0.5, -0.5, 0.5, 0.5, zoom=5000, limit=50, relations=9),
    "graph.around": lambda it: it.graph.around("Ada Lovelace", hops=2, types=["Place"], min_weight=0.5, limit=2),
    "graph.types": lambda it: it.graph.types(),
    "graph.conflicts": lambda it: it.graph.conflicts(5, statements=2, filter=Filter(prefix="ad")),
    "graph.complete": lambda it: it.graph.complete("lov"),
    "graph.nothing to draw": lambda it: it.graph.subgraph([NOWHERE]),
    "graph.picture": lambda it: it.graph.picture("Ada Lovelace"),
    "communities.hierarchy": lambda it: it.communities.hierarchy(),
    "communities.select": lambda it: it.communities.select(0, since=LONG_AGO),
    "communities.tree": lambda it: it.communities.tree(depth=1, limit=2),
    "communities.retired": lambda it: it.communities.retired(LONG_AGO),
    "communities.estimate_reports": lambda it: it.communities.estimate_reports(),
    "communities.no report": lambda it: it.communities.report(NOWHERE),
    "communities.no members": lambda it: it.communities.members(NOWHERE),
    "rules.all": lambda it: it.rules.all(),
    "rules.suggestions": lambda it: it.rules.suggestions(80),
    "rules.preview": lambda it: it.rules.preview("suppress", NameKey("London"), limit=2),
    "rules.mentioned": lambda it: it.rules.mentioned([NameKey("London"), NameKey("Paris"), NameKey("Ada", "ship")]),
    "rules.resolution": lambda it: it.rules.resolution(),
    "bench.runs": lambda it: it.bench.runs(),
    "bench.run": lambda it: of_latest_run(it, it.bench.run),
    "bench.outcome": lambda it: of_latest_run(it, lambda run: it.bench.outcome(run, 0)),
    "bench.compare": lambda it: of_latest_run(it, lambda run: it.bench.compare(run, "keyword", run, "naive")),
    "bench.compare, only some": lambda it: of_latest_run(
        it, lambda run: it.bench.compare(run, "keyword", run, "naive", measure="mrr@10", found_by="both", after=0)
    ),
    "bench.questions": lambda it: it.bench.questions(),
    "watches.all": lambda it: it.watches.all(),
    "watches.get": lambda it: it.watches.get("ada"),
    "watches.alerts": lambda it: it.watches.alerts(),
    "sources.all": lambda it: it.sources.all(),
    "sources.get": lambda it: it.sources.get("kettles"),
    "jobs.latest": lambda it: it.jobs.latest(),
    "jobs.state": lambda it: it.jobs.state("ada"),
    "budget.get": lambda it: it.budget.get(),
    "budget.receipt_by_document": lambda it: it.budget.receipt_by_document(LONG_AGO, 5),
    "budget.receipt_by_day": lambda it: it.budget.receipt_by_day(LONG_AGO, "model"),
    "maintenance.models": lambda it: it.maintenance.models(),
    "maintenance.checks": lambda it: it.maintenance.checks(),
    "maintenance.activity": lambda it: it.maintenance.activity(),
    "maintenance.failed_documents": lambda it: it.maintenance.failed_documents(),
}


async def test_calls_that_change_nothing_come_to_the_same(both: Both) -> None:
    await both.engine.bench.add_question(QUESTION, [BenchPassage("ada")], answers=["Babbage"], kind="people")
    await run_own(both.engine, ["keyword", "naive"], "me")
    await both.engine.watches.add("Who is Ada?", name="ada", filter=Filter(prefix="a"))
    await both.engine.sources.add("kettles", "https://kettles.example/", secrets={"token": "KETTLES_TOKEN"})
    for name, call in READS.items():
        await call(both.engine)  # what a model replies is kept, and costs nothing from now on
        expected, found = await call(both.engine), await call(both.client)
        assert still(found) == still(expected), name
        assert type(found) is type(expected), name
        assert not (isinstance(found, list) and not found) or name in EMPTY, f"{name} is tried on nothing"
    assert by_id(await both.client.graph.relations()) == by_id(await both.engine.graph.relations())
    of = ("London", "Charles Babbage")
    assert by_id(await both.client.graph.relations(*of)) == by_id(await both.engine.graph.relations(*of))
    [passage, *_] = (await both.engine.document("ada")).passages
    for index in (both.engine, both.client):
        assert await index.passages(NOWHERE, passage.id, passage.id) == [passage]
        assert await index.passages() == []
    [latest] = await both.engine.list_documents(1, order="added")
    rest = [await it.list_documents(order="added", after=(latest.added, latest.uri)) for it in both[:2]]
    assert rest[0] == rest[1]
    assert latest.uri not in {one.uri for one in rest[0]}
    assert len(rest[0]) == await both.client.count_documents() - 1
    ada = await both.engine.graph.entity("Ada Lovelace")
    drawn = [await it.graph.subgraph([ada.entity.id], chunks=[passage.id], limit=2) for it in both[:2]]
    assert drawn[0] == drawn[1]
    assert drawn[0].nodes[0].name == "Ada Lovelace"
    assert (len(drawn[0].nodes), drawn[0].entities, drawn[0].relations) == (2, 3, 1)
    id_ = await community(both.engine)
    assert await both.client.communities.get(str(id_)[:8]) == await both.engine.communities.get(id_)
    assert await both.client.communities.members(id_) == await both.engine.communities.members(id_)
    assert await both.client.communities.estimate_report(id_) == await both.engine.communities.estimate_report(id_)
    assert await both.client.communities.report(id_) == await both.engine.communities.report(id_)
    assert await both.client.graph.picture(community=id_) == await both.engine.graph.picture(community=id_)
    assert await both.client.budget.receipt(LONG_AGO) == await both.engine.budget.receipt(LONG_AGO)
    assert (both.client.method, both.client.has_model) == (both.engine.method, both.engine.has_model) == ("auto", True)


EMPTY = {"communities.retired", "communities.no members", "rules.all", "jobs.latest", "budget.receipt_by_document"}
EMPTY |= {"maintenance.failed_documents"}


ERRORS: dict[str, tuple[Callable[[Index], Awaitable[Any]], type[errors.TrueweaveError]]] = {
    "no method": (lambda it: it.ask("Who?", "magic"), errors.UnknownMethod),
    "no method to stream by": (lambda it: all_of(it.stream("Who?", "magic")), errors.UnknownMethod),
    "no reports": (lambda it: it.retrieve("Who?", "community"), errors.NoReports),
    "no such page": (lambda it: it.list_documents(after="ada", order="added"), errors.InvalidArgument),
    "no document": (lambda it: it.document("adaa"), errors.UnknownDocument),
    "no document to outline": (lambda it: it.document_outline("adaa"), errors.UnknownDocument),
    "no document with mentions": (lambda it: it.document_mentions("adaa"), errors.UnknownDocument),
    "no state": (lambda it: it.jobs.state("nothing"), errors.UnknownDocument),
    "no entity": (lambda it: it.graph.entity("Ada Lovelac"), errors.UnknownEntity),
    "no entity of that id": (lambda it: it.graph.entity(NOWHERE), errors.UnknownEntity),
    "no window": (lambda it: it.graph.map(1, 0, 0, 1), errors.InvalidArgument),
    "nothing around": (lambda it: it.graph.around(NOWHERE), errors.UnknownEntity),
    "no mentions": (lambda it: it.graph.mentions(NOWHERE), errors.UnknownEntity),
    "nothing to count": (lambda it: it.graph.mention_counts(NOWHERE), errors.UnknownEntity),
    "no relation": (lambda it: it.graph.relation(NOWHERE), errors.UnknownRelation),
    "no statements": (lambda it: it.graph.statements(NOWHERE), errors.UnknownRelation),
    "several entities": (lambda it: it.graph.entity("ada love"), errors.UnknownEntity),
    "no community around": (lambda it: it.communities.tree(NOWHERE), errors.UnknownCommunity),
    "no community to estimate": (lambda it: it.communities.estimate_report(NOWHERE), errors.UnknownCommunity),
    "no community to write on": (lambda it: it.communities.write_report(NOWHERE), errors.UnknownCommunity),
    "no community": (lambda it: it.communities.get(NOWHERE), errors.UnknownCommunity),
    "no run": (lambda it: it.bench.run(NOWHERE), errors.UnknownRun),
    "no run to remove": (lambda it: it.bench.remove_run(NOWHERE), errors.UnknownRun),
    "no outcome": (lambda it: it.bench.outcome(NOWHERE, 0), errors.UnknownRun),
    "no runs to compare": (lambda it: it.bench.compare(NOWHERE, "a", NOWHERE, "b"), errors.UnknownRun),
    "no question": (lambda it: it.bench.remove_question(NOWHERE), errors.UnknownQuestion),
    "a question about nothing": (lambda it: it.bench.add_question("Who?", [BenchPassage("x")]), errors.UnknownDocument),
    "a question without a text": (
        lambda it: it.bench.add_question(" ", [BenchPassage("ada")]),
        errors.InvalidArgument,
    ),
    "no question to change": (
        lambda it: it.bench.change_question(NOWHERE, "Who?", [BenchPassage("ada")]),
        errors.UnknownQuestion,
    ),
    "no watch": (lambda it: it.watches.get("nothing"), errors.UnknownWatch),
    "no watch to remove": (lambda it: it.watches.remove("nothing"), errors.UnknownWatch),
    "no watch with alerts": (lambda it: it.watches.alerts("nothing"), errors.UnknownWatch),
    "no name of a watch": (lambda it: it.watches.add("Who?", name="a b"), errors.InvalidArgument),
    "no source": (lambda it: it.sources.get("nothing"), errors.UnknownSource),
    "no source to synchronise": (lambda it: it.sources.request_sync("nothing"), errors.UnknownSource),
    "no source to remove": (lambda it: it.sources.remove("nothing"), errors.UnknownSource),
    "no name of a source": (lambda it: it.sources.add("a b", "https://example.org/"), errors.InvalidArgument),
    "no job": (lambda it: it.jobs.get(NOWHERE), errors.UnknownJob),
    "no job to add to": (lambda it: it.jobs.submit(Source("a", "A"), job=NOWHERE), errors.UnknownJob),
    "no rule": (lambda it: it.rules.undo(NOWHERE), errors.RuleError),
    "a rule of nothing": (lambda it: it.rules.merge(NameKey("Ada")), errors.RuleError),
    "no suggestion": (lambda it: it.rules.accept(99), errors.RuleError),
    "no picture": (lambda it: it.graph.picture(), errors.InvalidArgument),
    "no way": (lambda it: it.graph.picture("Grace Hopper", to="London"), errors.InvalidArgument),
}


async def test_errors_are_of_the_same_class(both: Both) -> None:
    for name, (call, kind) in ERRORS.items():
        raised = []
        for index in both[:2]:
            with pytest.raises(errors.TrueweaveError) as error:
                await call(index)
            raised.append(error.value)
        assert [type(one) for one in raised] == [kind, kind], name
        assert getattr(raised[0], "near", ()) == getattr(raised[1], "near", ()), name
        assert raised[0].fact in str(raised[1]) or kind is errors.RuleError, name


# --- calls that change something, of each -------------------------------------------------------------


@pytest.fixture(params=["engine", "client"])
async def index(request: pytest.FixtureRequest, both: Both) -> Index:
    return both.engine if request.param == "engine" else both.client


async def test_files_folders_and_texts_are_added(index: Index, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.md").write_text(f"# Letters\n\n{ADA}\n")
    (folder / "deep" / "rows.csv").write_text("id,text\n7,Byron met Shelley.\n")
    (folder / ".hidden").write_text("x")
    (folder / "program.exe").write_bytes(b"MZ")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    heard: list[Event] = []
    text = Source("text", "Mary Shelley wrote.", "Mary", {"year": 1818}, (Place(0, "page", "9"),), ("odd",))
    added = await index.add(folder, text, listener=heard.append)
    assert (added.new, added.unchanged, added.extracted, added.failed) == (3, 0, 3, 0)
    assert (added.unreadable, added.refused, added.skipped, added.noted) == (1, 0, 2, 1)
    assert added.chunks == 3
    uris = {one.uri for one in heard if isinstance(one, Extracted)}
    assert uris == {(folder / "a.md").as_posix(), (folder / "deep/rows.csv").as_posix() + "#7", "text"}
    told = [one for one in heard if isinstance(one, Unreadable | Refused)]
    assert len(told) == 1
    with pytest.raises(errors.UnreadableFile, match=r"missing\.txt"):
        await index.add(text, tmp_path / "missing.txt")
    assert sum(one.new for one in heard if isinstance(one, Found)) == 3
    assert len([one for one in heard if isinstance(one, Skipped)]) == 2
    details = await index.document("text")
    assert (details.title, details.metadata, details.notes) == ("Mary", {"year": 1818}, ("odd",))
    assert (details.passages[0].page, details.passages[0].places) == ("9", (Place(0, "page", "9"),))
    again = await index.add(folder, text)
    assert (again.new, again.unchanged, again.extracted) == (0, 3, 0)
    refreshed = await index.add(text, refresh=True)
    assert (refreshed.new, refreshed.unchanged) == (0, 1)
    assert await index.switch_off(["text", "nothing"]) == 1
    assert [(one.uri, one.state) for one in await index.list_documents(state="off")] == [("text", "off")]
    assert (await index.status()).off == 1
    with pytest.raises(errors.UnknownDocument, match="switched off"):
        await index.document("text")
    with pytest.raises(errors.InvalidArgument, match="cannot be filtered"):
        await index.list_documents(state="off", filter=Filter(("text",)))
    assert await index.switch_on(["text", "nothing"]) == 1
    assert await index.remove(["text", "nothing"]) == 1
    estimate = await index.estimate(folder)
    assert (estimate.documents, estimate.unchanged, estimate.unreadable) == (0, 2, 1)


async def test_documents_are_handed_in_as_one_job(index: Index, tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text(ADA)
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.4 nothing")
    job = await index.jobs.submit(NamedFile(file, "upload:a"), broken)
    assert (job.documents, len(job.refused)) == (1, 1)
    more = await index.jobs.submit(Source("upload:b", ADA), job=job.id)
    assert (more.id, more.documents) == (job.id, 2)
    empty = await index.jobs.submit()
    assert empty.documents == 0
    latest = await index.jobs.latest()
    assert [one.id for one in latest] == [empty.id, job.id]
    assert [one.id for one in await index.jobs.latest(before=(empty.made, empty.id))] == [job.id]
    states = await index.jobs.documents(job.id)
    assert [one.uri for one in states] == ["upload:a", "upload:b"]
    assert [one.uri for one in await index.jobs.documents(job.id, after="upload:a")] == ["upload:b"]


async def test_documents_with_their_entities_are_stored_as_they_are(index: Index) -> None:
    done: list[int] = []
    mine = [replace(one, uri=f"copy of {one.uri}") for one in documents()]
    assert await index.add_documents(mine, done.append) == len(mine)
    assert sum(done) == len(mine)
    assert await index.add_documents(mine) == 0
    stored = {one.uri: one async for one in index.documents()}
    for one in mine:  # as it is stored by who is beside the database
        assert stored[one.uri] == replace(stored[one.uri.removeprefix("copy of ")], uri=one.uri)
    beyond = Chunk("Ada.", mentions=(Mention("Ada", spans=((0, 99),)),))
    with pytest.raises(errors.InvalidDocument, match="bad"):
        await index.add_documents([Document("bad", (beyond,))])
    refused: list[Refused] = []
    some = [Document("bad", (beyond,)), Document("good", (Chunk("x"),))]
    assert await index.add_documents(some, refused=refused.append) == 1
    assert [one.place for one in refused] == ["bad"]


async def test_rules_are_made_and_taken_back(index: Index) -> None:
    id_ = uuid4()
    merged = await index.rules.merge(NameKey("Ada Lovelace"), NameKey("Ada Lovelase"), by="me", id=id_)
    assert (merged.id, merged.kind, merged.by.endswith("me")) == (id_, "merge", True)
    one, other = [(await index.graph.entity(name)).entity for name in ("Ada Lovelase", "Ada Lovelace")]
    assert one == other
    await index.rules.merge(NameKey("Ada Lovelace"), NameKey("Ada Lovelase"), id=id_)
    made = [
        await index.rules.split(NameKey("Grace Hopper")),
        await index.rules.rename(NameKey("London"), "Londinium"),
        await index.rules.retype(NameKey("London"), "city"),
        await index.rules.describe(NameKey("London"), "A city."),
        await index.rules.suppress(NameKey("Ada Lovelace"), target=NameKey("London")),
        await index.rules.add(Mention("Paris", "place", "A city.", 8)),
        await index.rules.add(Link("Paris", "London", "far from", ("distance",), 3, 7, (), "place", "place")),
    ]
    assert [one.id for one in await index.rules.all()] == [id_, *(one.id for one in made)]
    london = (await index.graph.entity("London", passages=0)).entity
    assert (london.name, london.type, london.description) == ("Londinium", "city", "A city.")
    [far] = [one for one in await index.graph.relations("Paris") if one.description == "far from"]
    assert (far.keywords, far.type, far.weight) == (("distance",), "distance", 3.0)
    for rule in [id_, *(one.id for one in made)]:
        await index.rules.undo(rule)
    assert await index.rules.all() == []


async def test_history_is_kept_listed_and_erased(index: Index) -> None:
    assert (await index.history.status()).settings is None
    kept = (await index.history.keep(days=30)).settings
    assert kept is not None
    assert kept.days == 30
    async with index.as_of(datetime.now(UTC)) as past:
        assert (await past.status()).documents == (await index.status()).documents
    uri = (await index.list_documents(1))[0].uri
    assert [one.until for one in await index.history.versions(uri)] == [None]
    then, built = datetime.now(UTC), list[int]()
    assert await index.remove([uri]) == 1
    for found in (
        await index.history.diff(),
        await index.history.diff(then, limit=1),
        await index.history.diff(then, datetime.now(UTC), progress=built.append),
    ):
        assert found.counts["document"] == {"added": 0, "removed": 1, "changed": 0}
        assert [(one.change, one.name) for one in found.changes if one.kind == "document"] == [("removed", uri)]
    assert sum(built) == 2 * (await index.status()).documents + 1
    assert (await index.history.diff_from("mine")).is_empty
    with pytest.raises(errors.UnknownWorkspace):
        await index.history.diff_from("nowhere")
    with pytest.raises(errors.InvalidArgument, match="time zone"):
        await index.history.diff(datetime(2026, 5, 1))  # noqa: DTZ001 (the error)
    assert (await index.history.status()).versions == 1
    assert await index.remove([uri], erase=True) == 1
    assert (await index.history.status()).versions == 0
    with pytest.raises(errors.UnknownDocument, match="no version of the document"):
        await index.history.versions(uri)
    assert (await index.history.end()).settings is None


async def test_access_rules_are_set_and_removed(index: Index) -> None:
    assert await index.access.all() == []
    assert await index.access.set("more/**", ["hr", "board"]) == 3
    assert await index.access.set("more/1", []) == 1
    found = await index.access.all()
    assert [(one.prefix, one.readers) for one in found] == [("more/", ("board", "hr")), ("more/1", ())]
    assert await index.access.all(1) == found[:1]
    assert await index.access.remove("more/") == 2
    with pytest.raises(errors.UnknownAccessRule, match="more/"):
        await index.access.remove("more/**")


async def test_questions_are_added_changed_and_removed(index: Index) -> None:
    [passage, *_] = (await index.document("ada")).passages
    added = await index.bench.add_question(QUESTION, [BenchPassage("ada", passage.id)], kind="people", by="me")
    [right] = added.passages
    assert (right.uri, right.chunk, right.start, right.end) == ("ada", passage.id, 0, len(ADA))
    assert (right.title, right.text, right.state) == ("Of Ada", ADA, "there")
    assert (added.kind, added.author.endswith("me")) == ("people", True)
    changed = await index.bench.change_question(added.id, "Whom?", [BenchPassage("alike")], answers=["Bob"])
    assert (changed.id, changed.question, changed.answers, changed.kind) == (added.id, "Whom?", ("Bob",), "")
    assert await index.bench.questions() == [changed]
    await index.bench.remove_question(added.id)
    assert await index.bench.questions() == []


async def test_watches_are_added_and_removed(index: Index) -> None:
    wanted = Filter(metadata={"year": [Range(1900, 2000)]}, none_of=(Filter(prefix="drafts/"),))
    added = await index.watches.add("Who is Ada?", filter=wanted, passages=3, by="me")
    assert (added.name, added.filter, added.passages, added.groups) == ("who-is-ada", wanted, 3, ("*",))
    assert await index.watches.get("who-is-ada") == added
    assert [one.name for one in await index.watches.all(after="who")] == ["who-is-ada"]
    assert [one.is_first for one in await index.watches.alerts("who-is-ada")] == [True]
    await index.watches.remove("who-is-ada")
    assert await index.watches.all() == []


async def test_sources_are_added_requested_and_removed(index: Index) -> None:
    added = await index.sources.add("kettles", "https://kettles.example/", every_seconds=86_400, by="me")
    assert (added.name, added.every_seconds, added.author.endswith("me")) == ("kettles", 86_400, True)
    assert (await index.sources.request_sync("kettles", confirmed=True)).address == "https://kettles.example/"
    assert [one.name for one in await index.sources.all()] == ["kettles"]
    assert await index.sources.remove("kettles", documents=True) == 0
    assert await index.sources.all() == []


async def test_suggestions_are_decided(index: Index) -> None:
    [first] = await index.rules.suggestions(80)
    [pair] = await index.rules.reject(first.id)
    assert {one.name for one in pair} == {"Ada Lovelace", "Ada Lovelase"}
    assert await index.rules.suggestions(80) == []
    assert [one.id for one in await index.rules.suggestions(80, rejected=True)] == [first.id]
    [rule] = await index.rules.accept(str(first.id)[:8], by="me")
    assert rule.by.endswith("me")
    await index.rules.undo(rule.id)
    decided = await index.rules.decide(*pair, same=True, by="me", id=rule.id)
    assert decided
    assert (decided.id, decided.by.endswith("me")) == (rule.id, True)
    with pytest.raises(errors.RuleError, match="one entity already"):
        await index.rules.decide(*pair, same=False)
    await index.rules.undo(rule.id)
    assert await index.rules.decide(*pair, same=False) is None
    assert (await index.rules.suggest_again(*pair), await index.rules.suggest_again(*pair)) == (True, False)
    assert (await index.rules.accept(), await index.rules.reject()) == ([], [])
    assert await index.rules.accept_above(99) == []
    await index.rules.change_resolution(ResolutionSettings("fuzzy", 85))
    assert (await index.rules.resolution()) == ResolutionSettings("fuzzy", 85)


async def test_what_is_remembered_is_forgotten(index: Index) -> None:
    uri = await index.remember([Message("user", "Ada likes tea.")], by="me", source="a talk", conversation="one")
    assert uri == "memory:conversation/one"
    assert (await index.jobs.state(uri)).uri == uri
    assert await index.recall("steam engines", since=datetime(2000, 1, 1, tzinfo=UTC)) == []
    with pytest.raises(errors.InvalidArgument, match="is not a memory"):
        await index.forget(uri, "ada")
    assert (await index.forget(uri), await index.forget(uri), await index.forget()) == (1, 0, 0)


async def test_nothing_that_failed_is_queued_again(index: Index) -> None:
    assert await index.maintenance.request_retry() == 0
    assert await index.maintenance.request_retry(["ada"]) == 0


async def test_communities_money_and_the_end(index: Index) -> None:
    changes = await index.communities.find()
    assert (changes.added, changes.removed) == (0, 0)
    await index.communities.request_reports()
    budget = await index.budget.allow(price=Decimal("2.50"), tokens=1000)
    assert (budget.price_cap, budget.token_cap) == (Decimal("2.5"), 1000 + budget.tokens + budget.held_tokens)
    assert (await index.budget.allow()).price_cap is None
    assert await index.maintenance.drop() == 5
    with pytest.raises(errors.UnknownWorkspace):
        await index.status()


def test_every_call_of_a_client_is_tried_here() -> None:
    source = Path(__file__).read_text("utf-8")
    groups = {name: kind for name, kind in get_type_hints(AsyncClient).items() if not name.startswith("_")}
    public = {name for name, _ in inspect.getmembers_static(AsyncClient) if not name.startswith("_")}
    for group, kind in groups.items():
        public |= {f"{group}.{name}" for name, _ in inspect.getmembers_static(kind) if not name.startswith("_")}
    tried = {name for name in public if re.search(rf"\b(it|index|client)\.{re.escape(name)}\b", source)}
    assert sorted(public - tried - set(groups)) == ["aclose", "open"]
