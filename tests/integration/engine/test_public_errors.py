"""Errors of psycopg, its pool and HTTP never leave the public API: a caller catches TrueweaveError and has all."""

import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_type_hints
from uuid import uuid4

import httpx2
import numpy as np
import psycopg
import pytest
from openai import OpenAIError

from tests.integration.ingest.test_database_unavailable import Failing, opened
from trueweave import (
    AsyncTrueweave,
    Chunk,
    Document,
    Mention,
    NameKey,
    ResolutionSettings,
    Settings,
    Source,
    TrueweaveError,
)
from trueweave.core.bench import BenchPassage, BenchRun
from trueweave.errors import DatabaseError, DatabaseUnavailable, ModelUnavailable
from trueweave.extend import Database
from trueweave.store.postgres.connections import Timeouts
from trueweave.testing import Databases, HashEmbedder

NAME = NameKey("Ada")
NOWHERE = "http://127.0.0.1:9/v1"  # nobody listens at the port of discard
MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
RUN = BenchRun(uuid4(), MOMENT, "", "mine", True, 0, 0, "1", ("recall@5",), "recall@5", {}, (), {}, (), "")
# What waits for a database that is away, as it says; what asks a model first; what opens a database, or needs none.
WAITING = {"add", "sync", "work", "jobs.submit", "communities.write_reports", "maintenance.retry"} | {
    f"maintenance.{name}" for name in ("clean_up", "ingest_progress", "sweep")
}
MODEL_FIRST = {"estimate_reembed", "reembed"}
APART = {
    "aclose",
    "acting_as",
    "conversation",
    "database",
    "enter",
    "has_model",
    "method",
    "migrate",
    "model_and_prompts",
    "open",
    "settings",
    "workspace",
}
APART |= {
    "graph.projection",
    "maintenance.models",
    "maintenance.own_settings",
    "worker_dependencies",
    "source_runs",
    "watch_runs",
}
APART |= {"records.check", "records.write", "records.replay"}  # they need a key, or a record, first

