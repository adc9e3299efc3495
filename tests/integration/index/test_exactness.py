"""The law of the index: whatever happened, it equals one built from scratch from what is there now.

Random histories of inserts, updates, deletes, batch deletes, documents switched off and on, rules about names and
facts, accepted suggestions, changes of resolution and of model, of communities found in between, by one or two writers
at once, with connections that break between any two statements. In one history of ten a writer loads documents in bulk,
and in one of ten the workspace is moved to another server and back. After each the digest must equal that of a fresh
build from the surviving documents that are on, stored in another order and in other batches; and every write that was
acknowledged must be there, unless a later one took its place. Where history is kept, so must the digest of each past.
"""

import asyncio
import random
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import OperationalError

from tests.conftest import FULL
from tests.oracle import assert_view_is_right
from trueweave import AsyncTrueweave, Chunk, Document, Link, Mention, NameKey, ResolutionSettings, Rule, Settings
from trueweave.bulk.flows import LocalFlow
from trueweave.bulk.run import bulk_load
from trueweave.engine.model_settings import recipe
from trueweave.engine.workspace_models import models_of_load
from trueweave.errors import (
    ConfigError,
    DatabaseError,
    DatabaseUnavailable,
    RuleError,
    UnknownWorkspace,
    WorkspaceLoading,
)
from trueweave.extend import Database
from trueweave.graph.contribution import contribution
from trueweave.ingest.extract import preannotated
from trueweave.ingest.own import Given
from trueweave.store.postgres import bulk
from trueweave.store.postgres.cluster import moving
from trueweave.store.postgres.cluster.joining import join_servers, weigh_server
from trueweave.store.postgres.cluster.moving import OwnerAddress, move_workspace
from trueweave.store.postgres.cluster.servers import Servers
from trueweave.store.postgres.queue import leases
from trueweave.store.postgres.record import record, resolution, suggestions
from trueweave.store.postgres.view import digest
from trueweave.testing import Databases, Faults, HashEmbedder

HISTORIES = 5000 if FULL else 30
PARTS = 2 if FULL else 1  # so that `pytest -n 2` runs them at the same time
TRIES = 100  # of a step that meets a move, a load or a crash

# Chains in which each name is alike to the next, and the ends are not alike: taking one away splits a cluster, bringing
# it back bridges two. Digits that must keep names apart; spellings that normalise to the same; homonyms by type.
NAMES = (
    *("Marten Aldous", "Marten Aldouse", "Martena Aldouse", "Martena Baldouse", "Martenas Baldouse"),
    *("Zürich", "Zurich", "ZURICH", "Zuerich"),
    *("Q3 2023 report", "Q4 2023 report", "q3 2023 report", "Q3 2023 reports"),
    *("Ada", "Ida", "ada"),
    *("northern line", "northern lines", "southern line", "Ada Marten"),
    *("東京", "Dong Jing", "%", "\\ \"{}'"),
    *("長江", "長江大橋", "กรุงเทพ", "Москва", "Straße", "STRASSE"),
    *("Acme Inc.", "ACME, Inc", "Acme", "Acmes", "Acme-Marten", "Acme Marten GmbH"),
)
TYPES = ("", "person", "Person", "place")

names = st.builds(NameKey, st.sampled_from(NAMES), st.sampled_from(TYPES))
descriptions = st.sampled_from(("", *(f"thing {n}" for n in range(12))))  # more than are kept
keywords = st.lists(st.sampled_from(("k", "K", "l", "m")), max_size=2).map(tuple)
labels = st.sampled_from(("Label", "Other label"))
strengths = st.sampled_from((1, 5, 10, 0.1, 0.25, 1234.567))
# Texts that spell names which other documents bring and take away, one inside another too.
spelt = st.lists(st.sampled_from((*NAMES, "Northern Line", "Ada Marten Aldous", "and")), min_size=1, max_size=4)
# Each of them is told by its words or letters, stemmed or cut into pairs of characters, and counted by its language.
LANGUAGES = (
    "Die alten Häuser am Fluss wurden nach dem Hochwasser nicht wieder aufgebaut.",
    "Инженеры построили новые мосты в городе, и это был первый из них.",
    "工程师在长江上修建了一座新的大桥,洪水之后又重建了学校。",
    "東京の技術者は川に新しい橋を建設しました。",
    "วิศวกรสร้างสะพานใหม่ข้ามแม่น้ำในกรุงเทพ",
)
texts = st.one_of(
    st.sampled_from(("alpha beta", "gamma", "delta epsilon", "")),
    spelt.map(" ".join),
    spelt.map("".join),  # names without spaces around them
    st.sampled_from(LANGUAGES),
    st.lists(st.sampled_from(LANGUAGES), min_size=2, max_size=2, unique=True).map("\n".join),
)


