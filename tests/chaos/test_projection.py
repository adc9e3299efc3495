"""Projectors and the stores that they write to are killed at random moments: the copies end as the record is, and their
positions never tell of more than is there."""

import asyncio
import json
import os
import random
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from itertools import pairwise
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Literal
from uuid import UUID

import pytest

from tests.chaos.projector import WORKSPACE, settings, start
from tests.servers import ChromaServer, Neo4jServer, no_neo4j
from trueweave import AsyncTrueweave, Chunk, Document, Link, Mention, NameKey, Settings
from trueweave.core.projections import StoreName
from trueweave.errors import StoreUnavailable
from trueweave.store.chroma.target import KINDS, collection_name
from trueweave.store.others import StoreClients
from trueweave.store.postgres.projection import projections
from trueweave.store.postgres.projection.projecting import ProjectionSource
from trueweave.store.postgres.projection.projections import Projection
from trueweave.store.projection import compare
from trueweave.testing import HashEmbedder
from trueweave.types import ProjectionDifference

Victim = Literal["projector", "server"]
Later = Mapping[str, Collection[UUID]]  # the ids of each kind that changes after a position name

SEED = 7
NAMES = [f"{first}{last}" for first in ("Al", "Be", "Co", "Da", "El") for last in ("a", "in", "mer", "son", "tus")]
PATIENCE = 240.0  # seconds in which a projector comes to work, a store is back, and a copy has caught up


@dataclass(frozen=True)
class Form:
    """How much of it."""

    kills: Mapping[Victim, int]
    changes: tuple[int, int]  # between two kills
    gap: tuple[float, float] = (0.0, 0.4)  # seconds from the first batch to the kill


SHORT: dict[StoreName, Form] = {
    "chroma": Form({"projector": 4, "server": 1}, (4, 10)),
    "neo4j": Form({"projector": 3, "server": 1}, (4, 10)),
}
FULL: dict[StoreName, Form] = {
    "chroma": Form({"projector": 40, "server": 20}, (2, 30)),
    "neo4j": Form({"projector": 40, "server": 10}, (2, 30)),
}


@dataclass
class Scene:
    """A store, and the projector that writes to it."""

    store: StoreName
    server: ChromaServer | Neo4jServer
    folder: Path
    database_url: str
    killed: Counter[Victim] = field(default_factory=Counter)
    under_way: int = 0  # kills that left a copy behind
    _projector: ForkServerProcess | None = None
    _started: int = 0
    _log: Path = field(default_factory=Path)

    @property
    def projector(self) -> ForkServerProcess:
        assert self._projector
        return self._projector

    @property
    def settings(self) -> Settings:
        return settings(self.store, self.server.url)

    def start_projector(self) -> None:
        self._started += 1
        self._log = self.folder / f"projector-{self._started}.log"
        self._projector = start(self.store, self.server.url, self.database_url, self._log)

    def batches(self) -> int:
        """How many batches the projector that runs now has written."""
        return self._log.read_text().count("Projected(") if self._log.exists() else 0

    def kill_projector(self) -> None:
        self.projector.kill()
        self.projector.join(PATIENCE)

    def signal_projector(self, which: signal.Signals) -> None:
        assert self.projector.pid
        os.kill(self.projector.pid, which)

    def end_projector(self) -> None:
        """Let it end in good order."""
        self.projector.terminate()
        self.projector.join(PATIENCE)
        assert self.projector.exitcode == 0, self.said()

    def check_alive(self) -> None:
        """A projector is there until it is killed, whatever becomes of its store."""
        assert self.projector.is_alive(), f"the projector ended by itself\n{self.said()}"

    def said(self) -> str:
        """The last words of the projectors."""
        logs = sorted(self.folder.glob("projector-*.log"), key=lambda path: path.stat().st_mtime)[-3:]
        return "\n".join(f"--- {log.name}\n{log.read_text()[-3000:]}" for log in logs)


@pytest.fixture(params=["chroma", "neo4j"])
def scene(request: pytest.FixtureRequest, tmp_path: Path, url: str) -> Iterator[Scene]:
    """A store of this test's own with a projector, both gone at the end whatever happens."""
    store: StoreName = request.param
    if store == "neo4j" and (reason := no_neo4j()):
        pytest.skip(reason)
    server = Neo4jServer(tmp_path / store) if store == "neo4j" else ChromaServer(tmp_path / store)
    server.start()
    made = Scene(store, server, tmp_path, url)
    try:
        made.start_projector()
        yield made
    finally:
        server.kill()
        made.kill_projector()


@pytest.fixture
async def trueweave(scene: Scene) -> AsyncIterator[AsyncTrueweave]:
    """Who changes documents and looks at the outcome."""
    async with AsyncTrueweave.open(
        scene.database_url, WORKSPACE, HashEmbedder(), settings=scene.settings, make=True
    ) as opened:
        yield opened


