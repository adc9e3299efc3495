"""The graph and the record for one question of a caller who does not see all documents."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from trueweave.core.graph import Entity, Relation
from trueweave.store.limits import FAN_OUT, MOST_RELATIONS, WIDE
from trueweave.store.postgres.reading.graph import PostgresGraph
from trueweave.store.postgres.reading.record import PostgresRecord


class SeenRecord(PostgresRecord):
    """A `RecordReader`: entities and relations are those of the documents that the caller sees."""

    async def entities(self, ids: Sequence[UUID]) -> list[Entity]:
        if not await self._session.is_restricted():
            return await super().entities(ids)
        async with self._session.seen() as seen:
            return await seen.entities_with(ids)

    async def relations(self, ids: Sequence[UUID]) -> list[Relation]:
        if not await self._session.is_restricted():
            return await super().relations(ids)
        async with self._session.seen() as seen:
            return await seen.relations_with(ids)


class SeenGraphReader(PostgresGraph):
    """A `GraphReader`: of neighbourhoods, what the caller sees. What else it reads is refused to such a caller."""

    async def neighbourhood(self, entities: Sequence[UUID], hops: int) -> list[UUID]:
        if not await self._session.is_restricted():
            return await super().neighbourhood(entities, hops)
        async with self._session.seen() as seen:
            return await seen.neighbourhood(entities, hops, wide=WIDE, fan_out=FAN_OUT, most=MOST_RELATIONS)
