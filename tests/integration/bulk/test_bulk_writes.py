"""Whatever is written to a workspace while a bulk load of it runs is in it afterwards, or is refused with the reason.

The table in docs/adr/0038-bulk-loading.md has a row for each kind of write and a column for each step of a load. Here
every column is a test: a load in which all writes are made exactly at that step.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.integration.bulk.test_bulk import load, opened, rows, written
from trueweave import (
    AsyncTrueweave,
    Chunk,
    Document,
    Link,
    Mention,
    NameKey,
    ResolutionSettings,
    Settings,
    Source,
    TrueweaveError,
)
from trueweave.bulk.pipeline import Told
from trueweave.errors import DatabaseError, WorkspaceLoading
from trueweave.extend import Database
from trueweave.graph.contribution import contribution
from trueweave.ingest.own import Given
from trueweave.store.postgres.access import api_keys
from trueweave.store.postgres.cluster.moving import OwnerAddress, move_workspace
from trueweave.store.postgres.record import record
from trueweave.testing import HashEmbedder
from trueweave.types import Verdict

Step = tuple[str, int]  # what a load tells: a stage, and how many of its units are done

# A write at the first four comes before the load catches up for the first time; at the next one, after it has listed
# what to catch up with; at the last one, after it has caught up.
STEPS: tuple[Step, ...] = (
    ("Reading documents", 0),
    ("Reading documents", 1),
    ("Resolving names", 0),
    ("Counting words", 1),
    ("Catching up", 0),
    ("Catching up", 1),
)
LOCKED: Step = ("Switching", 0)  # in the transaction that switches
ACCEPTED = ("add", "update", "remove", "add again", "store", "rule", "undo", "resolve", "find", "settings", "submit")
ACCEPTED_TOO = ("budget", "key", "switch off", "switch on")
REFUSED = ("reembed", "project", "move", "load")

OLD, NEW = HashEmbedder(8), HashEmbedder(16)
FUZZY = ResolutionSettings("fuzzy", 80)


def doc(uri: str, *names: str) -> Document:
    text = " met ".join(names)
    links = (Link(names[0], names[-1], "met"),) if len(names) > 1 else ()
    return Document(uri, (Chunk(text, mentions=tuple(map(Mention, names)), links=links),))


def at(step: Step, act: Callable[[], Awaitable[None]], *, wait: bool = True) -> Told:
    """Have a load act when it comes to a step, and wait for that; the first time only."""
    loop, done = asyncio.get_running_loop(), [False]

    def told(stage: str, number: int, _total: int) -> None:
        if (stage, number) == step and not done[0]:
            done[0] = True
            acting = asyncio.run_coroutine_threadsafe(_run(act), loop)
            if wait:
                acting.result(60)

    return told


async def _run(act: Callable[[], Awaitable[None]]) -> None:
    await act()


@dataclass
class Writes:
    """All kinds of writes to a workspace, and what came of each."""

    home: Database
    trueweave: AsyncTrueweave
    folder: Path
    undone: object
    raised: dict[str, TrueweaveError] = field(default_factory=dict)
    acknowledged: set[str] = field(default_factory=set)

    async def make(self, kind: str) -> None:
        try:
            await self._make(kind)
        except TrueweaveError as error:
            self.raised[kind] = error
        else:
            self.acknowledged.add(kind)

    async def make_all(self) -> None:
        for kind in (*ACCEPTED, *ACCEPTED_TOO, *REFUSED):
            await self.make(kind)

    async def _make(self, kind: str) -> None:
        it = self.trueweave
        match kind:
            case "add":
                await it.add_documents([doc("added", "Alan Turing", "Alonzo Church")])
            case "update":
                await it.add_documents([doc("updated", "Grace Hopper", "Charles Babbage")])
            case "remove":
                await it.remove(["removed"])
            case "add again":
                await it.remove(["again"])
                await it.add_documents([doc("again", "London", "Cobol")])
            case "store":  # and leave it to others to settle it
                await record.store(it.workspace, [contribution(doc("stored", "Ida Rhodes", "London"))])
            case "rule":
                await it.rules.merge(NameKey("London"), NameKey("Cobol"))
            case "undo":
                await it.rules.undo(self.undone)  # type: ignore[arg-type]
            case "resolve":
                await it.rules.change_resolution(FUZZY)
            case "find":
                await it.communities.find()
            case "settings":
                await it.maintenance.change_settings({"max_chunk_size": 700})
            case "submit":
                await it.jobs.submit(Source("queued", "Hedy Lamarr met George Antheil."))
            case "switch off":
                await it.switch_off(["to hide", "a.jsonl#20"])
            case "switch on":
                await it.switch_on(["to show"])
            case "budget":
                await it.budget.allow(tokens=777)
            case "key":
                await api_keys.make(self.home, "reader", "read", [it.workspace.id])
            case "reembed":
                await it.maintenance.change_space(NEW)
            case "project":
                known = Settings(extractor="capitals", neo4j_url="neo4j://a:b@127.0.0.1:1/c")
                async with aclosing(await AsyncTrueweave.enter(self.home, "bulk", OLD, settings=known)) as other:
                    await other.projections.enable("neo4j")
            case "move":
                await move_workspace("bulk", "east", self.servers)
            case "load":
                file = written(self.folder / "other.jsonl", rows(2, seed=9, first=70))
                await load(it, self.folder / "other", str(file), given=Given(OLD))

    @property
    def servers(self) -> dict[str, OwnerAddress]:
        home = OwnerAddress(self.home.url)
        return {"home": home, "east": home}  # it is refused before the other one is looked at


@dataclass
class After:
    """A workspace after a load during which it was written to."""

    writes: Writes
    documents: dict[str, set[str]]
    off: set[str]
    rules: set[tuple[str, ...]]
    resolution: ResolutionSettings
    has_communities: bool
    settings: dict[str, object]
    tokens: int | None
    keys: tuple[str, ...] | None
    model: str
    found: bool
    verdict: Verdict
    as_added: str
    digest: str


async def live_through(url: str, folder: Path, step: Step) -> After:
    """A load, in which all writes are made at this step."""
    async with Database(url) as database:
        async with opened(database, "bulk", folder, OLD) as it:
            await it.add_documents([doc("removed", "Old Thing", "London"), doc("updated", "Grace Hopper", "Cobol")])
            await it.add_documents([doc("again", "London", "Cobol"), doc("stays", "Ada Lovelace", "London")])
            await it.add_documents([doc(uri, "Ada Lovelace", "Paris") for uri in ("to hide", "to show", "off")])
            await it.add_documents([doc("a.jsonl#20", "Paris"), doc("a.jsonl#21", "Paris", "Rome")])
            await it.switch_off(["to show", "off", "a.jsonl#21"])
            undone = await it.rules.merge(NameKey("Ada Lovelace"), NameKey("Grace Hopper"))
            await it.maintenance.settle()
            writes = Writes(database, it, folder, undone.id)
            file = written(folder / "a.jsonl", rows(6, seed=2, first=20))
            await load(it, folder, str(file), told=at(step, writes.make_all), given=Given(OLD))
        async with opened(database, "bulk", folder, OLD) as it:
            return await _look(database, it, writes, folder)


async def _look(database: Database, it: AsyncTrueweave, writes: Writes, folder: Path) -> After:
    found = await it.communities.hierarchy()
    await it.maintenance.retry()  # works on what waits in the queue
    if found:
        await it.communities.find()
    verdict = await it.maintenance.verify()
    documents = [document async for document in it.documents()]
    rules, how = await it.rules.all(), await it.rules.resolution()
    async with opened(database, "online", folder, OLD) as online:
        await online.rules.change_resolution(how)
        await online.add_documents(documents)
        for rule in rules:
            await online.rules.merge(*rule.names)
        await online.maintenance.settle()
        if found:
            await online.communities.find()
        as_added = await online.maintenance.digest()
    keys = await api_keys.listed(database, 10)
    [hit] = await it.graph.nearest("chunk", (await OLD.embed(["London met Cobol"], "query"))[0], 1)
    return After(
        writes,
        {one.uri: {m.name for chunk in one.chunks for m in chunk.mentions} for one in documents},
        {one.uri for one in await it.list_documents(state="off")},
        {tuple(name.name for name in rule.names) for rule in rules},
        how,
        found is not None,
        it.maintenance.own_settings,
        (await it.budget.get()).token_cap,
        keys[0].workspaces if keys else None,
        (await it.status()).embedding_model,
        hit.distance < 0.01,
        verdict,
        as_added,
        await it.maintenance.digest(),
    )


@pytest.mark.parametrize("step", STEPS, ids=lambda step: f"{step[0]} {step[1]}")
async def test_a_write_during_a_load_is_there_after_it_or_is_refused_with_the_reason(
    url: str, tmp_path: Path, step: Step
) -> None:
    (tmp_path / "other").mkdir()
    after = await live_through(url, tmp_path, step)
    raised = after.writes.raised
    assert after.writes.acknowledged == {*ACCEPTED, *ACCEPTED_TOO}, raised
    there = {
        "add": after.documents["added"] == {"Alan Turing", "Alonzo Church"},
        "update": after.documents["updated"] == {"Grace Hopper", "Charles Babbage"},
        "remove": "removed" not in after.documents,
        "add again": "again" in after.documents,
        "store": "stored" in after.documents,
        "rule": ("Cobol", "London") in after.rules,
        "undo": ("Ada Lovelace", "Grace Hopper") not in after.rules,
        "resolve": after.resolution == FUZZY,
        "find": after.has_communities,
        "settings": after.settings == {"max_chunk_size": 700},
        "submit": after.documents["queued"] == {"Hedy Lamarr", "George Antheil"},
        "budget": after.tokens == 777,
        "key": after.keys == ("bulk",),
        "switch off": after.off == {"to hide", "off", "a.jsonl#20", "a.jsonl#21"},
        "switch on": "to show" in after.documents,
    }
    assert there == dict.fromkeys((*ACCEPTED, *ACCEPTED_TOO), True)

    assert set(raised) == set(REFUSED)
    for kind, error in raised.items():
        assert isinstance(error, DatabaseError if kind == "move" else WorkspaceLoading), kind
        assert ("moved or loaded in bulk" if kind == "move" else "bulk load") in str(error)
    assert after.model == OLD.model

    assert after.verdict.exact
    assert after.digest == after.as_added
    assert after.found
    assert {f"a.jsonl#{n}" for n in range(22, 26)} | {"stays"} <= after.documents.keys()
    assert after.documents.keys().isdisjoint(after.off)
