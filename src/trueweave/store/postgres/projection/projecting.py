"""Reads the view for other stores to copy: by ids from the outbox, or page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import replace
from uuid import UUID

from trueweave.core.evidence import Filter
from trueweave.core.graph import Metric, VectorKind
from trueweave.core.projections import (
    Change,
    ChangeKind,
    ProjectedBatch,
    ProjectedChunk,
    ProjectedCommunity,
    ProjectedDocument,
    ProjectedEntity,
    ProjectedKind,
    ProjectedRelation,
)
from trueweave.core.protocols import Readers
from trueweave.store.postgres.binary_params import Ids
from trueweave.store.postgres.db import Workspace
from trueweave.store.postgres.queue import outbox
from trueweave.store.postgres.reading import VectorLayoutCache, open_readers
from trueweave.store.postgres.vectors import vectors

_FIRST = UUID(int=0)
_PAGE = 1000
_PLURAL: dict[ProjectedKind, str] = {
    "document": "documents",
    "chunk": "chunks",
    "entity": "entities",
    "relation": "relations",
    "community": "communities",
}


class ProjectionSource:
    """One workspace, as a consumer of its outbox sees it. Objects are returned in their current state, so a change may
    be applied twice, and in any order with others of its kind."""

    def __init__(self, workspace: Workspace, consumer: str) -> None:
        self.workspace = workspace
        self.consumer = consumer

    # --- following ----------------------------------------------------------------------------------------

    async def newest(self) -> int:
        """The last readable position: copy the whole index after this call, then follow its changes from here."""
        async with self.workspace.transaction() as tx:
            return await outbox.newest(tx)

    async def changes(self, after: int, limit: int = 1000) -> list[Change]:
        """The changes after a position, in order. Raises ChangesGone if they are no longer kept."""
        async with self.workspace.transaction() as tx:
            return await outbox.changes(tx, after, limit)

    async def advance(self, position: int) -> None:
        """Record that all changes up to here are applied, so the outbox need not keep them for this consumer."""
        async with self.workspace.transaction() as tx:
            await outbox.advance(tx, self.consumer, position)

    async def position(self) -> int | None:
        """This consumer's recorded position; None if it is not registered."""
        async with self.workspace.transaction() as tx:
            found = [one.position for one in await outbox.consumers(tx) if one.name == self.consumer]
        return found[0] if found else None

    async def pages(self, kind: ProjectedKind, size: int = _PAGE) -> AsyncIterator[list[UUID]]:
        """The ids of all objects of a kind, `size` at a time, for a copy from scratch."""
        after: UUID | None = _FIRST
        while after is not None:
            async with self.workspace.transaction() as tx:
                page = [id_ for (id_,) in await tx.rows(f"outbox.page_of_{_PLURAL[kind]}", after=after, limit=size)]
            if page:
                yield page
            after = page[-1] if page else None

    async def read(
        self, changes: Sequence[Change], kinds: Sequence[ProjectedKind], vectors: Sequence[VectorKind]
    ) -> ProjectedBatch:
        """The current state of what these changes affect, for these kinds: objects that exist, and removed ones that
        still do not exist.

        An object that one of the changes wrote and a change not among them removed is in neither; the latter change
        covers it.
        """
        told: dict[ProjectedKind, dict[UUID, bool]] = {kind: {} for kind in kinds}
        for change in changes:
            kind: ProjectedKind | None = "community" if change.kind == "report" else _kind(change.kind)
            if kind in told:
                removed = change.removed and change.kind != "report"
                told[kind] |= dict.fromkeys(change.ids, removed)
        batch = ProjectedBatch()
        for kind, ids in told.items():
            if ids:
                batch = await self._with(batch, kind, list(ids), vectors)
        there = {
            "document": {one.id for one in batch.documents},
            "chunk": {one.id for one in batch.chunks},
            "entity": {one.entity.id for one in batch.entities},
            "relation": {one.relation.id for one in batch.relations},
            "community": {one.id for one in batch.communities},
        }
        gone = {
            kind: [id_ for id_, removed in ids.items() if removed and id_ not in there[kind]]
            for kind, ids in told.items()
        }
        return replace(batch, removed={kind: ids for kind, ids in gone.items() if ids})

    async def read_page(
        self, kind: ProjectedKind, ids: Sequence[UUID], vectors: Sequence[VectorKind]
    ) -> ProjectedBatch:
        """Those of these objects that exist, with the data that a copy needs."""
        return await self._with(ProjectedBatch(), kind, ids, vectors)

    async def _with(
        self, batch: ProjectedBatch, kind: ProjectedKind, ids: Sequence[UUID], vectors: Sequence[VectorKind]
    ) -> ProjectedBatch:
        """The batch, with objects of a kind added."""
        if kind == "document":
            return replace(batch, documents=await self.documents(ids))
        if kind == "community":
            return replace(batch, communities=await self.communities(ids))
        if kind in vectors:
            batch = replace(batch, vectors={**batch.vectors, kind: await self.vectors(kind, ids)})
        if kind == "entity":
            entities = await self.entities(ids)
            names = {name: one.entity.id for one in entities for name in one.names}
            return replace(batch, entities=entities, entity_of={**batch.entity_of, **names})
        if kind == "relation":
            relations = await self.relations(ids)
            pairs = {pair: one.relation.id for one in relations for pair in one.pairs}
            return replace(batch, relations=relations, relation_of={**batch.relation_of, **pairs})
        chunks = await self.chunks(ids)
        entity_of = await self.entities_of_names({name for one in chunks for name, _ in one.mentions})
        relation_of = await self.relations_of_pairs({(s, t) for one in chunks for s, t, _ in one.links})
        return replace(
            batch,
            chunks=chunks,
            entity_of={**batch.entity_of, **entity_of},
            relation_of={**batch.relation_of, **relation_of},
        )

    # --- what is behind ids -------------------------------------------------------------------------------

    async def documents(self, ids: Sequence[UUID]) -> list[ProjectedDocument]:
        """Those of these documents that are visible."""
        async with self.workspace.transaction() as tx:
            return [ProjectedDocument(*row) for row in await tx.rows("outbox.documents", ids=Ids(ids))]

    async def chunks(self, ids: Sequence[UUID]) -> list[ProjectedChunk]:
        """Those of these chunks that are visible, with the names that they mention and the pairs that they link."""
        async with self.workspace.transaction() as tx:
            rows = await tx.rows("outbox.chunks", ids=Ids(ids))
        return [
            ProjectedChunk(
                id_,
                document,
                n,
                text,
                tuple((UUID(name), emphasis) for name, emphasis in mentions),
                tuple((UUID(source), UUID(target), strength) for source, target, strength in links),
            )
            for id_, document, n, text, mentions, links in rows
        ]

    async def entities(self, ids: Sequence[UUID]) -> list[ProjectedEntity]:
        """Those of these entities that exist, each with its names and its smallest community."""
        found = await self._readers().record.entities(ids)
        async with self.workspace.transaction() as tx:
            names: dict[UUID, list[UUID]] = dict(await tx.rows("outbox.names_of_entities", ids=Ids(ids)))
            communities: dict[UUID, UUID] = dict(await tx.rows("outbox.communities_of_entities", ids=Ids(ids)))
        return [ProjectedEntity(one, tuple(names.get(one.id, ())), communities.get(one.id)) for one in found]

    async def relations(self, ids: Sequence[UUID]) -> list[ProjectedRelation]:
        """Those of these relations that exist, each with the pairs of names that it is made of."""
        found = await self._readers().record.relations(ids)
        async with self.workspace.transaction() as tx:
            rows = await tx.rows("outbox.pairs_of_relations", ids=Ids(ids))
        pairs = {id_: tuple(zip(sources, targets, strict=True)) for id_, sources, targets in rows}
        return [ProjectedRelation(relation, pairs.get(relation.id, ())) for relation in found]

    async def entities_of_names(self, names: Iterable[UUID]) -> dict[UUID, UUID]:
        """The entity of each of these names that has one."""
        async with self.workspace.transaction() as tx:
            return dict(await tx.rows("outbox.entities_of_names", ids=Ids(names)))

    async def relations_of_pairs(self, pairs: Iterable[tuple[UUID, UUID]]) -> dict[tuple[UUID, UUID], UUID]:
        """The relation of each of these pairs of names that has one."""
        listed = list(pairs)
        sources, targets = Ids(source for source, _ in listed), Ids(target for _, target in listed)
        async with self.workspace.transaction() as tx:
            rows = await tx.rows("outbox.relations_of_pairs", sources=sources, targets=targets)
        return {(source, target): relation for source, target, relation in rows}

    async def space(self) -> tuple[str, int, Metric] | None:
        """The embedding space of the workspace: the model, its dimensions and the metric; None without vectors."""
        async with self.workspace.transaction() as tx:
            found = await vectors.space(tx)
        return (found.model, found.dimensions, found.metric) if found else None

    async def communities(self, ids: Sequence[UUID]) -> list[ProjectedCommunity]:
        """Those of these communities that exist, with their reports and the members that are in no smaller
        community."""
        async with self.workspace.transaction() as tx:
            rows = await tx.rows("outbox.communities", ids=Ids(ids))
        return [ProjectedCommunity(*(*row, tuple(members))) for *row, members in rows]

    async def vectors(self, kind: VectorKind, ids: Sequence[UUID]) -> dict[UUID, list[float]]:
        """The vectors of these objects, for those that have one."""
        async with self.workspace.transaction() as tx:
            found = await vectors.of_ids(tx, kind, ids)
        return {id_: vector.to_list() for id_, vector in found.items()}

    def _readers(self) -> Readers:
        return open_readers(VectorLayoutCache(self.workspace), Filter())


def _kind(kind: ChangeKind) -> ProjectedKind | None:
    return kind if kind != "space" and kind != "report" else None
