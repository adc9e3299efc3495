"""The graph, in PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from uuid import UUID

from trueweave.core.protocols import ChunkMention, Neighbourhood
from trueweave.store.postgres.reading.session import Session
from trueweave.store.postgres.search import search


class PostgresGraph:
    """A `GraphReader`."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def around(self, entities: Sequence[UUID], followed: Sequence[UUID], each: int) -> Neighbourhood[UUID]:
        """The relations of these entities and, for each `followed` entity, the chunks that mention most of its
        neighbours."""
        rows = await self._session.from_ids(
            partial(search.from_ids, "around"), {"each": each}, entities=entities, followed=followed
        )
        chunks = zip(*(part or () for part in rows[0][:3]), strict=True) if rows else ()
        relations = [self._session.details.add_relation(row[3:]) for row in rows if row[3] is not None]
        return Neighbourhood(relations, [ChunkMention(*row) for row in chunks])

    async def neighbourhood(self, entities: Sequence[UUID], hops: int) -> list[UUID]:
        """The relations reachable from these entities, in either direction, within this many hops."""
        if not hops:
            return []
        rows = await self._session.from_ids(partial(search.neighbourhood, hops), entities=entities)
        return [self._session.details.add_relation(row) for row in rows]

    async def chunks_of_entities(self, entities: Sequence[UUID]) -> list[tuple[UUID, UUID]]:
        """Pairs of an entity and a chunk that mentions it."""
        statement = partial(search.from_ids, "chunks_of_entities")
        return [(id_, chunk) for id_, chunk in await self._session.from_ids(statement, entities=entities)]

    async def chunks_of_relations(self, relations: Sequence[UUID]) -> list[tuple[UUID, UUID]]:
        """Pairs of a relation and a chunk that states it."""
        statement = partial(search.from_ids, "chunks_of_relations")
        return [(id_, chunk) for id_, chunk in await self._session.from_ids(statement, relations=relations)]
