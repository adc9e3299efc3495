"""The outbox carries all that a projection needs, for as long as somebody needs it."""

from datetime import timedelta
from uuid import UUID

import pytest

from trueweave import AsyncTrueweave, Chunk, Document, Link, Mention, NameKey
from trueweave.core.projections import ProjectedKind
from trueweave.errors import ChangesGone
from trueweave.extend import Database
from trueweave.store.postgres.projection.projecting import ProjectionSource
from trueweave.store.postgres.queue import outbox
from trueweave.store.postgres.record.erasing import Retention, forget_old
from trueweave.testing import HashEmbedder

LONG = timedelta(days=30)


def document(uri: str, *names: str) -> Document:
    links = [Link(a, b, "knows") for a in names for b in names if a < b]
    return Document(uri, (Chunk(f"text of {uri}", mentions=tuple(map(Mention, names)), links=tuple(links)),))


async def changed(trueweave: AsyncTrueweave, after: int) -> dict[tuple[str, bool], set[UUID]]:
    found: dict[tuple[str, bool], set[UUID]] = {}
    for change in await trueweave.graph.changes(after):
        found.setdefault((change.kind, change.removed), set()).update(change.ids)
    return found


async def last(trueweave: AsyncTrueweave) -> int:
    return await ProjectionSource(trueweave.workspace, "test").newest()


async def copied(source: ProjectionSource, kind: ProjectedKind) -> set[UUID]:
    return {id_ async for page in source.pages(kind, size=2) for id_ in page}


async def build(trueweave: AsyncTrueweave) -> None:
    await trueweave.communities.find()
    await trueweave.communities.write_reports()


async def test_communities_and_reports_are_told_when_they_come_change_and_go(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents([document("a", "Ada", "Ben", "Cas"), document("b", "Dan", "Eve", "Fay")])
    before = await last(trueweave)
    await build(trueweave)
    came = await changed(trueweave, before)
    source = ProjectionSource(trueweave.workspace, "test")
    assert came["community", False] == await copied(source, "community")
    assert came["report", False] <= came["community", False]
    found = await source.communities(sorted(came["community", False]))
    assert {one.title != "" for one in found if one.id in came["report", False]} == {True}
    assert sum(len(one.members) for one in found) == 6
    before = await last(trueweave)
    await build(trueweave)
    assert await changed(trueweave, before) == {}, "nothing has changed"
    await trueweave.remove(["b"])
    await build(trueweave)
    went = await changed(trueweave, before)
    assert went["community", True]
    assert went["report", True] <= came["report", False]


async def test_a_change_of_space_is_told(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents([document("a", "Ada")])
    before = await last(trueweave)
    await trueweave.maintenance.change_space(HashEmbedder(32))
    assert [(change.kind, change.ids) for change in await trueweave.graph.changes(before)] == [("space", ())]


async def test_a_merge_tells_the_entity_with_the_names_that_it_has_now(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents([document("a", "Ada"), document("b", "Lovelace")])
    before = await last(trueweave)
    source = ProjectionSource(trueweave.workspace, "test")
    chunks = await source.chunks(sorted(await copied(source, "chunk")))
    await trueweave.rules.merge(NameKey("Ada"), NameKey("Lovelace"))
    told = await changed(trueweave, before)
    assert ("chunk", False) not in told, "no chunk says anything else than before"
    [entity] = await source.entities(sorted(told["entity", False]))
    assert set(entity.names) == {name for chunk in chunks for name, _ in chunk.mentions}
    assert len(told["entity", True]) == 1


async def test_what_is_behind_ids_can_be_copied_page_by_page(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents([document(f"{n}", "Ada", f"Name {n}", f"Other {n}") for n in range(5)])
    source = ProjectionSource(trueweave.workspace, "test")
    documents = await source.documents(sorted(await copied(source, "document")))
    assert {one.uri for one in documents} == {"0", "1", "2", "3", "4"}
    chunks = await source.chunks(sorted(await copied(source, "chunk")))
    assert {one.text for one in chunks} == {f"text of {n}" for n in range(5)}
    assert {one.document for one in chunks} == {one.id for one in documents}
    relations = await source.relations(sorted(await copied(source, "relation")))
    pairs = {pair for one in relations for pair in one.pairs}
    assert pairs == {(a, b) for one in chunks for a, b, _ in one.links}
    entities = {id_ for one in relations for id_ in (one.relation.source, one.relation.target)}
    assert entities == await copied(source, "entity")
    vectors = await source.vectors("entity", sorted(entities))
    assert vectors.keys() == entities
    assert {len(vector) for vector in vectors.values()} == {64}


async def test_removed_things_are_not_told_of(trueweave: AsyncTrueweave) -> None:
    await trueweave.add_documents([document("a", "Ada", "Ben"), document("b", "Cas")])
    source = ProjectionSource(trueweave.workspace, "test")
    kinds: tuple[ProjectedKind, ...] = ("document", "chunk", "entity", "relation")
    before = {kind: sorted(await copied(source, kind)) for kind in kinds}
    await trueweave.remove(["a"])
    assert [one.uri for one in await source.documents(before["document"])] == ["b"]
    assert [one.text for one in await source.chunks(before["chunk"])] == ["text of b"]
    assert [one.entity.name for one in await source.entities(before["entity"])] == ["Cas"]
    assert await source.relations(before["relation"]) == []


async def test_changes_are_kept_until_every_consumer_has_applied_them(trueweave: AsyncTrueweave) -> None:
    one, other = (ProjectionSource(trueweave.workspace, name) for name in ("one", "other"))
    await trueweave.add_documents([document("a", "Ada")])
    first = await one.newest()
    await one.advance(first)
    await other.advance(0)
    await trueweave.add_documents([document("b", "Ben")])
    kept = Retention(LONG, LONG, LONG)
    assert (await forget_old(trueweave.workspace, kept)).changes == 0, "the other has applied nothing yet"
    await other.advance(first)
    assert (await forget_old(trueweave.workspace, kept)).changes == 4  # space, document, chunk, entity
    assert {change.kind for change in await other.changes(first)} == {"document", "chunk", "entity"}
    with pytest.raises(ChangesGone):
        await other.changes(0)
    async with trueweave.workspace.transaction() as tx:
        behind = {consumer.name: (consumer.position, consumer.behind) for consumer in await outbox.consumers(tx)}
        assert behind == {"one": (first, 3), "other": (first, 3)}
        assert await outbox.remove_consumer(tx, "other")
        assert not await outbox.remove_consumer(tx, "other")


async def test_a_position_never_goes_back(trueweave: AsyncTrueweave) -> None:
    source = ProjectionSource(trueweave.workspace, "test")
    for position in (5, 3):
        await source.advance(position)
    async with trueweave.workspace.transaction() as tx:
        assert [consumer.position for consumer in await outbox.consumers(tx)] == [5]


async def test_workspaces_that_were_dropped_are_told_if_somebody_followed_them(database: Database) -> None:
    made = [await AsyncTrueweave.enter(database, name, HashEmbedder()) for name in ("one", "two")]
    assert await outbox.dropped_workspaces(database) == []
    await ProjectionSource(made[0].workspace, "test").advance(0)
    for one in made:
        await one.maintenance.drop()
    assert await outbox.dropped_workspaces(database) == [made[0].workspace.id]
    assert await outbox.dropped_workspaces(database, after=made[0].workspace.id) == []