@st.composite
def mentions(draw: st.DrawFn) -> Mention:
    name = draw(names)
    return Mention(name.name, name.type, draw(descriptions), draw(st.integers(1, 9)))


@st.composite
def links(draw: st.DrawFn) -> Link:
    a, b = draw(names), draw(names)
    said = draw(descriptions), draw(keywords), draw(strengths), draw(st.integers(1, 9))
    return Link(a.name, b.name, *said, source_type=a.type, target_type=b.type)


chunks = st.builds(
    Chunk, texts, mentions=st.lists(mentions(), max_size=4).map(tuple), links=st.lists(links(), max_size=2).map(tuple)
)
uris = st.sampled_from([f"doc:{n}" for n in range(6)])
titles = st.sampled_from(("", "DOC", "Ada", "Zürich", "Q3 2023 report"))
# A language that is given goes before the one that the text tells; without one there is no such key.
metadata = st.sampled_from(({}, {}, {"language": "de"}, {"language": "russian"}, {"language": "Klingon"}))
documents = st.builds(
    lambda uri, parts, title, metadata: Document(uri, tuple(parts), title=title, metadata=metadata),
    uris,
    st.lists(chunks, min_size=1, max_size=2),
    titles,
    metadata,
)


@dataclass(frozen=True)
class Step:
    """One thing that somebody does; `settled` says whether the view is brought up to date right after."""

    verb: str
    what: Any
    settled: bool = True
    crash: int | None = None


def steps(verb: str, what: st.SearchStrategy[Any]) -> st.SearchStrategy[Step]:
    crash = st.none() | st.integers(0, 140)
    return st.builds(Step, st.just(verb), what, st.booleans(), crash)


step = st.one_of(
    steps("store", st.lists(documents, min_size=1, max_size=3)),
    steps("store", st.lists(documents, min_size=1, max_size=3)),
    steps("remove", st.lists(uris, min_size=1, max_size=1)),
    steps("remove", st.lists(uris, min_size=2, max_size=4)),
    steps("erase", st.lists(uris, min_size=1, max_size=2)),
    steps("off", st.lists(uris, min_size=1, max_size=4)),
    steps("on", st.lists(uris, min_size=1, max_size=4)),
    steps("merge", st.lists(names, min_size=2, max_size=3, unique=True)),
    steps("split", st.lists(names, min_size=1, max_size=2, unique=True)),
    steps("rename", st.tuples(names, st.none(), labels)),
    steps("retype", st.tuples(names, st.none() | names, labels)),
    steps("describe", st.tuples(names, st.none() | names, labels)),
    steps("suppress", st.tuples(names, st.none() | names, st.just(""))),
    steps("suppress", st.tuples(names, st.none() | names, st.just(""))),
    steps("accept", st.integers(0, 10)),
    steps("undo", st.integers(0, 10)),
    steps(
        "resolve",
        st.builds(
            ResolutionSettings,
            st.sampled_from(("fuzzy", "exact", "off")),
            st.sampled_from((70, 80, 85, 90, 95, 100)),
            st.sampled_from(("name", "name_and_type")),
        ),
    ),
    steps("sweep", st.none()),
    steps("group", st.none()),
    steps("embed", st.sampled_from((8, 16))),
)
history = st.lists(step, min_size=1, max_size=8)
# A change of model leaves other processes without the right embedder, so that is left to those who work alone.
shared = st.lists(step.filter(lambda s: s.verb != "embed"), min_size=1, max_size=6)
plain = st.one_of(history.map(lambda one: [one]), st.lists(shared, min_size=2, max_size=2))

load = steps("load", st.lists(documents, min_size=1, max_size=6))
move = steps("move", st.sampled_from(("east", "home")))


def among(special: st.SearchStrategy[Step], others: st.SearchStrategy[list[Step]]) -> st.SearchStrategy[list[Step]]:
    """A history in which this happens once."""
    return st.tuples(others, special, others).map(lambda parts: [*parts[0][-4:], parts[1], *parts[2][-3:]])