Call = Callable[[AsyncTrueweave], Any]
CALLS: dict[str, Call] = {
    "access_set": lambda it: it.access.set("a/", ["hr"]),
    "access_all": lambda it: it.access.all(),
    "access_remove": lambda it: it.access.remove("a/"),
    "history_keep": lambda it: it.history.keep(),
    "history_end": lambda it: it.history.end(),
    "history_status": lambda it: it.history.status(),
    "history_diff": lambda it: it.history.diff(datetime.now(UTC)),
    "history_diff_from": lambda it: it.history.diff_from("test"),
    "history_versions": lambda it: it.history.versions("a"),
    "accept": lambda it: it.rules.accept(uuid4()),
    "accept_above": lambda it: it.rules.accept_above(90),
    "add_documents": lambda it: it.add_documents([]),
    "allow": lambda it: it.budget.allow(tokens=1),
    "for_run": lambda it: it.budget.for_run(tokens=1),
    "ask": lambda it: it.ask("Who?"),
    "bench_runs": lambda it: it.bench.runs(),
    "bench_run": lambda it: it.bench.run(uuid4()),
    "bench_save": lambda it: it.bench.save(RUN, []),
    "bench_remove_run": lambda it: it.bench.remove_run(uuid4()),
    "bench_outcome": lambda it: it.bench.outcome(uuid4(), 0),
    "bench_compare": lambda it: it.bench.compare(uuid4(), "naive", uuid4(), "naive"),
    "bench_questions": lambda it: it.bench.questions(),
    "bench_add_question": lambda it: it.bench.add_question("Who?", [BenchPassage("a")]),
    "bench_change_question": lambda it: it.bench.change_question(uuid4(), "Who?", [BenchPassage("a")]),
    "bench_remove_question": lambda it: it.bench.remove_question(uuid4()),
    "sources_add": lambda it: it.sources.add("a", "https://example.org/"),
    "sources_all": lambda it: it.sources.all(),
    "sources_get": lambda it: it.sources.get("a"),
    "sources_sync": lambda it: it.sources.sync("a"),
    "sources_request_sync": lambda it: it.sources.request_sync("a"),
    "sources_remove": lambda it: it.sources.remove("a"),
    "budget": lambda it: it.budget.get(),
    "change_resolution": lambda it: it.rules.change_resolution(ResolutionSettings("off", 90, "name")),
    "change_settings": lambda it: it.maintenance.change_settings({"model": "openai/other"}),
    "change_space": lambda it: it.maintenance.change_space(HashEmbedder(8)),
    "add_fact": lambda it: it.rules.add(Mention("Ada")),
    "changes": lambda it: it.graph.changes(),
    "bulk_load": lambda it: it.maintenance.bulk_load(["never-read"], Path("never-made")),
    "checks": lambda it: it.maintenance.checks(),
    "clock": lambda it: it.maintenance.clock(),
    "communities": lambda it: it.communities.select(),
    "community": lambda it: it.communities.get(uuid4()),
    "community_tree": lambda it: it.communities.tree(),
    "estimate_report": lambda it: it.communities.estimate_report(uuid4()),
    "write_report": lambda it: it.communities.write_report(uuid4()),
    "compare": lambda it: it.compare("Who?", ["naive"]),
    "describe": lambda it: it.rules.describe(NAME, "A countess."),
    "digest": lambda it: it.maintenance.digest(),
    "document": lambda it: it.document("a"),
    "documents": lambda it: it.documents().asend(None),
    "drop": lambda it: it.maintenance.drop(),
    "duplicates": lambda it: it.maintenance.duplicates(MOMENT),
    "entities": lambda it: it.graph.entities(),
    "entity": lambda it: it.graph.entity("Ada"),
    "estimate": lambda it: it.estimate(Source("a", "Ada")),
    "estimate_reembed": lambda it: it.maintenance.estimate_reembed("openai/other"),
    "estimate_reports": lambda it: it.communities.estimate_reports(),
    "export_graph": lambda it: it.graph.export(Path("never-written.json")),
    "to_networkx": lambda it: it.graph.to_networkx(),
    "failed_documents": lambda it: it.maintenance.failed_documents(),
    "failed_work": lambda it: it.maintenance.failed_work(),
    "find_communities": lambda it: it.communities.find(),
    "hierarchy": lambda it: it.communities.hierarchy(),
    "job": lambda it: it.jobs.get(uuid4()),
    "job_documents": lambda it: it.jobs.documents(uuid4()),
    "jobs": lambda it: it.jobs.latest(),
    "job_state": lambda it: it.jobs.state("a"),
    "document_outline": lambda it: it.document_outline("a"),
    "document_mentions": lambda it: it.document_mentions("a"),
    "passages": lambda it: it.passages(uuid4()),
    "count_documents": lambda it: it.count_documents(),
    "methods": lambda it: it.methods(),
    "subgraph": lambda it: it.graph.subgraph([uuid4()]),
    "around": lambda it: it.graph.around(uuid4()),
    "types": lambda it: it.graph.types(),
    "map": lambda it: it.graph.map(),
    "mentions": lambda it: it.graph.mentions(uuid4()),
    "mention_counts": lambda it: it.graph.mention_counts(uuid4()),
    "relation": lambda it: it.graph.relation(uuid4()),
    "statements": lambda it: it.graph.statements(uuid4()),
    "conflicts": lambda it: it.graph.conflicts(),
    "relation_passages": lambda it: it.graph.relation_passages(uuid4()),
    "complete": lambda it: it.graph.complete("a"),
    "activity": lambda it: it.maintenance.activity(),
    "request_retry": lambda it: it.maintenance.request_retry(),
    "list_documents": lambda it: it.list_documents(),
    "matching": lambda it: it.matching("a"),
    "certificates_erase": lambda it: it.certificates.erase("never-read", file=Path("never-made")),
    "watches_add": lambda it: it.watches.add("Who?"),
    "watches_all": lambda it: it.watches.all(),
    "watches_get": lambda it: it.watches.get("a"),
    "watches_remove": lambda it: it.watches.remove("a"),
    "watches_alerts": lambda it: it.watches.alerts(),
    "watches_check": lambda it: it.watches.check(),
    "projections_catch_up": lambda it: it.projections.catch_up("chroma"),
    "projections_enable": lambda it: it.projections.enable("chroma"),
    "projections_rebuild": lambda it: it.projections.rebuild("chroma"),
    "projections_remove": lambda it: it.projections.remove("chroma"),
    "projections_start": lambda it: it.projections.start("chroma"),
    "projections_status": lambda it: it.projections.status(),
    "projections_verify": lambda it: it.projections.verify("chroma"),
    "members": lambda it: it.communities.members(uuid4()),
    "mentioned": lambda it: it.rules.mentioned([NAME]),
    "merge": lambda it: it.rules.merge(NAME, NameKey("Ada Lovelace")),
    "nearest": lambda it: it.graph.nearest("chunk", np.ones((1, 64), np.float32)),
    "neighbours": lambda it: it.graph.neighbours(uuid4()),
    "notes": lambda it: it.maintenance.notes(MOMENT),
    "out_of_date": lambda it: it.maintenance.out_of_date(),
    "path": lambda it: it.graph.path(uuid4(), uuid4()),
    "picture": lambda it: it.graph.picture(uuid4()),
    "plan_sync": lambda it: it.plan_sync("."),
    "varied": lambda it: it.varied({}),
    "estimate_varied": lambda it: it.estimate_varied({}),
    "rebuilt": lambda it: it.rebuilt(),
    "as_of": lambda it: it.as_of(datetime.now(UTC)),
    "receipt": lambda it: it.budget.receipt(),
    "receipt_by_day": lambda it: it.budget.receipt_by_day(),
    "receipt_by_document": lambda it: it.budget.receipt_by_document(),
    "reembed": lambda it: it.maintenance.reembed("openai/other"),
    "reject": lambda it: it.rules.reject(uuid4()),
    "relations": lambda it: it.graph.relations(uuid4()),
    "remember": lambda it: it.remember("Ada"),
    "recall": lambda it: it.recall("Who?"),
    "forget": lambda it: it.forget("memory:a"),
    "remove": lambda it: it.remove(["a"]),
    "switch_off": lambda it: it.switch_off(["a"]),
    "switch_on": lambda it: it.switch_on(["a"]),
    "rename": lambda it: it.rules.rename(NAME, "Countess"),
    "report": lambda it: it.communities.report(uuid4()),
    "request_reports": lambda it: it.communities.request_reports(),
    "resolution": lambda it: it.rules.resolution(),
    "retype": lambda it: it.rules.retype(NAME, "person"),
    "retired_communities": lambda it: it.communities.retired(MOMENT),
    "retrieve": lambda it: it.retrieve("Who?", "naive"),
    "rules": lambda it: it.rules.all(),
    "search": lambda it: it.search("Who?"),
    "search_entities": lambda it: it.graph.search_entities("Ada"),
    "search_relations": lambda it: it.graph.search_relations("Ada"),
    "settle": lambda it: it.maintenance.settle(),
    "split": lambda it: it.rules.split(NAME),
    "state": lambda it: it.maintenance.state(),
    "status": lambda it: it.status(),
    "stream": lambda it: it.stream("Who?").asend(None),
    "suppress": lambda it: it.rules.suppress(NAME),
    "suggestions": lambda it: it.rules.suggestions(),
    "decide": lambda it: it.rules.decide(NAME, NameKey("Ada Lovelace"), same=True),
    "suggest_again": lambda it: it.rules.suggest_again(NAME, NameKey("Ada Lovelace")),
    "preview": lambda it: it.rules.preview("suppress", NAME),
    "try_extract": lambda it: it.try_extract(Source("a", "Ada met Charles.")),
    "undo": lambda it: it.rules.undo(uuid4()),
    "verify": lambda it: it.maintenance.verify(),
    "vectors_make": lambda it: it.vectors.make(),
    "vectors_drop": lambda it: it.vectors.drop(),
    "vectors_estimate": lambda it: it.vectors.estimate(),
}


