"""Trueweave against a real database: every method once, threads, notebooks, interruptions, and iterators left
behind."""

import asyncio
import gc
import inspect
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from trueweave import (
    Answer,
    AsyncTrueweave,
    Chunk,
    Document,
    Event,
    Link,
    Mention,
    NamedFile,
    NameKey,
    ResolutionSettings,
    Settings,
    Source,
    Trueweave,
    TrueweaveError,
)
from trueweave.core.bench import BenchFinding, BenchMethod, BenchOutcome, BenchPassage, BenchRun, FoundPassage, Interval
from trueweave.core.model_calls import Purpose
from trueweave.engine import sync
from trueweave.errors import ConfigError, ProjectionMissing, UnknownCommunity, UnknownWorkspace, UnreadableFile
from trueweave.extend import Prompt, Reply
from trueweave.testing import HashEmbedder
from trueweave.types import AskOptions

TEXT = "Ada Lovelace worked with Charles Babbage in London."
ANSWER = 'Ada worked with Charles Babbage [1 "worked with Charles Babbage"].'


class Model:
    """Says a word at a time, and knows whether anybody still listens."""

    model = "testing/words"

    def __init__(self, text: str = ANSWER, *, pause: float = 0.0) -> None:
        self.text = text
        self.pause = pause
        self.said = 0
        self.ended = 0

    async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        return Reply(json.dumps({"low_level": ["Ada"], "high_level": ["work"]}), 10, 5)

    async def stream(self, prompt: Prompt, purpose: Purpose) -> AsyncIterator[str | Reply]:
        try:
            for word in self.text.split(" "):
                self.said += 1
                yield f"{word} "
                await asyncio.sleep(self.pause)
            yield Reply(self.text, 10, 5)
        finally:
            self.ended += 1


GROUPS = {
    "access": sync.AccessGroup,
    "history": sync.HistoryGroup,
    "vectors": sync.VectorsGroup,
    "graph": sync.GraphGroup,
    "communities": sync.CommunitiesGroup,
    "rules": sync.RulesGroup,
    "bench": sync.BenchGroup,
    "sources": sync.SourcesGroup,
    "watches": sync.WatchesGroup,
    "jobs": sync.JobsGroup,
    "budget": sync.BudgetGroup,
    "projections": sync.ProjectionsGroup,
    "certificates": sync.CertificatesGroup,
    "records": sync.RecordsGroup,
    "maintenance": sync.MaintenanceGroup,
}


def document(uri: str) -> Document:
    said = Chunk(
        f"{uri}: {TEXT}",
        mentions=(Mention("Ada Lovelace", description="a mathematician"), Mention("London")),
        links=(Link("Ada Lovelace", "Charles Babbage", "worked with", ("work",)),),
    )
    return Document(uri, (said,), metadata={"year": 1843})


def connections(url: str) -> int:
    with psycopg.connect(url) as connection:
        query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        [(found,)] = connection.execute(query).fetchall()
    return int(found)


def gone(url: str) -> bool:
    """Whether nobody is connected any more, once the server has noticed."""
    for _ in range(100):
        if connections(url) == 0:
            return True
        time.sleep(0.05)
    return False


@pytest.fixture
def opened(url: str) -> Iterator[Trueweave]:
    with Trueweave(url, "test", HashEmbedder(), llm=Model(), make=True) as trueweave:
        trueweave.add_documents([document("a"), document("b")])
        yield trueweave


