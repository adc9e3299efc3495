"""Keyword search: BM25 in PostgreSQL."""

from __future__ import annotations

from uuid import UUID

from trueweave.core.evidence import Scored
from trueweave.store.postgres.connections import Row
from trueweave.store.postgres.reading.session import Session
from trueweave.store.postgres.search import search
from trueweave.store.postgres.search.document_filter import Scope

_WEIGHED = 2000  # maximum number of chunks that a search scores, when a filter is applied to its results


class PostgresText:
    """A `TextSearch`."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def matching(self, text: str, limit: int, *, k1: float, b: float) -> list[Scored[UUID]]:
        """The chunks that match the words of a text best, best first."""
        scope = await self._session.scope()
        rows: list[Row] = []
        for most in _depths(limit, scope):
            params = {"text": text, "k1": k1, "b": b, **scope.params}
            rows = await self._session.rows(search.matching(most, scope.shape), params)
            if len(rows) >= limit:
                break
        self._session.details.add_passages(rows)
        return [Scored(id_, score) for id_, score, *_ in rows[:limit]]


def _depths(limit: int, scope: Scope) -> list[int]:
    """How many matches to look for, first and then if too few of them pass the filter. A filter that many documents
    pass is applied to the results, in the end to everything that a search scores."""
    if scope.is_empty:
        return []
    is_exact = scope.shape.by_ids or scope.shape.is_all  # a list of documents is all that is scored
    return [limit] if is_exact else [10 * limit, max(_WEIGHED, 10 * limit)]