@pytest.mark.nightly
async def test_whatever_is_killed_the_copy_ends_as_the_record_and_its_position_never_runs_ahead(
    trueweave: AsyncTrueweave, scene: Scene, full: bool
) -> None:
    form = (FULL if full else SHORT)[scene.store]
    chance = random.Random(SEED)
    victims = list(Counter(form.kills).elements())
    chance.shuffle(victims)
    changes = Changes(trueweave, scene.store, chance)
    began = time.monotonic()
    for victim in victims:
        before = scene.batches()
        changing = asyncio.create_task(changes.make(chance.randint(*form.changes)))
        await _until_at_work(scene, before)
        await asyncio.sleep(chance.uniform(*form.gap))
        await _kill(scene, victim, changing, trueweave, chance)
    state = await _until_done(scene, trueweave)
    scene.end_projector()
    print(f"\n{dict(scene.killed)} killed in {time.monotonic() - began:.0f} s, {scene.under_way} of them under way")
    print(f"changes: {dict(changes.made)}")
    assert scene.under_way, "all kills missed: the copy was up to date each time"
    assert await trueweave.projections.verify(scene.store) == []
    [status] = await trueweave.projections.status()
    assert status.live
    assert not status.building
    assert not status.behind
    assert not status.problem
    assert await _copies(scene) == {state.live}
    assert (await trueweave.maintenance.verify()).exact


# --- what is killed -----------------------------------------------------------------------------------


async def _kill(
    scene: Scene, victim: Victim, changing: asyncio.Task[None], trueweave: AsyncTrueweave, chance: random.Random
) -> None:
    """Kill -9 it, look at the copies while nothing is under way, and have another one."""
    scene.check_alive()
    scene.killed[victim] += 1
    if victim == "projector":
        scene.kill_projector()
        await changing
        await _check_positions(scene, trueweave)
        scene.start_projector()
        return
    scene.server.kill()
    await changing
    await asyncio.sleep(chance.uniform(0, 0.5))  # in which the projector may see that the store is away
    scene.signal_projector(signal.SIGSTOP)
    await asyncio.to_thread(scene.server.start)
    await _check_positions(scene, trueweave)
    scene.signal_projector(signal.SIGCONT)


async def _until_at_work(scene: Scene, before: int) -> None:
    """Wait until the projector has written a batch more."""
    end = time.monotonic() + PATIENCE
    while scene.batches() <= before:
        scene.check_alive()
        assert time.monotonic() < end, f"the projector writes nothing\n{scene.said()}"
        await asyncio.sleep(0.01)


async def _until_done(scene: Scene, trueweave: AsyncTrueweave) -> Projection:
    """Wait until the copy has caught up."""
    end = time.monotonic() + PATIENCE
    while True:
        scene.check_alive()
        state = await _state(trueweave, scene.store)
        if state.live and not (state.building or state.replaced or state.behind or state.problem):
            return state
        assert time.monotonic() < end, f"it does not catch up: {state}\n{scene.said()}"
        await asyncio.sleep(0.1)


async def _state(trueweave: AsyncTrueweave, store: StoreName) -> Projection:
    async with trueweave.workspace.transaction() as tx:
        [state] = await projections.listed(tx, store)
    return state


async def _copies(scene: Scene) -> set[str]:
    """The copies of which anything is in the store."""
    async with aclosing(StoreClients()) as stores:
        if scene.store == "chroma":
            collections = await stores.chroma(scene.settings).call(lambda client: client.list_collections())
            names = {one.name for one in collections}
            copies = {name.split("-")[1] for name in names}
            assert names == {collection_name(copy, kind) for copy in copies for kind in KINDS}
            return copies
        neo4j = stores.neo4j(scene.settings)
        rows = await neo4j.rows("MATCH (n) RETURN DISTINCT coalesce(n.copy, n.id) AS copy")
        indexes = await neo4j.rows("SHOW VECTOR INDEXES YIELD name")
        return {row["copy"] for row in rows} | {row["name"].split("_")[-1] for row in indexes}


# --- positions ----------------------------------------------------------------------------------------