def test_every_method_does_what_it_says(url: str, tmp_path: Path) -> None:
    (tmp_path / "file.md").write_text(f"# Notes\n\n{TEXT}\n")
    tried = set()

    class Watched:
        """A group whose members are noted as they are used."""

        def __init__(self, group: str, watched: object) -> None:
            self._group, self._watched = group, watched

        def __getattr__(self, name: str) -> Any:
            tried.add(f"{self._group}.{name}")
            return getattr(self._watched, name)

    class Counted(Trueweave):
        def __getattribute__(self, name: str) -> Any:
            tried.add(name)
            found = super().__getattribute__(name)
            return Watched(name, found) if name in GROUPS else found

    heard: list[Event] = []
    with Counted(
        url, "test", HashEmbedder(), llm=Model(), settings=Settings(extractor="capitals"), make=True
    ) as trueweave:
        begun = trueweave.maintenance.clock()
        assert trueweave.workspace == 1
        assert trueweave.method == "auto"
        assert trueweave.maintenance.change_settings({"max_answer_tokens": 321}).max_answer_tokens == 321
        assert (trueweave.settings.max_answer_tokens, trueweave.maintenance.own_settings) == (
            321,
            {"max_answer_tokens": 321},
        )
        assert trueweave.estimate(tmp_path).documents == 1
        assert trueweave.add(tmp_path, Source("text", TEXT), listener=heard.append).extracted == 2
        assert heard
        trueweave.plan_sync(tmp_path)
        trueweave.sync(tmp_path)
        assert trueweave.matching("text") == {"text": ["text"]}
        job = trueweave.jobs.submit(NamedFile(tmp_path / "file.md", "upload:notes"), Source("text", TEXT))
        assert (job.documents, job.waiting, job.indexed, job.state) == (2, 1, 1, "under way")
        assert trueweave.jobs.get(job.id) == trueweave.jobs.latest()[0] == job
        assert [one.state for one in trueweave.jobs.documents(job.id)] == ["indexed", "waiting"]
        assert trueweave.jobs.state("upload:notes").state == "waiting"
        assert trueweave.remove(["upload:notes"]) == 1
        memory = trueweave.remember("Ada likes tea.", by="Bob")
        assert trueweave.recall("tea") == []
        assert trueweave.forget(memory) == 1
        assert trueweave.maintenance.out_of_date() == []
        assert trueweave.projections.status() == []
        with pytest.raises(ConfigError, match="openssl"):
            trueweave.certificates.erase("never-read", file=tmp_path / "never-made.json")
        with pytest.raises(ConfigError, match="openssl"):
            trueweave.records.check(AskOptions("Who?"), tmp_path / "never-made.json")
        with pytest.raises(ConfigError, match="openssl"):
            trueweave.records.write(trueweave.ask("Who?"), AskOptions("Who?"), tmp_path / "never-made.json")
        with pytest.raises(UnreadableFile):
            trueweave.records.replay(tmp_path / "never-read.json")
        for call in ("enable", "start", "catch_up", "rebuild", "remove"):
            with pytest.raises(ConfigError, match="chroma_url"):
                getattr(trueweave.projections, call)("chroma")
        with pytest.raises(ProjectionMissing, match="project start chroma"):
            trueweave.projections.verify("chroma")
        stop = threading.Event()
        threading.Timer(0.3, stop.set).start()
        trueweave.work(stop=stop)
        done: list[int] = []
        assert trueweave.add_documents([document("a"), document("b")], done.append) == 2
        assert done == [2]
        assert trueweave.maintenance.settle() == 0
        assert {found.uri for found in trueweave.documents()} > {"a", "b", "text"}

        assert trueweave.ask("Whom did Ada work with?").citations[0].quote == "worked with Charles Babbage"
        *pieces, last = trueweave.stream("Whom did Ada work with?", "local")
        assert isinstance(last, Answer)
        assert "".join(map(str, pieces)) == last.text
        assert trueweave.retrieve("Ada", "keyword").passages
        assert len(trueweave.search("Ada", limit=2)) == 2
        assert [row.method for row in trueweave.compare("Ada", ["naive", "keyword"]).rows] == ["naive", "keyword"]

        assert trueweave.communities.hierarchy() is None
        assert trueweave.communities.find().added
        assert trueweave.communities.hierarchy()
        assert trueweave.communities.estimate_reports().current == 0
        assert (
            trueweave.communities.write_reports().reports == trueweave.communities.estimate_reports().reports
        )  # none can be read, so none is current
        [community, *_] = trueweave.communities.select()
        assert trueweave.communities.get(community.id) == community
        assert trueweave.communities.members(community.id)
        assert community.id in {one.id for one in trueweave.communities.tree().communities}
        assert (
            trueweave.communities.estimate_report(community.id).model == trueweave.communities.estimate_reports().model
        )
        with pytest.raises(UnknownCommunity):
            trueweave.communities.write_report(uuid4())
        assert trueweave.communities.report(community.id) or community.written == "small"
        assert trueweave.communities.retired(begun) == []
        trueweave.graph.export(tmp_path / "graph.json")
        assert len(trueweave.graph.to_networkx()) == trueweave.status().entities

        rule = trueweave.rules.merge(NameKey("Ada Lovelace"), NameKey("Countess"))
        assert trueweave.rules.all() == [rule]
        trueweave.rules.undo(rule.id)
        trueweave.rules.undo(trueweave.rules.split(NameKey("London")).id)
        trueweave.rules.undo(trueweave.rules.rename(NameKey("London"), "Londinium").id)
        trueweave.rules.undo(trueweave.rules.retype(NameKey("London"), "city").id)
        trueweave.rules.undo(trueweave.rules.describe(NameKey("London"), "A city.").id)
        trueweave.rules.undo(trueweave.rules.suppress(NameKey("London")).id)
        trueweave.rules.undo(trueweave.rules.add(Mention("Paris", "place", "A city.")).id)
        london, paris = NameKey("London"), NameKey("Paris")
        assert trueweave.rules.mentioned([london, paris]) == {london: (london,), paris: ()}
        assert trueweave.rules.suggestions(100) == []
        assert trueweave.rules.accept_above(100) == []
        assert (trueweave.rules.accept(), trueweave.rules.reject()) == ([], [])
        assert trueweave.rules.preview("suppress", london).entities
        assert trueweave.rules.decide(london, NameKey("Charles Babbage"), same=False) is None
        assert trueweave.rules.suggest_again(london, NameKey("Charles Babbage"))
        question = trueweave.bench.add_question("Whom did Ada work with?", [BenchPassage("a")])
        assert trueweave.bench.change_question(question.id, "Who?", question.passages).question == "Who?"
        assert [one.id for one in trueweave.bench.questions()] == [question.id]
        trueweave.bench.remove_question(question.id)
        methods = (BenchMethod("naive", {}, {"recall@5": Interval(1, 1, 1)}, 0.1, 0.2),)
        facts = (uuid4(), begun, "", "mine", True, 1, 4, "1", ("recall@5",), "recall@5")
        run = BenchRun(*facts, {}, methods, {}, (), "It finds all.")
        found = BenchFinding("naive", {"recall@5": 1.0}, 0.1, (FoundPassage(BenchPassage("a"), True),))
        outcome = BenchOutcome(0, "Who?", "", (BenchPassage("a"),), (found,))
        assert trueweave.bench.save(run, [outcome]) == trueweave.bench.run(run.id) == trueweave.bench.runs()[0]
        assert trueweave.bench.outcome(run.id, 0).found[0].passages[0].right
        assert trueweave.bench.compare(run.id, "naive", run.id, "naive").counts["both"] == 1
        trueweave.bench.remove_run(run.id)
        assert trueweave.watches.add("Who is Ada?", name="ada").name == trueweave.watches.get("ada").name
        assert [one.name for one in trueweave.watches.all()] == [one.watch for one in trueweave.watches.alerts()]
        assert trueweave.watches.check() >= 0
        trueweave.watches.remove("ada")
        source = trueweave.sources.add("git", f"git+file://{tmp_path}/nowhere", every_seconds=3600)
        with pytest.raises(TrueweaveError, match="nowhere"):
            trueweave.sources.sync("git")
        git_run = trueweave.sources.get("git").last_run
        assert git_run
        assert (source.last_run, git_run.outcome) == (None, "failed")
        assert [one.name for one in trueweave.sources.all()] == [trueweave.sources.request_sync("git").name]
        assert trueweave.sources.remove("git", documents=True) == 0
        for act in (trueweave.maintenance.estimate_reembed, trueweave.maintenance.reembed):
            with pytest.raises(ConfigError, match="nobody"):
                act("nobody/model")
        with pytest.raises(ConfigError, match="nothing to load"):
            trueweave.maintenance.bulk_load(["never-there"], tmp_path)
        trueweave.rules.change_resolution(ResolutionSettings("exact"))
        assert trueweave.rules.resolution().mode == "exact"
        trueweave.maintenance.change_space(HashEmbedder(32))

        assert trueweave.budget.allow(price=Decimal(1)).price_cap == 1
        assert trueweave.budget.get().price_cap == 1
        assert [spent.stage for spent in trueweave.budget.receipt()] == ["report"]
        assert {spent.name for spent in trueweave.budget.receipt_by_day()} == {"report"}
        assert trueweave.budget.receipt_by_document() == []
        assert trueweave.maintenance.ingest_progress(begun).waiting == 0
        assert trueweave.maintenance.notes(begun) == []
        assert len(trueweave.list_documents(limit=2)) == 2
        assert trueweave.count_documents() == 4
        assert trueweave.maintenance.failed_documents() == []
        assert trueweave.maintenance.failed_work() == []
        assert trueweave.maintenance.retry() == trueweave.maintenance.request_retry() == 0
        trueweave.communities.request_reports()
        assert trueweave.maintenance.activity().failed == 0
        assert trueweave.maintenance.models().extractor == "capitals"
        assert trueweave.maintenance.checks()
        assert trueweave.maintenance.duplicates(begun) == []

        trueweave.vectors.drop()
        assert trueweave.vectors.estimate().texts > 0
        trueweave.vectors.make()
        assert trueweave.access.set("none/**", ["hr"]) == 0
        assert [rule.prefix for rule in trueweave.access.all()] == ["none/"]
        assert trueweave.access.remove("none/") == 0
        assert trueweave.acting_as([]).status() == trueweave.status()

        assert trueweave.status().documents == 4
        [ada, *_] = [entity for entity in trueweave.graph.entities() if entity.name == "Ada Lovelace"]
        [relation, *_] = trueweave.graph.relations(ada.id)
        assert relation.description
        assert trueweave.graph.relation(relation.id) == relation
        assert trueweave.graph.statements(relation.id)
        assert len(trueweave.graph.relation_passages(relation.id)[relation.id]) == 1
        assert trueweave.graph.mentions(ada.id)
        assert trueweave.graph.mention_counts(ada.id).mentions
        assert trueweave.graph.neighbours(ada.id)
        assert trueweave.graph.entity("Ada Lovelace").entity == ada
        assert trueweave.graph.search_entities("Ada Lovelace").items
        assert trueweave.graph.search_relations("Ada Lovelace").items
        assert trueweave.graph.path(ada.id, trueweave.graph.neighbours(ada.id)[0].id)
        assert trueweave.graph.picture(ada.id).entities
        assert trueweave.graph.subgraph([ada.id]).nodes[0].name == "Ada Lovelace"
        assert len(trueweave.graph.around(ada.id).nodes) > 1
        assert trueweave.graph.types().entities
        assert trueweave.graph.conflicts() == []
        assert trueweave.graph.map()
        assert trueweave.graph.complete("ada l")[0].name == "Ada Lovelace"
        assert trueweave.document("a").uri == trueweave.document_outline("a").uri == "a"
        assert {one.name for one in trueweave.document_mentions("text")} >= {"Ada Lovelace"}
        assert trueweave.passages(trueweave.document("a").passages[0].id)
        assert "keyword" in {one.name for one in trueweave.methods() if one.usable}
        assert trueweave.try_extract(Source("text", TEXT)).chunk.text
        assert trueweave.conversation().ask("Whom did Ada work with?").text
        vector = asyncio.run(HashEmbedder(32).embed([TEXT], "document"))[0]
        assert len(trueweave.graph.nearest("chunk", vector, 2)) == 2
        assert trueweave.graph.changes(limit=3)
        state = trueweave.maintenance.state()
        assert trueweave.maintenance.state() == state

        assert trueweave.history.keep(days=3).settings is not None
        with trueweave.as_of(datetime.now(UTC)) as past:
            assert past.status().documents == trueweave.status().documents
        uri = trueweave.list_documents(1)[0].uri
        assert len(trueweave.history.versions(uri)) == 1
        assert trueweave.history.status().versions == 0
        assert trueweave.history.diff(datetime.now(UTC)).is_empty
        assert trueweave.history.diff_from("test").is_empty
        assert trueweave.history.end().settings is None
        with trueweave.rebuilt() as beside:
            assert beside.maintenance.digest() == trueweave.maintenance.digest()
            assert beside.workspace != trueweave.workspace
            beside.close()  # which is not for it to close
        assert trueweave.maintenance.verify().exact
        assert trueweave.switch_off(["a"]) == 1
        assert trueweave.switch_on(["a"]) == 1
        assert trueweave.remove(["a"]) == 1
        assert trueweave.maintenance.state() != state
        assert trueweave.maintenance.sweep().names == 0
        assert trueweave.migrate(url) == []
        trueweave.maintenance.drop()
        trueweave.close()
    surface = {name for name, _ in inspect.getmembers_static(Trueweave) if not name.startswith("_")}
    for group, of in GROUPS.items():
        members = inspect.getmembers_static(of)
        surface |= {f"{group}.{name}" for name, _ in members if not name.startswith("_")}
    assert surface - tried == set()


