"""The map of the graph: laid out with the communities, read in windows, right whatever happens meanwhile."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.integration.index.test_communities import TOWNS, road, told, towns
from trueweave import AsyncTrueweave
from trueweave.core.graph import GraphMap
from trueweave.core.record import NameKey
from trueweave.errors import DatabaseError, InvalidArgument
from trueweave.extend import Database
from trueweave.index.communities import find
from trueweave.store.postgres.db import Transaction
from trueweave.store.postgres.locks import one_grouper

NEAR, FAR = 100_000.0, 1.0  # pixels: everything is open, everything is a circle


@pytest.fixture
async def trueweave(database: Database) -> AsyncTrueweave:
    trueweave = await AsyncTrueweave.enter(database, "test")
    await trueweave.add_documents([*towns(*TOWNS[:4]), road("Aldar", "Berth")])
    return trueweave


async def window(trueweave: AsyncTrueweave, zoom: float = NEAR, limit: int = 2000, relations: int = 4000) -> GraphMap:
    found = await trueweave.graph.map(zoom=zoom, limit=limit, relations=relations)
    assert found
    return found


def places(found: GraphMap) -> dict[str, tuple[float, float]]:
    return dict(zip(found.nodes.names, zip(found.nodes.x, found.nodes.y, strict=True), strict=True))


async def test_a_window_has_circles_from_afar_and_entities_close_up(trueweave: AsyncTrueweave) -> None:
    assert await trueweave.graph.map() is None
    await trueweave.communities.find()
    far = await window(trueweave, FAR)
    assert (len(far.circles.ids), far.circles_total, far.entities, far.total) == (4, 4, 28, 28)
    assert (far.nodes.ids, far.circles.sizes) == ((), (7, 7, 7, 7))
    assert all(" of " in title for title in far.circles.titles)
    [one], [other] = far.links.a, far.links.b
    linked = {far.circles.titles[at].rpartition(" ")[2] for at in (one, other)}
    assert (linked, far.links.relations, far.links.weight) == ({"Aldar", "Berth"}, (1,), (5.0,))
    close = await window(trueweave)
    assert (close.circles.ids, close.entities, close.total, len(close.nodes.ids)) == ((), 28, 28, 28)
    assert (len(close.edges.source), close.relations_total, close.links.a) == (85, 85, ())
    circle = far.circles
    x, y, radius = circle.x[0], circle.y[0], circle.radius[0]
    here = await trueweave.graph.map(x - radius, y - radius, x + radius, y + radius, zoom=NEAR)
    assert here
    assert (len(here.nodes.ids), here.entities, here.total) == (7, 7, 28)


async def test_what_is_left_out_is_counted(trueweave: AsyncTrueweave) -> None:
    await trueweave.communities.find()
    some = await window(trueweave, limit=5, relations=3)
    degrees = some.nodes.degrees
    assert (len(degrees), some.entities, some.total) == (5, 28, 28)
    assert list(degrees) == sorted(degrees, reverse=True)
    every = await window(trueweave, limit=5)
    assert (len(some.edges.source), some.relations_total) == (min(3, len(every.edges.source)), len(every.edges.source))
    circles = await window(trueweave, FAR, limit=3)
    assert (len(circles.circles.ids), circles.circles_total, circles.entities) == (3, 4, 28)
    wrong: list[Any] = [{"limit": 0}, {"limit": 50_001}, {"relations": 0}, {"zoom": 0.0}, {"x0": 1.0}]
    for one in wrong:
        with pytest.raises(InvalidArgument, match="window of the map"):
            await trueweave.graph.map(**one)


async def test_entities_that_find_no_room_beside_circles_are_counted(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents([told("Grimsel", "abbot", f"monk {n}") for n in range(40)])
    await trueweave.communities.find()
    large, *small = (await window(trueweave, FAR)).circles.radius
    zoom = 40 / (large * small[0]) ** 0.5  # only the abbey is open
    found = await window(trueweave, zoom)
    assert (len(found.circles.ids), len(found.nodes.ids), found.entities, found.total) == (4, 41, 69, 69)
    for limit, shown in ((10, 6), (5, 1), (4, 0)):
        found = await window(trueweave, zoom, limit=limit)
        assert (len(found.circles.ids), len(found.nodes.ids)) == (4, shown)
        assert (found.circles_total, found.entities, found.total) == (4, 69, 69)


async def test_what_did_not_change_stays_in_its_place(trueweave: AsyncTrueweave) -> None:
    await trueweave.communities.find()
    before = await window(trueweave)
    await trueweave.add_documents([told("Corin", "miller", "smith", "pays", uri="more")])
    assert (await window(trueweave)).behind
    await trueweave.communities.find()
    after = await window(trueweave)
    assert not after.behind
    old, new = places(before), places(after)
    assert all("Corin" in name for name in old if old[name] != new[name])


async def test_entities_that_are_removed_or_merged_leave_the_map_at_once(trueweave: AsyncTrueweave) -> None:
    await trueweave.communities.find()
    await trueweave.remove([*(document.uri for document in towns("Berth")), "road/Aldar/Berth"])
    await trueweave.rules.merge(NameKey("miller of Aldar"), NameKey("smith of Aldar"))
    found = await window(trueweave)
    assert (found.behind, found.total, found.entities, len(found.nodes.ids)) == (True, 20, 20, 20)
    assert not [name for name in found.nodes.names if "Berth" in name]
    assert all(0 <= end < 20 for end in (*found.edges.source, *found.edges.target))
    far = await window(trueweave, FAR, limit=2)
    assert (far.total, far.entities, far.circles_total, far.circles.sizes) == (20, 20, 3, (7, 7))
    assert (await window(trueweave, FAR)).circles.sizes == (7, 7, 6)
    assert not [title for title in (await window(trueweave, FAR)).circles.titles if "Berth" in title]


async def test_a_window_is_of_one_map_when_another_is_written_meanwhile(
    trueweave: AsyncTrueweave, monkeypatch: pytest.MonkeyPatch
) -> None:
    await trueweave.communities.find()
    before = await window(trueweave)
    await trueweave.remove([document.uri for document in towns("Corin")])
    await trueweave.add_documents(towns("Eskel"))
    begun, go_on, rows = asyncio.Event(), asyncio.Event(), Transaction.rows

    async def held(self: Transaction, query: str, /, **params: Any) -> Any:
        if query == "map.entities":
            begun.set()
            await go_on.wait()
        return await rows(self, query, **params)

    monkeypatch.setattr(Transaction, "rows", held)
    reading = asyncio.create_task(window(trueweave))
    await begun.wait()
    await trueweave.communities.find()
    go_on.set()
    found = await reading
    assert (found.found, found.behind, found.total) == (before.found, True, 21)
    assert len(found.nodes.ids) == found.entities == 21
    assert not [name for name in found.nodes.names if "Corin" in name or "Eskel" in name]
    assert (await window(trueweave)).total == 28


async def test_two_workers_and_a_removal_in_the_middle_leave_one_whole_map(
    trueweave: AsyncTrueweave, monkeypatch: pytest.MonkeyPatch
) -> None:
    await trueweave.communities.find()
    await trueweave.add_documents(towns("Eskel"))
    both, go_on = asyncio.Barrier(3), asyncio.Event()

    async def held(tx: Transaction) -> None:
        if not go_on.is_set():  # both have laid the map out, and none has written it
            await both.wait()
            await go_on.wait()
        await one_grouper(tx)

    monkeypatch.setattr(find, "one_grouper", held)
    finding = [asyncio.create_task(trueweave.communities.find()) for _ in range(2)]
    await both.wait()
    found = await window(trueweave)
    assert (found.total, found.entities, found.behind) == (28, 28, True)
    await trueweave.remove([document.uri for document in towns("Corin")])
    go_on.set()
    await asyncio.gather(*finding)
    found = await window(trueweave)
    assert (found.behind, found.total, found.entities, len(places(found))) == (False, 28, 28, 28)
    assert not [name for name in found.nodes.names if "Corin" in name]
    assert (await window(trueweave, FAR)).circles.sizes == (7, 7, 7, 7)


async def test_a_worker_that_dies_while_it_writes_leaves_the_map_as_it_was(
    trueweave: AsyncTrueweave, monkeypatch: pytest.MonkeyPatch
) -> None:
    await trueweave.communities.find()
    before = await window(trueweave)
    await trueweave.add_documents(towns("Eskel"))
    run = Transaction.run

    async def dying(self: Transaction, query: str, /, **params: Any) -> int:
        if query == "community.write_members":  # the communities have been replaced, their members have not
            await self.connection.close()
        return await run(self, query, **params)

    with monkeypatch.context() as patched:
        patched.setattr(Transaction, "run", dying)
        with pytest.raises(DatabaseError):
            await trueweave.communities.find()
    found = await window(trueweave)
    assert (found.found, places(found), found.behind) == (before.found, places(before), True)
    await trueweave.communities.find()
    assert (await window(trueweave)).total == 35


async def test_communities_that_have_no_places_yet_get_them(trueweave: AsyncTrueweave) -> None:
    await trueweave.communities.find()
    before = await window(trueweave)
    async with trueweave.workspace.transaction() as tx:
        await tx.execute("UPDATE community SET radius = NULL")  # as an older version leaves them
    assert await trueweave.graph.map() is None
    await trueweave.communities.find()
    assert places(await window(trueweave)) == places(before)
