"""The law of the index: whatever happened, it equals one built from scratch from what is there now.

Random histories of inserts, updates, deletes, batch deletes, rules about names and facts, accepted suggestions, changes
of resolution and of model, of communities found in between, by one or two writers at once, with connections that break
between any two statements. After each the digest must equal that of a fresh build from the surviving documents, stored
in another order and in other batches.
"""

import asyncio
import random
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import FULL
from tests.oracle import assert_view_is_right
from trueweave import AsyncTrueweave, Chunk, Document, Link, Mention, NameKey, ResolutionSettings, Rule
from trueweave.errors import DatabaseUnavailable, RuleError
from trueweave.graph.contribution import contribution
from trueweave.store.postgres import digest, leases, record, resolution, suggestions
from trueweave.store.postgres.db import Database
from trueweave.testing import Databases, Faults, HashEmbedder, SimulatedCrash

HISTORIES = 5000 if FULL else 100

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
uris = st.sampled_from([f"doc/{n}" for n in range(6)])
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
histories = st.one_of(history.map(lambda one: [one]), st.lists(shared, min_size=2, max_size=2))


@dataclass
class Writer:
    """Somebody with a connection pool of their own, whose connections may break."""

    trueweave: AsyncTrueweave
    faults: Faults
    rules: list[UUID] = field(default_factory=list)

    async def take(self, step: Step) -> None:
        """Do the step; if the connection breaks, come back and do it again, not knowing whether it was done."""
        rule_id = uuid4()
        self.faults.break_at(step.crash)
        for _ in range(2):
            try:
                await self._do(step, rule_id)
                if step.settled:
                    await self.trueweave.maintenance.settle()
                break
            except (SimulatedCrash, DatabaseUnavailable):
                self.faults.break_at(None)
        self.faults.break_at(None)

    async def _do(self, step: Step, rule_id: UUID) -> None:
        workspace = self.trueweave.workspace
        match step.verb:
            case "store":
                await record.store(workspace, [contribution(d) for d in step.what])
            case "remove":
                await record.withdraw(workspace, step.what)
            case "merge" | "split":
                await resolution.add_rule(workspace, Rule(rule_id, step.verb, tuple(step.what)))
                self.rules.append(rule_id)
            case "rename" | "retype" | "describe" | "suppress":
                name, target, label = step.what
                with suppress(RuleError):  # a relation of a name to itself
                    await resolution.add_rule(workspace, Rule(rule_id, step.verb, (name,), label, target))
                    self.rules.append(rule_id)
            case "accept":
                if found := await self.trueweave.rules.suggestions(80):
                    which = str(found[step.what % len(found)].id)
                    with suppress(RuleError):  # somebody else listed other pairs meanwhile, or took the names away
                        self.rules += [rule.id for rule in await suggestions.accept(workspace, [which])]
            case "undo" if self.rules:
                rule = self.rules[step.what % len(self.rules)]
                if rule in {r.id for r in await self.trueweave.rules.all()}:
                    await resolution.undo_rule(workspace, rule)
            case "resolve":
                await resolution.change_settings(workspace, step.what)
            case "sweep":
                await self.trueweave.maintenance.sweep()
            case "group":
                await self.trueweave.communities.find()
            case "embed":
                await self.trueweave.maintenance.change_space(HashEmbedder(step.what))


class World:
    """One event loop and one database for all histories; each has a workspace of its own in it."""

    def __init__(self, url: str) -> None:
        self.runner = asyncio.Runner()
        self.faults = (Faults(), Faults())
        self.databases = [Database(url, connection_class=f.connection_class()) for f in self.faults]
        self.numbers = count()
        for database in self.databases:
            self.runner.run(database.open())

    def close(self) -> None:
        for database in self.databases:
            self.runner.run(database.close())
        self.runner.close()

    async def live_through(self, histories: list[list[Step]]) -> AsyncTrueweave:
        """Let each writer go through a history, at the same time; then settle what is left."""
        name = f"history-{next(self.numbers)}"
        writers = [
            Writer(await AsyncTrueweave.enter(database, name, HashEmbedder(16)), faults)
            for database, faults, _ in zip(self.databases, self.faults, histories, strict=False)
        ]

        async def go(writer: Writer, steps: list[Step]) -> None:
            for step in steps:
                await writer.take(step)

        await asyncio.gather(*(go(writer, steps) for writer, steps in zip(writers, histories, strict=True)))
        for writer in writers:
            await writer.trueweave.maintenance.settle()
        await _until_settled(writers[0].trueweave)
        return writers[0].trueweave

    async def check(self, trueweave: AsyncTrueweave, seed: int) -> None:
        """The digest of the survivor, of a fresh build in another order, and the oracle's opinion."""
        survivors = [document async for document in trueweave.documents()]
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
        await trueweave.maintenance.drop()

    async def _add_rule(self, fresh: AsyncTrueweave, rules: list[Any], how: ResolutionSettings) -> None:
        await resolution.change_settings(fresh.workspace, how)
        for rule in rules:
            await resolution.add_rule(fresh.workspace, rule)


async def _until_settled(trueweave: AsyncTrueweave) -> None:
    """A crash that also keeps a settler from giving its lease back leaves what it was at to others, once that runs
    out."""
    async with asyncio.timeout(3 * leases.SECONDS):
        while (now := await trueweave.status()).waiting_documents or now.waiting_names:
            await asyncio.sleep(0.2)
            await trueweave.maintenance.settle()


@pytest.fixture(scope="module")
def world(databases: Databases) -> Iterator[World]:
    url = databases.make()
    made = World(url)
    yield made
    made.close()
    databases.drop(url)


@settings(
    max_examples=HISTORIES,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture],
)
@given(histories, st.integers(0, 1000))
def test_every_history_ends_as_a_fresh_build(world: World, told: list[list[Step]], seed: int) -> None:
    async def live_and_check() -> None:
        await world.check(await world.live_through(told), seed)

    world.runner.run(live_and_check())
