"""Reads objects by id."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, TypeVar
from uuid import UUID

from trueweave.core.evidence import Passage, Scored
from trueweave.core.graph import Entity, Relation
from trueweave.core.protocols import ReportFound, Vectors
from trueweave.store.postgres.binary_params import Ids
from trueweave.store.postgres.connections import Row
from trueweave.store.postgres.queries import QUERIES
from trueweave.store.postgres.reading.session import Session
from trueweave.store.postgres.search import search
from trueweave.store.postgres.search.document_filter import FilterShape
from trueweave.store.postgres.vectors.vectors import half
from trueweave.store.postgres.view.communities import read_findings

T = TypeVar("T")

_DEEPER = 4  # factor for how many more chunks are read if too many had the same text


class PostgresRecord:
    """A `RecordReader`."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def is_empty(self) -> bool:
        """Whether no document passes the filter. Needs no statement for a filter that has been used before."""
        scope = await self._session.scope()
        if scope.few is not None or scope.conditions:
            return scope.is_empty
        some = "search.some_seen_document" if scope.seen else "search.some_document"
        return not await self._session.rows(QUERIES[some].encode())

    async def documents(self) -> list[UUID] | None:
        """The ids of the documents that pass the filter; None if all do."""
        scope = await self._session.scope()
        if scope.shape.is_all:
            return None
        if scope.few is not None:
            return [id_ for id_ in scope.few if id_]
        return [id_ for (id_,) in await self._session.rows(search.documents(scope.shape), scope.params)]

    async def passages(self, chunks: Sequence[Scored[UUID]], limit: int) -> list[Passage]:
        """The passages for these chunks with these scores, in that order: at most `limit` different texts, without
        chunks that no longer exist."""
        found: dict[UUID, Passage] = {}
        left, size = list(chunks), limit
        while left and len(found) < limit:
            some, left = left[:size], left[size:]
            await self._know_passages(some)
            for one in some:
                if passage := self._session.details.passages[one.item]:
                    found.setdefault(passage.id, _scored(passage, one.score))
            size *= _DEEPER
        return list(found.values())[:limit]

    async def _know_passages(self, chunks: Sequence[Scored[UUID]]) -> None:
        known = self._session.details.passages
        unknown = [chunk for chunk in chunks if chunk.item not in known]
        scope = await self._session.scope()
        if unknown and not scope.is_empty:
            params = {"ids": Ids(c.item for c in unknown), "scores": [c.score for c in unknown], **scope.params}
            self._session.details.add_passages(await self._session.rows(search.passages(scope.shape), params))
        for chunk in unknown:  # not earlier, because parts of a method read concurrently
            known.setdefault(chunk.item, None)

    async def entities(self, ids: Sequence[UUID]) -> list[Entity]:
        """The entities with these ids, in that order, without removed ones."""
        details = self._session.details
        return await self._known(ids, details.entities, search.entities, details.add_entity)

    async def relations(self, ids: Sequence[UUID]) -> list[Relation]:
        """The relations with these ids, in that order, without removed ones."""
        details = self._session.details
        return await self._known(ids, details.relations, search.relations, details.add_relation)

    async def _known(
        self,
        ids: Sequence[UUID],
        known: dict[UUID, T | None],
        statement: Callable[[FilterShape], bytes],
        add: Callable[[Sequence[Any]], UUID],
    ) -> list[T]:
        """The cached objects with these ids, after reading those that are missing from the cache."""
        if unknown := [id_ for id_ in ids if id_ not in known]:
            rows = await self._session.from_ids(statement, ids=unknown)
            for row in rows:
                add(row)
            for id_ in unknown:
                known.setdefault(id_, None)
        return [found for id_ in ids if (found := known[id_]) is not None]

    async def mentioned(self, chunks: Sequence[UUID]) -> list[tuple[UUID, UUID]]:
        """Pairs of a chunk and an entity that it mentions."""
        if not chunks:
            return []
        rows = await self._session.rows(QUERIES["search.mentioned"].encode(), {"ids": Ids(chunks)})
        return [(chunk, entity) for chunk, entity in rows]

    async def report_levels(self) -> list[int]:
        """How many reports can be read at each level of communities, outermost first. Reports are made from all
        documents, so a caller who does not see all can read none."""
        if await self._session.is_restricted():
            return []
        rows = await self._session.rows(QUERIES["search.report_levels"].encode())
        whole = accumulate((leaves for _, leaves in rows), initial=0)
        return [here + further_out for (here, _), further_out in zip(rows, whole, strict=False)]

    async def reports(self, level: int, limit: int, vector: Vectors | None) -> list[ReportFound]:
        """The reports to read at a level: those nearest to a vector or, without a vector, those on the largest
        communities."""
        session = self._session
        params: dict[str, Any] = {"level": level, "limit": limit}
        if vector is None:
            rows = await session.rows(search.largest_reports(), params)
            return [_report(row, 0.0) for row in rows]
        params["vector"] = half(vector)
        rows = await session.located(lambda at: search.reports(at, session.workspace.id), params)
        similarity = (await session.layout()).space.similarity
        return [_report(row, similarity(row[-1])) for row in rows]

    async def reports_on(self, level: int, entities: Sequence[UUID], limit: int) -> list[ReportFound]:
        """The reports to read at a level on the communities that these entities are in."""
        if not entities:
            return []
        params = {"level": level, "limit": limit, "ids": Ids(entities)}
        rows = await self._session.rows(QUERIES["search.reports_on"].encode(), params)
        return [_report(row, row[-1]) for row in rows]


def _scored(passage: Passage, score: float) -> Passage:
    return passage if passage.score == score else replace(passage, score=score)


def _report(row: Row, score: float) -> ReportFound:
    *columns, findings, stale, _ = row
    return ReportFound(*(*columns, read_findings(findings), stale, score))
