"""Search by meaning, with pgvector."""

from __future__ import annotations

from itertools import groupby
from uuid import UUID

from trueweave.evidence import Scored
from trueweave.protocols import Embedder, Vectors
from trueweave.store.postgres import search
from trueweave.store.postgres.binary_params import Halves
from trueweave.store.postgres.connections import Row
from trueweave.store.postgres.reading.session import Session
from trueweave.types import VectorKind


class PostgresVectors:
    """A `VectorSearch`."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def check_space(self, embedder: Embedder) -> None:
        """Pass if the vectors were made by this model. NoVectors where there are none, SpaceMismatch for another."""
        await self._session.check_space(embedder)

    async def nearest(self, kind: VectorKind, vectors: Vectors, limit: int) -> list[list[Scored[UUID]]]:
        """For each vector the things of a kind nearest to it, nearest first."""
        session = self._session
        scope = await session.scope()
        found: list[list[Scored[UUID]]] = [[] for _ in vectors]
        if scope.is_empty or not len(vectors):
            return found
        params = {"vectors": Halves(vectors), **scope.params}
        workspace, shape = session.workspace.id, scope.shape
        rows = await session.located(lambda at: search.near(kind, at, workspace, limit, shape), params)
        similarity = (await session.layout()).space.similarity
        for n, some in groupby(rows, key=lambda row: row[0]):
            scored = [(id_, similarity(distance), *columns) for _, id_, distance, *columns in some]
            self._keep(kind, scored)
            found[n - 1] = [Scored(id_, score) for id_, score, *_ in scored]
        return found

    def _keep(self, kind: VectorKind, rows: list[Row]) -> None:
        """Keep the details that came along."""
        details = self._session.details
        if kind == "chunk":
            details.add_passages(rows)
        for _, _, *columns in rows:
            if kind == "entity":
                details.add_entity(columns)
            elif kind == "relation":
                details.add_relation(columns)