def test_a_workspace_that_must_be_there_is_an_error(url: str) -> None:
    with pytest.raises(UnknownWorkspace), Trueweave(url, "nowhere", make=False):
        pass
    assert gone(url)


def test_it_works_without_with_and_is_let_go_with_the_last_reference(url: str) -> None:
    trueweave = Trueweave(url, "test", make=True)
    assert trueweave.status().documents == 0
    assert connections(url) > 0
    del trueweave
    gc.collect()
    assert gone(url)


async def test_it_works_inside_a_running_loop(url: str) -> None:
    with Trueweave(url, "test", HashEmbedder(), make=True) as trueweave:
        trueweave.add_documents([document("a")])
        assert trueweave.retrieve("Ada").passages


def test_threads_may_share_it(opened: Trueweave) -> None:
    def ask(n: int) -> tuple[str, int]:
        opened.add_documents([document(f"thread {n}")])
        return opened.ask("Whom did Ada work with?").text, opened.status().documents

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(ask, range(16)))
    assert {text for text, _ in found} == {"Ada worked with Charles Babbage [1]."}
    assert opened.status().documents == 18


def test_two_that_open_at_once_open_it_once(url: str) -> None:
    trueweave = Trueweave(url, "test", HashEmbedder(), make=True)
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: trueweave.workspace, range(8))) == {1}
    assert [thread.name for thread in threading.enumerate()].count("trueweave") == 1
    trueweave.close()