# Beside a load, or a move, another writer may be at work, and may move the workspace at that very time.
loaded = st.one_of(
    among(load, history).map(lambda one: [one]),
    st.tuples(among(load, shared), shared | among(move, shared)).map(list),
)
moved = st.one_of(
    among(move, history).map(lambda one: [one]),
    st.tuples(among(move, shared), shared | among(move, shared)).map(list),
)


@dataclass
class Writer:
    """Somebody with a connection pool of their own, whose connections may break, and what was acknowledged to them:
    the last version of each document (None if it was removed), rules, and the last resolution."""

    database: Database
    name: str
    faults: Faults
    folder: Path
    servers: Mapping[str, OwnerAddress]
    embedder: HashEmbedder = field(default_factory=lambda: HashEmbedder(16))
    rules: list[UUID] = field(default_factory=list)
    undone: set[UUID] = field(default_factory=set)
    documents: dict[str, UUID | None] = field(default_factory=dict)
    off: set[str] = field(default_factory=set)
    resolution: ResolutionSettings | None = None
    has_accepted: bool = False

    async def open(self) -> None:
        """Open the workspace; again after a load."""
        self.trueweave = await AsyncTrueweave.enter(self.database, self.name, self.embedder)

    async def take(self, step: Step) -> None:
        """Do the step. If the connection breaks, the workspace is being moved or was replaced, do it again, not knowing
        whether it was done."""
        rule_id = uuid4()
        self.faults.break_at(step.crash)
        for _ in range(TRIES):
            try:
                await self._do(step, rule_id)
                if step.settled:
                    await self.trueweave.maintenance.settle()
                break
            except UnknownWorkspace:
                self.faults.break_at(None)
                await self.open()
            except (OperationalError, DatabaseUnavailable, WorkspaceLoading):
                self.faults.break_at(None)
                await asyncio.sleep(0.02)
        else:
            raise AssertionError(f"{step} was not done in {TRIES} tries")
        self.faults.break_at(None)

    async def _do(self, step: Step, rule_id: UUID) -> None:
        workspace = self.trueweave.workspace
        match step.verb:
            case "store":
                stored = [contribution(d) for d in step.what]
                await record.store(workspace, stored)
                self.documents |= {one.document.uri: one.document.id for one in stored}
            case "remove":
                await record.withdraw(workspace, step.what)
                self.documents |= dict.fromkeys(step.what)
                self.off -= {*step.what}
            case "erase":
                await record.withdraw(workspace, step.what, erase=True)
                self.documents |= dict.fromkeys(step.what)
                self.off -= {*step.what}
            case "off":
                await record.switch(workspace, step.what, off=True)
                self.off |= {uri for uri in step.what if self.documents.get(uri)}
            case "on":
                await record.switch(workspace, step.what, off=False)
                self.off -= {*step.what}
            case "merge" | "split":
                await resolution.add_rule(workspace, Rule(rule_id, step.verb, tuple(step.what)))
                self.rules.append(rule_id)
            case "rename" | "retype" | "describe" | "suppress":
                name, target, label = step.what
                with suppress(RuleError):  # a relation of a name to itself
                    await resolution.add_rule(workspace, Rule(rule_id, step.verb, (name,), label, target))
                    self.rules.append(rule_id)
            case "accept":
                self.has_accepted = True
                if found := await self.trueweave.rules.suggestions(80):
                    which = str(found[step.what % len(found)].id)
                    with suppress(RuleError):  # somebody else listed other pairs meanwhile, or took the names away
                        self.rules += [rule.id for rule in await suggestions.accept(workspace, [which])]
            case "undo" if self.rules:
                rule = self.rules[step.what % len(self.rules)]
                self.undone.add(rule)
                await resolution.undo_rule(workspace, rule)
            case "resolve":
                await resolution.change_settings(workspace, step.what)
                self.resolution = step.what
            case "sweep":
                await self.trueweave.maintenance.sweep()
            case "group":
                await self.trueweave.communities.find()
            case "embed":
                self.embedder = HashEmbedder(step.what)
                await self.trueweave.maintenance.change_space(self.embedder)
            case "load":
                await self._load(step.what)
            case "move":
                with suppress(DatabaseError):  # it is there already, or is being moved or loaded by another
                    await move_workspace(self.name, step.what, self.servers)

    async def _load(self, documents: list[Document]) -> None:
        settings = Settings(extractor="capitals", project_folder=self.folder)
        file = self.folder / f"{uuid4()}.jsonl"
        file.write_text("".join(map(preannotated.written, documents)), "utf-8")
        with suppress(ConfigError):  # it is on another server
            await bulk_load(
                self.trueweave.workspace,
                [str(file)],
                self.folder / "spool",
                LocalFlow(),
                settings=settings,
                recipe=recipe(settings),
                embedder=self.embedder,
                open_models=models_of_load,
                given=Given(self.embedder),
            )
            self.documents |= {one.uri: contribution(one).document.id for one in preannotated.read(file)}
        await self.open()