class Recorder:
    """Stands in for a workspace, and notes which methods are called on it and on its groups."""

    def __init__(self, called: set[str], path: tuple[str, ...] = ()) -> None:
        self._called = called
        self._path = path

    def __getattr__(self, name: str) -> "Recorder":
        return Recorder(self._called, (*self._path, name))

    def __call__(self, *_: object, **__: object) -> "Recorder":
        self._called.add(".".join(self._path))
        return self


def test_every_public_method_is_tried_here() -> None:
    groups = {name: kind for name, kind in get_type_hints(AsyncTrueweave).items() if not name.startswith("_")}
    public = {name for name, _ in inspect.getmembers(AsyncTrueweave) if not name.startswith("_")}
    for group, kind in groups.items():
        public |= {f"{group}.{name}" for name, _ in inspect.getmembers(kind) if not name.startswith("_")}
    called: set[str] = set()
    for call in CALLS.values():
        call(Recorder(called))  # type: ignore[arg-type]
    assert sorted(public - called - groups.keys() - WAITING - APART) == [], "public methods that no test drives"


async def carry_out(call: Call, trueweave: AsyncTrueweave) -> None:
    made = call(trueweave)
    if isinstance(made, AbstractAsyncContextManager):
        async with made:
            return
    await made


@pytest.fixture(autouse=True)
def _in_a_folder_that_stays_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    yield
    assert list(tmp_path.iterdir()) == [], "what fails leaves no file"