async def _check_positions(scene: Scene, trueweave: AsyncTrueweave) -> None:
    """Each complete copy has all that its position tells of. Nobody writes meanwhile."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            async with aclosing(StoreClients()) as stores:
                return await _check_copies(scene, trueweave, stores)
        except StoreUnavailable:  # it opens its port before it can do everything
            if time.monotonic() > end:
                raise
            await asyncio.sleep(0.1)


async def _check_copies(scene: Scene, trueweave: AsyncTrueweave, stores: StoreClients) -> None:
    state = await _state(trueweave, scene.store)
    target = stores.target(scene.settings, scene.store)
    behind = False
    for copy in filter(None, (state.live, state.building)):
        source = ProjectionSource(trueweave.workspace, projections.consumer(scene.store, copy))
        noted = await source.position()
        position = await target.position(copy)
        if copy == state.live:
            assert position is not None, "the live copy is lost"
            assert position >= 0, "the live copy is not complete"
            assert noted is not None
            assert noted <= position, "changes may be forgotten that the copy does not have"
        if position is None or position < 0:
            behind = True
            continue
        later = await _named_after(trueweave, position)
        behind |= any(later.values())
        found = [one async for one in compare.differences(source, target, copy)]
        ahead = [one for one in found if not _is_told_later(one, later)]
        assert not ahead, f"position {position} of copy {copy} tells of more than is there: {ahead[:3]}"
    scene.under_way += behind


async def _named_after(trueweave: AsyncTrueweave, position: int) -> dict[str, set[UUID]]:
    """What changes after a position name."""
    named: dict[str, set[UUID]] = {kind: set() for kind in ("document", "chunk", "entity", "relation", "community")}
    async with trueweave.workspace.transaction() as tx:
        rows = await tx.connection.execute("SELECT kind, ids FROM outbox WHERE position > %s", (position,))
        for kind, ids in await rows.fetchall():
            named.setdefault("community" if kind == "report" else kind, set()).update(ids)
    return named


def _is_told_later(one: ProjectionDifference, later: Later) -> bool:
    """Whether a change that is still to come tells of a difference: of the thing itself; or, as no chunk is told when
    names come to other entities and no community when its members go, of what it is otherwise linked to."""
    if one.id in later[one.kind]:
        return True
    if one.kind not in ("chunk", "community") or one.record is None or one.copy is None:
        return False
    expected, stored = json.loads(one.record), json.loads(one.copy)
    if isinstance(expected, list):
        return False
    if one.kind == "community":
        moved = set(expected.pop("members")) ^ set(stored.pop("members"))
        return bool(expected == stored) and moved <= set(map(str, later["entity"]))
    for links, kind in (("mentions", "entity"), ("statements", "relation")):
        ends: dict[str, set[str]] = {}
        for what, end, _ in _in_one_only(expected.pop(links), stored.pop(links)):
            ends.setdefault(what, set()).update([end] if end else [])
        if any(not some & set(map(str, later[kind])) for some in ends.values()):
            return False
    return bool(expected == stored)


def _in_one_only(some: list[list[str]], others: list[list[str]]) -> list[list[str]]:
    return [one for one in some if one not in others] + [one for one in others if one not in some]


# --- what changes -------------------------------------------------------------------------------------


class Changes:
    """Documents that come, change and go, names that are merged and split, communities, and copies built anew."""

    def __init__(self, trueweave: AsyncTrueweave, store: StoreName, chance: random.Random) -> None:
        self._trueweave = trueweave
        self._store = store
        self._chance = random.Random(chance.random())  # its own, as it runs beside the kills
        self._uris: list[str] = []
        self.made: Counter[str] = Counter()

    async def make(self, count: int) -> None:
        """So many changes; the first is one that every store is told of."""
        await self._add()
        kinds = {self._add: 5, self._change: 4, self._remove: 3, self._merge: 2, self._split: 1, self._rename: 1}
        kinds |= {self._undo: 2, self._find_communities: 2, self._rebuild: 2}
        for change in self._chance.choices(list(kinds), list(kinds.values()), k=count - 1):
            await change()
            self.made[change.__name__.strip("_")] += 1

    async def _add(self) -> None:
        new = [f"d{len(self._uris) + n}-{self._chance.getrandbits(32):x}" for n in range(self._chance.randint(1, 4))]
        self._uris += new
        await self._trueweave.add_documents([self._document(uri) for uri in new])

    async def _change(self) -> None:
        await self._trueweave.add_documents([self._document(self._chance.choice(self._uris))])

    async def _remove(self) -> None:
        if len(self._uris) > 1:
            gone = self._chance.sample(self._uris, min(2, len(self._uris) - 1))
            self._uris = [uri for uri in self._uris if uri not in gone]
            await self._trueweave.remove(gone)

    async def _merge(self) -> None:
        await self._trueweave.rules.merge(*map(NameKey, self._chance.sample(NAMES, 2)))

    async def _split(self) -> None:
        await self._trueweave.rules.split(*map(NameKey, self._chance.sample(NAMES, 2)))

    async def _rename(self) -> None:
        await self._trueweave.rules.rename(NameKey(self._chance.choice(NAMES)), f"Renamed {self._chance.random()}")

    async def _undo(self) -> None:
        if rules := await self._trueweave.rules.all():
            await self._trueweave.rules.undo(self._chance.choice(rules).id)

    async def _find_communities(self) -> None:
        await self._trueweave.communities.find()
        await self._trueweave.communities.write_reports()

    async def _rebuild(self) -> None:
        """Have a copy built beside the live one, unless that is under way or there is none yet."""
        async with self._trueweave.workspace.transaction() as tx:
            await projections.begin_building(tx, self._store, f"{self._chance.getrandbits(64):016x}")

    def _document(self, uri: str) -> Document:
        chunks = []
        for n in range(self._chance.randint(1, 5)):
            names = self._chance.sample(NAMES, self._chance.randint(2, 6))
            text = f"{uri} {n}: {' met '.join(names)} on day {self._chance.randrange(10_000)}."
            mentions = tuple(Mention(name, "person", f"{name} of {uri}") for name in names)
            links = tuple(Link(a, b, f"{a} met {b}", keywords=("meeting",)) for a, b in pairwise(names))
            chunks.append(Chunk(text, mentions=mentions, links=links))
        return Document(uri, tuple(chunks))