class World:
    """One event loop, a home and another server for all histories; each has a workspace of its own in it."""

    def __init__(self, home: str, east: str, folder: Path) -> None:
        self.runner = asyncio.Runner()
        self.folder = folder
        self.servers = {"home": OwnerAddress(home), "east": OwnerAddress(east)}
        self.faults = (Faults(), Faults())
        self.databases = [Database(home, connection_class=f.connection_class()) for f in self.faults]
        self.numbers = count()
        self.runner.run(self._open(east))

    async def _open(self, east: str) -> None:
        await join_servers(self.servers)
        await weigh_server(self.servers["home"], "east", 0)  # what is loaded in bulk has to be at home
        for database, faults in zip(self.databases, self.faults, strict=True):
            await database.open()
            database.servers = Servers(database, {"east": Database(east, connection_class=faults.connection_class())})

    def close(self) -> None:
        for database in self.databases:
            assert isinstance(database.servers, Servers)
            self.runner.run(database.servers.aclose())
            self.runner.run(database.close())
        self.runner.close()

    def live_and_check(self, histories: list[list[Step]], seed: int) -> None:
        """Live through histories, and check what came of them."""

        async def live() -> None:
            await self.check(await self.live_through(histories), seed)

        self.runner.run(live())

    async def live_through(self, histories: list[list[Step]]) -> AsyncTrueweave:
        """Let each writer go through a history, at the same time; then settle what is left."""
        name = f"history-{next(self.numbers)}"
        writers = [
            Writer(database, name, faults, self.folder, self.servers)
            for database, faults, _ in zip(self.databases, self.faults, histories, strict=False)
        ]

        async def go(writer: Writer, steps: list[Step]) -> None:
            await writer.open()
            for step in steps:
                await writer.take(step)

        await asyncio.gather(*(go(writer, steps) for writer, steps in zip(writers, histories, strict=True)))
        for writer in writers:
            assert writer.database.servers
            writer.database.servers.expire()  # whatever was moved is looked for where it is now
            await writer.open()
            await writer.trueweave.maintenance.settle()
        await _until_settled(writers[0].trueweave)
        await _check_acknowledged(writers)
        return writers[0].trueweave

    async def check(self, trueweave: AsyncTrueweave, seed: int) -> None:
        """The digest of the survivor, of a fresh build in another order, and the oracle's opinion."""
        await self.compare(trueweave, [document async for document in trueweave.documents()], seed)
        await trueweave.maintenance.drop()

    async def remember(self, steps: list[Step], seed: int) -> None:
        """Go through a history, and compare each past with a fresh build of what was there then. What was erased since
        is in none."""
        name = f"history-{next(self.numbers)}"
        writer = Writer(self.databases[0], name, self.faults[0], self.folder, self.servers)
        await writer.open()
        await writer.trueweave.history.keep()
        seen: list[tuple[datetime, dict[str, Document]]] = []
        for step in steps:
            await writer.take(step)
            if step.verb == "erase":
                for _, documents in seen:
                    for uri in step.what:
                        documents.pop(uri, None)
            await writer.trueweave.maintenance.settle()
            seen.append((datetime.now(UTC), {one.uri: one async for one in writer.trueweave.documents()}))
        for at, documents in random.Random(seed).sample(seen, min(3, len(seen))):
            async with writer.trueweave.as_of(at) as past:
                await self.compare(past, list(documents.values()), seed)
        await self.check(writer.trueweave, seed)

    async def compare(self, trueweave: AsyncTrueweave, survivors: list[Document], seed: int) -> None:
        """Compare an index with a fresh build of these documents, in another order."""
        rules, how = await trueweave.rules.all(), await trueweave.rules.resolution()
        fresh = await AsyncTrueweave.enter(trueweave.database, f"fresh-{next(self.numbers)}")
        shuffled = random.Random(seed)
        shuffled.shuffle(survivors)
        early = shuffled.random() < 0.5  # the rules may be there before the documents, or come after them
        if early:
            await self._add_rule(fresh, rules, how)
        while survivors:
            some = [survivors.pop() for _ in range(shuffled.randint(1, len(survivors)))]
            await fresh.add_documents(some)
        if not early:
            await self._add_rule(fresh, rules, how)
        await fresh.maintenance.settle()
        for one in (trueweave, fresh):
            await one.communities.find()
        if await trueweave.maintenance.digest() != await fresh.maintenance.digest():
            lines = await digest.differences(trueweave.workspace, fresh.workspace)
            raise AssertionError("\n".join(map(str, lines)))
        await assert_view_is_right(fresh)
        await fresh.maintenance.drop()

    async def _add_rule(self, fresh: AsyncTrueweave, rules: list[Any], how: ResolutionSettings) -> None:
        await resolution.change_settings(fresh.workspace, how)
        for rule in rules:
            await resolution.add_rule(fresh.workspace, rule)