@pytest.fixture(scope="module")
async def failing_for_all(databases: Databases) -> AsyncIterator[tuple[Failing, AsyncTrueweave]]:
    broken, url = Failing(), databases.make()
    async with opened(url, broken) as database:
        settings = Settings(
            model="openai/any",
            model_url=NOWHERE,
            embedding_url=NOWHERE,
            model_tries=1,
            chroma_url="http://127.0.0.1:1",
            functional_relations={"born in": "one target"},
        )
        trueweave = await AsyncTrueweave.enter(database, "test", HashEmbedder(), settings=settings)
        yield broken, trueweave
        await trueweave.aclose()
    databases.drop(url)


@pytest.fixture
def failing(failing_for_all: tuple[Failing, AsyncTrueweave]) -> Iterator[tuple[Failing, AsyncTrueweave]]:
    """An index whose statements fail; one for all tests, as none of them gets anything done."""
    yield failing_for_all
    failing_for_all[0].error = None


@pytest.mark.parametrize("name", [name for name in CALLS if name not in MODEL_FIRST])
async def test_a_database_that_is_away_is_an_error_of_ours(failing: tuple[Failing, AsyncTrueweave], name: str) -> None:
    broken, trueweave = failing
    broken.error = psycopg.errors.DiskFull("no space left on device")  # which is not waited for
    with pytest.raises(DatabaseError) as raised:
        await carry_out(CALLS[name], trueweave)
    assert "no space left" in str(raised.value)
    assert isinstance(raised.value.__cause__, psycopg.Error)


async def test_a_connection_that_breaks_is_database_unavailable(failing: tuple[Failing, AsyncTrueweave]) -> None:
    broken, trueweave = failing
    broken.error = psycopg.OperationalError("server closed the connection unexpectedly")
    with pytest.raises(DatabaseUnavailable, match=r"server closed the connection.*Try again when it is back"):
        await trueweave.status()


async def test_a_statement_that_is_refused_is_database_error(failing: tuple[Failing, AsyncTrueweave]) -> None:
    broken, trueweave = failing
    broken.error = psycopg.errors.UndefinedTable('relation "entity" does not exist')
    with pytest.raises(DatabaseError, match=r'refused a statement: relation "entity" does not exist.*report it'):
        await trueweave.graph.entities()


async def test_a_pool_without_a_connection_to_spare_is_database_unavailable(url: str) -> None:
    async with Database(url, connections=1, timeouts=Timeouts()) as database:
        trueweave = await AsyncTrueweave.enter(database, "test", HashEmbedder())
        database._pool.timeout = 0.1
        async with database._lent():
            with pytest.raises(DatabaseUnavailable, match="the database is unavailable"):
                await trueweave.status()


async def test_a_database_that_nobody_serves_is_an_error_of_ours() -> None:
    settings = Settings(database_url="postgresql://nobody@127.0.0.1:9/none", workspace="test")
    with pytest.raises(DatabaseError, match=r"127\.0\.0\.1:9/none"):
        async with AsyncTrueweave.open(settings=settings):
            pass
    with pytest.raises(DatabaseError, match=r"127\.0\.0\.1:9/none"):
        await AsyncTrueweave.migrate(settings=settings)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("ask", {"model": "openai/any", "model_url": NOWHERE}),
        ("ask", {"model": "ollama/any", "model_url": NOWHERE.removesuffix("/v1")}),
        ("stream", {"model": "openai/any", "model_url": NOWHERE}),
        ("retrieve", {"embedding_model": "openai/any", "embedding_url": NOWHERE}),
        ("reembed", {"embedding_model": "openai/other", "embedding_url": NOWHERE}),
    ],
)
async def test_a_model_server_that_is_away_is_an_error_of_ours(
    database: Database, name: str, settings: dict[str, str]
) -> None:
    made = Settings(model_tries=1, deadline=2, **settings)  # type: ignore[arg-type]
    embedder = None if "embedding_model" in settings else HashEmbedder()
    before = await AsyncTrueweave.enter(database, "test", HashEmbedder())
    await before.add_documents([Document("a.md", (Chunk("Ada wrote Note G. Who?"),))])
    trueweave = await AsyncTrueweave.enter(database, "test", embedder, settings=made)
    try:
        with pytest.raises(TrueweaveError) as raised:
            await carry_out(CALLS[name], trueweave)
        assert isinstance(raised.value, ModelUnavailable)
        assert not isinstance(raised.value, httpx2.HTTPError | OpenAIError)
    finally:
        await trueweave.aclose()
