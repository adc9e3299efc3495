"""Semantic search in Chroma."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from math import sqrt
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from trueweave.core.errors import ProjectionBehind, ProjectionMissing, StoreError
from trueweave.core.evidence import Scored
from trueweave.core.graph import GRAPH_KINDS, Metric, VectorKind
from trueweave.core.memo import Memo
from trueweave.core.protocols import Embedder, FindCopy, RecordReader, Vectors, VectorSearch
from trueweave.store.chroma.client import ChromaClient
from trueweave.store.chroma.target import collection_name
from trueweave.store.limits import FEW

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection

T = TypeVar("T")
Found = list[Scored[UUID]]

_AT_ONCE = 1000  # vectors read at a time
_DEEPER = 4  # factor by which the search is widened if too few results pass the filter


class ChromaVectors:
    """A `VectorSearch` for one question. `copy` finds the copy to read; the record decides what passes the filter;
    `own` are PostgreSQL's vectors, which know the embedding model."""

    def __init__(self, client: ChromaClient, copy: FindCopy, record: RecordReader, own: VectorSearch) -> None:
        self._client = client
        self._find_copy = copy
        self._record = record
        self._own = own
        self._memo = Memo()

    async def check_space(self, embedder: Embedder) -> None:
        """Check that the vectors come from this model. Raises NoVectors if there are none, SpaceMismatch for another
        model."""
        await self._own.check_space(embedder)
        collection = await self._collection("chunk")
        space = json.loads(str(collection.metadata["space"]))
        if space != [embedder.model, embedder.dimensions, embedder.metric]:
            had = space[0] if space else "no model"
            raise ProjectionBehind(
                f"the copy in Chroma has vectors of {had}, but the record now has vectors of {embedder.model}. Run "
                "`trueweave project start chroma` and ask again when `trueweave project status` reports that it is "
                "done."
            )

    async def nearest(self, kind: VectorKind, vectors: Vectors, limit: int) -> list[Found]:
        """For each vector the nearest items of a kind, nearest first."""
        if not len(vectors):
            return []
        await self._check(kind, vectors[0])
        documents = await self._memo.once("documents", self._record.documents)
        if documents is not None and not documents:
            return [[] for _ in vectors]
        collection = await self._collection(kind)
        if documents is None:
            return await self._query(collection, vectors, limit)
        if kind == "chunk" and len(documents) <= FEW:
            where = {"document": {"$in": [str(id_) for id_ in documents]}}
            return await self._query(collection, vectors, limit, where)
        visible = set(documents)
        return [await self._deeper(collection, kind, vector, limit, visible) for vector in vectors]

    async def rank(self, kind: VectorKind, ids: Sequence[UUID], vector: Vectors) -> Found:
        """These objects of a kind, nearest to a vector first. Objects without a vector are left out."""
        await self._check(kind, vector)
        documents = await self._memo.once("documents", self._record.documents)
        if not ids or (documents is not None and not documents):
            return []
        collection = await self._collection(kind)
        wanted = list(dict.fromkeys(ids))
        if documents is not None:
            passing = await self._passing(collection, kind, wanted, set(documents))
            wanted = [id_ for id_ in wanted if id_ in passing]
        found: Found = []
        for at in range(0, len(wanted), _AT_ONCE):
            found += await self._similar(collection, [str(id_) for id_ in wanted[at : at + _AT_ONCE]], vector)
        return sorted(found, key=lambda one: (-one.score, one.item))

    async def _check(self, kind: VectorKind, vector: Vectors) -> None:
        """Raise NoGraphVectors unless the record has a vector of each object of this kind: a search there says so."""
        if kind in GRAPH_KINDS:
            await self._memo.once("graph vectors", lambda: self._own.rank(kind, [UUID(int=0)], vector))

    async def _similar(self, collection: Collection, ids: list[str], vector: Vectors) -> Found:
        metric = _metric(collection)
        got = await self._asked(collection, lambda: collection.get(ids=ids, include=["embeddings"]))
        if not got["ids"]:
            return []
        rows = np.asarray(got["embeddings"], dtype=np.float64)
        return _scored(got["ids"], _distances(rows, _half(vector).astype(np.float64), metric), metric)

    async def _deeper(
        self, collection: Collection, kind: VectorKind, vector: Any, limit: int, visible: set[UUID]
    ) -> Found:
        """The nearest objects that pass the filter, searched for among more and more candidates."""
        count = await self._client.call(lambda _: collection.count())
        depth = _DEEPER * limit
        while True:
            [found] = await self._query(collection, np.array([vector]), min(depth, count))
            passing = await self._passing(collection, kind, [one.item for one in found], visible)
            kept = [one for one in found if one.item in passing]
            if len(kept) >= limit or depth >= count:
                return kept[:limit]
            depth *= _DEEPER

    async def _passing(
        self, collection: Collection, kind: VectorKind, ids: Sequence[UUID], visible: set[UUID]
    ) -> set[UUID]:
        """Those of these objects that documents passing the filter contain or mention."""
        if kind == "entity":
            return {one.id for one in await self._record.entities(ids)}
        if kind == "relation":
            return {one.id for one in await self._record.relations(ids)}
        listed = [str(id_) for id_ in ids]
        found = await self._client.call(lambda _: collection.get(ids=listed, include=["metadatas"]))
        told = zip(found["ids"], found["metadatas"] or [], strict=True)
        return {UUID(id_) for id_, metadata in told if UUID(str(metadata["document"])) in visible}

    async def _query(self, collection: Collection, vectors: Vectors, limit: int, where: Any = None) -> list[Found]:
        if limit < 1:
            return [[] for _ in vectors]
        found = await self._asked(
            collection,
            lambda: collection.query(
                query_embeddings=_half(vectors), n_results=limit, where=where, include=["distances"]
            ),
        )
        metric = _metric(collection)
        lists = zip(found["ids"], found["distances"] or [], strict=True)
        return [_scored(ids, distances, metric) for ids, distances in lists]

    async def _asked(self, collection: Collection, ask: Callable[[], T]) -> T:
        """Call a collection. Raises ProjectionMissing if it no longer exists."""
        try:
            return await self._client.call(lambda _: ask())
        except StoreError:
            self._client.collections.pop(collection.name, None)
            if await self._client.collection(collection.name) is None:
                raise self._missing() from None
            raise

    async def _collection(self, kind: VectorKind) -> Collection:
        copy = await self._memo.once("copy", self._find_copy)
        name = collection_name(copy, kind)
        if name not in self._client.collections:
            found = await self._client.collection(name)
            if found is None:
                raise self._missing()
            self._client.collections[name] = found
        return self._client.collections[name]

    def _missing(self) -> ProjectionMissing:
        return ProjectionMissing(
            f"{self._client.place} has no copy of this workspace any more. Run `trueweave project rebuild chroma`, or "
            'set vectors = "postgresql" to answer from the record meanwhile.'
        )