def test_errors_are_raised_where_the_call_is(opened: Trueweave) -> None:
    with pytest.raises(TrueweaveError, match="there is no method 'magic'"):
        opened.retrieve("Ada", "magic")
    with pytest.raises(TrueweaveError, match="there is no method 'magic'"):
        next(opened.stream("Ada", "magic"))


def test_a_listener_that_calls_back_is_told_that_it_cannot(url: str) -> None:
    with Trueweave(url, "test", settings=Settings(extractor="capitals"), make=True) as trueweave:

        def call_back(_: Event) -> None:
            trueweave.status()

        with pytest.raises(TrueweaveError, match="a listener cannot call the Trueweave that it listens to"):
            trueweave.add(Source("a", TEXT), listener=call_back)
        assert trueweave.add(Source("a", TEXT)).unchanged + trueweave.status().documents > 0


def test_documents_of_one_can_be_added_to_another(url: str, opened: Trueweave) -> None:
    with Trueweave(url, "copy", HashEmbedder(), make=True) as copy:
        assert copy.add_documents(opened.documents()) == 2
        assert copy.maintenance.digest() == opened.maintenance.digest()


# --- iterators left behind ----------------------------------------------------------------------------


def test_an_abandoned_stream_ends_the_model_s_call(url: str) -> None:
    model = Model("[1] " + "word " * 1000, pause=0.001)
    with Trueweave(url, "test", HashEmbedder(), llm=model, make=True) as trueweave:
        trueweave.add_documents([document("a")])
        for piece in trueweave.stream("Whom did Ada work with?"):
            assert isinstance(piece, str)
            break
        gc.collect()
        assert model.ended == 1
        assert model.said < 100
        ignore = trueweave.stream("Whom did Ada work with?")
        del ignore  # nothing was asked
        assert trueweave.status().documents == 1
    assert model.ended == 1


