"""Semantic search with pgvector."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from trueweave.core.evidence import Scored
from trueweave.core.graph import GRAPH_KINDS, VectorKind, check_kept
from trueweave.core.protocols import Embedder, Vectors
from trueweave.store.postgres.binary_params import Halves, Ids
from trueweave.store.postgres.reading.session import Session
from trueweave.store.postgres.search import search
from trueweave.store.postgres.vectors.vectors import half


class PostgresVectors:
    """A `VectorSearch`."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def check_space(self, embedder: Embedder) -> None:
        """Check that the vectors come from this model. Raises NoVectors if there are none, SpaceMismatch for another
        model."""
        await self._session.check_space(embedder)

    async def nearest(self, kind: VectorKind, vectors: Vectors, limit: int) -> list[list[Scored[UUID]]]:
        """For each vector the nearest items of a kind, nearest first."""
        session = self._session
        await self._check(kind)
        scope = await session.scope()
        found: list[list[Scored[UUID]]] = [[] for _ in vectors]
        if scope.is_empty or not len(vectors):
            return found
        params = {"vectors": Halves(vectors), **scope.params}
        workspace, shape = session.workspace.id, scope.shape
        rows = await session.located(lambda at: search.near(kind, at, workspace, limit, shape), params)
        similarity = (await session.layout()).space.similarity
        keep = session.details.keeper(kind)
        for n, id_, distance, *columns in rows:
            score = similarity(distance)
            keep(id_, score, columns)
            found[n - 1].append(Scored(id_, score))
        return found

    async def rank(self, kind: VectorKind, ids: Sequence[UUID], vector: Vectors) -> list[Scored[UUID]]:
        """These objects of a kind, nearest to a vector first. Objects without a vector are left out."""
        session = self._session
        await self._check(kind)
        scope = await session.scope()
        if scope.is_empty or not ids:
            return []
        params = {"ids": Ids(dict.fromkeys(ids)), "vector": half(vector), **scope.params}
        workspace, shape = session.workspace.id, scope.shape
        rows = await session.located(lambda at: search.ranked(kind, at, workspace, shape), params)
        similarity = (await session.layout()).space.similarity
        return [Scored(id_, similarity(distance)) for id_, distance in rows]

    async def _check(self, kind: VectorKind) -> None:
        """Raise NoGraphVectors unless all objects of this kind have a vector."""
        if kind in GRAPH_KINDS:
            check_kept(await self._session.graph_vectors())