def _scored(ids: Sequence[str], distances: Sequence[float], metric: Metric) -> Found:
    """Objects with similarities as PostgreSQL computes them; equally near ones are ordered by id."""
    order = sorted(zip(distances, ids, strict=True))
    return [Scored(UUID(id_), _similarity(distance, metric)) for distance, id_ in order]


def _metric(collection: Collection) -> Metric:
    metric: Metric = json.loads(str(collection.metadata["space"]))[2]
    return metric


def _distances(rows: NDArray[np.float64], vector: NDArray[np.float64], metric: Metric) -> list[float]:
    """The distance of each row from a vector, as Chroma measures it."""
    if metric == "l2":
        return [float(one) for one in ((rows - vector) ** 2).sum(axis=1)]
    products = rows @ vector
    if metric == "cosine":
        products /= np.maximum(np.linalg.norm(rows, axis=1) * np.linalg.norm(vector), 1e-12)
    return [1 - float(one) for one in products]


def _half(vectors: Vectors) -> Vectors:
    """Vectors rounded to the record's precision, so that distances are the same in both stores."""
    return np.asarray(vectors, dtype=np.float16).astype(np.float32)


def _similarity(distance: float, metric: Metric) -> float:
    """The similarity for a distance. Chroma's are 1 - cosine, the squared Euclidean distance, and 1 - inner product."""
    return 1 / (1 + sqrt(max(distance, 0.0))) if metric == "l2" else 1 - distance