def test_a_stream_that_outlives_its_trueweave_is_over(url: str) -> None:
    model = Model("[1] " + "word " * 1000, pause=0.001)
    with Trueweave(url, "test", HashEmbedder(), llm=model, make=True) as trueweave:
        trueweave.add_documents([document("a")])
        pieces = trueweave.stream("Whom did Ada work with?")
        next(pieces)
    assert model.ended == 1
    with pytest.raises(TrueweaveError, match="is closed"):
        next(pieces)


def test_documents_may_be_left_half_read(opened: Trueweave, url: str) -> None:
    opened.add_documents(document(str(n)) for n in range(300))
    for _ in range(30):  # more often than there are connections
        next(iter(opened.documents()))
    assert opened.status().documents == 302


# --- interruptions ------------------------------------------------------------------------------------


def test_ctrl_c_stops_a_question_and_the_next_one_is_answered(url: str) -> None:
    model = Model("[1] " + "word " * 10_000, pause=0.001)

    def interrupt() -> None:
        while not model.said:
            time.sleep(0.01)
        signal.pthread_kill(main, signal.SIGINT)

    main = threading.get_ident()
    with Trueweave(url, "test", HashEmbedder(), llm=model, make=True) as trueweave:
        trueweave.add_documents([document("a")])
        threading.Thread(target=interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            trueweave.ask("Whom did Ada work with?")
        assert model.ended == 1
        model.text, model.pause = ANSWER, 0.0
        assert trueweave.ask("Whom did Ada work with?").known


PROGRAM = """
import sys
from trueweave import Trueweave

with Trueweave(sys.argv[1], "test", make=True) as trueweave:
    print("open", flush=True)
    trueweave.work()
"""


def test_a_program_that_works_is_ended_by_ctrl_c(url: str, tmp_path: Path) -> None:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("TRUEWEAVE_")}
    command = (sys.executable, "-c", PROGRAM, url)
    with subprocess.Popen(command, cwd=tmp_path, env=clean, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        assert program.stdout
        assert program.stdout.readline() == b"open\n"
        time.sleep(0.5)
        program.send_signal(signal.SIGINT)
        try:
            _, told = program.communicate(timeout=30)
        finally:
            program.kill()  # lest a program that ignores Ctrl-C is waited for without end
    assert told.decode().splitlines()[-1] == "KeyboardInterrupt"
    assert b"never" not in told
    assert gone(url)


def test_async_trueweave_and_trueweave_see_the_same(opened: Trueweave, url: str) -> None:
    async def digest() -> str:
        async with AsyncTrueweave.open(url, "test", HashEmbedder(), make=True) as trueweave:
            return await trueweave.maintenance.digest()

    assert asyncio.run(digest()) == opened.maintenance.digest()
