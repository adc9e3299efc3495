"""The view as other stores copy it: by ids out of the outbox, or page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from uuid import UUID

from trueweave.evidence import Filter
from trueweave.protocols import Readers
from trueweave.store.postgres import outbox, vectors
from trueweave.store.postgres.binary_params import Ids
from trueweave.store.postgres.db import Workspace
from trueweave.store.postgres.reading import VectorLayoutCache, open_readers
from trueweave.types import (
    Change,
    ProjectedChunk,
    ProjectedCommunity,
    ProjectedDocument,
    ProjectedEntity,
    ProjectedKind,
    ProjectedRelation,
    VectorKind,
)

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
    """One workspace, as a consumer of its outbox sees it. What is behind an id is told as it is now: a change may be
    applied twice, and in any order with others of its kind."""

    def __init__(self, workspace: Workspace, consumer: str) -> None:
        self.workspace = workspace
        self.consumer = consumer

    # --- following ----------------------------------------------------------------------------------------

    async def newest(self) -> int:
        """The last position that can be read: copy the whole index after this, then follow its changes from here on."""
        async with self.workspace.transaction() as tx:
            return await outbox.newest(tx)

    async def changes(self, after: int, limit: int = 1000) -> list[Change]:
        """What changed after a position, in order. ChangesGone where that is kept no longer."""
        async with self.workspace.transaction() as tx:
            return await outbox.changes(tx, after, limit)

    async def advance(self, position: int) -> None:
        """All changes up to here are applied, so the outbox need not keep them for this consumer."""
        async with self.workspace.transaction() as tx:
            await outbox.advance(tx, self.consumer, position)

    async def pages(self, kind: ProjectedKind, size: int = _PAGE) -> AsyncIterator[list[UUID]]:
        """The ids of all things of a kind, so many at a time, for a copy from nothing."""
        after: UUID | None = _FIRST
        while after is not None:
            async with self.workspace.transaction() as tx:
                page = [id_ for (id_,) in await tx.rows(f"outbox.page_of_{_PLURAL[kind]}", after=after, limit=size)]
            if page:
                yield page
            after = page[-1] if page else None

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
        """Those of these entities that are there, each with the names that it has."""
        found = await self._readers().record.entities(ids)
        async with self.workspace.transaction() as tx:
            names: dict[UUID, list[UUID]] = dict(await tx.rows("outbox.names_of_entities", ids=Ids(ids)))
        return [ProjectedEntity(entity, tuple(names.get(entity.id, ()))) for entity in found]

    async def relations(self, ids: Sequence[UUID]) -> list[ProjectedRelation]:
        """Those of these relations that are there, each with the pairs of names that it is made of."""
        found = await self._readers().record.relations(ids)
        async with self.workspace.transaction() as tx:
            rows = await tx.rows("outbox.pairs_of_relations", ids=Ids(ids))
        pairs = {id_: tuple(zip(sources, targets, strict=True)) for id_, sources, targets in rows}
        return [ProjectedRelation(relation, pairs.get(relation.id, ())) for relation in found]

    async def communities(self, ids: Sequence[UUID]) -> list[ProjectedCommunity]:
        """Those of these communities that are there, with what is written about them and who is in no smaller one."""
        async with self.workspace.transaction() as tx:
            rows = await tx.rows("outbox.communities", ids=Ids(ids))
        return [ProjectedCommunity(*(*row, tuple(members))) for *row, members in rows]

    async def vectors(self, kind: VectorKind, ids: Sequence[UUID]) -> dict[UUID, list[float]]:
        """The vectors of these things, where there are any."""
        async with self.workspace.transaction() as tx:
            found = await vectors.of_ids(tx, kind, ids)
        return {id_: vector.to_list() for id_, vector in found.items()}

    def _readers(self) -> Readers:
        return open_readers(VectorLayoutCache(self.workspace), Filter())