async def _check_acknowledged(writers: list[Writer]) -> None:
    """Each document is as the last write of one of the writers to it left it, and so is the resolution; all rules are
    there but those that were undone."""
    trueweave = writers[0].trueweave
    async with trueweave.workspace.transaction() as tx:
        there = {uri: id_ for id_, uri in (await bulk.document_ids(tx, failed=True)).items()}
    written = {uri for writer in writers for uri in writer.documents}
    for uri in written:
        last = [writer.documents[uri] for writer in writers if uri in writer.documents]
        assert there.get(uri) in last, (uri, there.get(uri), last)
    assert there.keys() <= written
    off = {one.uri for one in await trueweave.list_documents(state="off")}
    if len(writers) == 1:
        assert off == writers[0].off
    shown = {document.uri async for document in trueweave.documents()}
    assert shown == there.keys() - off == {one.uri for one in await trueweave.list_documents()}
    rules = {rule.id for rule in await trueweave.rules.all()}
    acknowledged = {rule for writer in writers for rule in set(writer.rules) - writer.undone}
    assert acknowledged <= rules
    assert rules == acknowledged or any(writer.has_accepted for writer in writers)  # who crashed may have made two
    resolutions = [writer.resolution for writer in writers if writer.resolution]
    assert await trueweave.rules.resolution() in (resolutions or [ResolutionSettings()])


async def _until_settled(trueweave: AsyncTrueweave) -> None:
    """A crash that also keeps a settler from giving its lease back leaves what it was at to others, once that runs
    out."""
    async with asyncio.timeout(3 * leases.SECONDS):
        while (now := await trueweave.status()).waiting_documents or now.waiting_names:
            await asyncio.sleep(0.2)
            await trueweave.maintenance.settle()


@pytest.fixture(scope="module")
def world(databases: Databases) -> Iterator[World]:
    home, east = databases.make(), databases.make()
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(moving, "USABLE", 0)  # a workspace may go back at once
        patch.setattr(moving, "FRESH", 0)
        made = World(home, east, Path(folder))
        yield made
        made.close()
    for url in (home, east):
        databases.drop(url)


UNHURRIED = settings(
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)
seeds = st.integers(0, 1000)


@pytest.mark.parametrize("part", range(PARTS))
@settings(UNHURRIED, max_examples=HISTORIES * 8 // 10 // PARTS)
@given(plain, seeds)
def test_every_history_ends_as_a_fresh_build(world: World, part: int, told: list[list[Step]], seed: int) -> None:
    world.live_and_check(told, seed)


@pytest.mark.parametrize("part", range(PARTS))
@settings(UNHURRIED, max_examples=HISTORIES * 2 // 10 // PARTS)
@given(history, seeds)
def test_each_past_is_a_fresh_build_of_what_was_there(world: World, part: int, told: list[Step], seed: int) -> None:
    world.runner.run(world.remember(told, seed))


@pytest.mark.parametrize("part", range(PARTS))
@settings(UNHURRIED, max_examples=HISTORIES // 10 // PARTS)
@given(loaded, seeds)
def test_so_does_one_with_a_bulk_load(world: World, part: int, told: list[list[Step]], seed: int) -> None:
    world.live_and_check(told, seed)


@pytest.mark.parametrize("part", range(PARTS))
@settings(UNHURRIED, max_examples=HISTORIES // 10 // PARTS)
@given(moved, seeds)
def test_so_does_one_in_which_the_workspace_is_moved(
    world: World, part: int, told: list[list[Step]], seed: int
) -> None:
    world.live_and_check(told, seed)
