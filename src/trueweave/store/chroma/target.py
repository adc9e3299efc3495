"""A copy of the vectors in Chroma, maintained by a projector: one collection per kind, with the texts.

Chroma has no transactions. The position of a copy is stored as metadata of its first collection, after everything else
is written, so it never claims more than is there.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np

from trueweave.core.errors import StoreError
from trueweave.core.graph import Metric, VectorKind
from trueweave.core.projections import ProjectedBatch, ProjectedKind, ProjectionCopy
from trueweave.core.protocols import NameLookup
from trueweave.graph.aggregate import entity_text, relation_text
from trueweave.store.chroma.client import ChromaClient

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection

KINDS: tuple[VectorKind, ...] = ("chunk", "entity", "relation")

_SPACES: dict[Metric, str] = {"cosine": "cosine", "l2": "l2", "inner": "ip"}
_HNSW = {"ef_search": 200}  # search candidates; everything else has Chroma's defaults
_PAGE = 1000


def collection_name(copy: str, kind: VectorKind) -> str:
    """The name of a copy's collection for one kind."""
    return f"trueweave-{copy}-{kind}"


class ChromaTarget:
    """A `ProjectionTarget`. `hnsw` configures the indexes, using Chroma's own names: higher numbers are slower and find
    more."""

    name = "chroma"
    kinds: Sequence[ProjectedKind] = ("chunk", "entity", "relation")
    vector_kinds: Sequence[VectorKind] = KINDS

    def __init__(self, client: ChromaClient, *, hnsw: Mapping[str, int] = _HNSW) -> None:
        self._client = client
        self._hnsw = hnsw

    async def begin(self, copy: ProjectionCopy) -> None:
        """Create the collections of a copy."""
        metric = copy.space[2] if copy.space else "cosine"
        configuration: Any = {"hnsw": {"space": _SPACES[metric], **self._hnsw}}
        metadata = {"position": -1, "workspace": copy.workspace, "space": json.dumps(copy.space)}
        for kind in reversed(KINDS):  # the first one holds the position, so it is created last
            await self._client.call(
                lambda client, kind=kind: client.get_or_create_collection(  # type: ignore[misc]
                    collection_name(copy.id, kind),
                    metadata=metadata,
                    configuration=configuration,
                    embedding_function=None,
                )
            )

    async def position(self, copy: str) -> int | None:
        """The last change applied to a copy; -1 while it is being filled, None if there is no such copy."""
        found = await self._client.collection(collection_name(copy, "chunk"))
        return int(found.metadata["position"]) if found else None

    async def write(self, copy: str, batch: ProjectedBatch, names: NameLookup, position: int) -> None:
        """Write a batch: objects with a vector are stored with their text, objects without one are deleted."""
        if await self.position(copy) != position:
            raise StoreError(f"the copy {copy} in Chroma was updated by another projector in the meantime")
        for kind in KINDS:
            records = _records(batch, kind)
            vectors = batch.vectors.get(kind, {})
            gone = [*batch.removed.get(kind, ()), *(id_ for id_ in records if id_ not in vectors)]
            stored = {id_: record for id_, record in records.items() if id_ in vectors}
            if stored or gone:
                collection = await self._collection(copy, kind)
                most = await self._client.call(lambda client: client.get_max_batch_size())
                await self._store(collection, stored, vectors, most)
                await self._delete(collection, gone, most)

    async def advance(self, copy: str, before: int, position: int) -> None:
        """Record that everything up to a position is written."""
        collection = await self._collection(copy, "chunk")
        if int(collection.metadata["position"]) != before:
            raise StoreError(f"the copy {copy} in Chroma was updated by another projector in the meantime")
        metadata = {**collection.metadata, "position": position}
        await self._client.call(lambda _: collection.modify(metadata=metadata))

    async def drop(self, copy: str) -> None:
        """Delete a copy."""
        for kind in KINDS:
            name = collection_name(copy, kind)
            if await self._client.collection(name):
                await self._client.call(lambda client, name=name: client.delete_collection(name))  # type: ignore[misc]

    async def _collection(self, copy: str, kind: VectorKind) -> Collection:
        found = await self._client.collection(collection_name(copy, kind))
        if found is None:
            raise StoreError(f"{self._client.place} has no copy {copy} any more")
        return found

    async def _store(
        self,
        collection: Collection,
        records: Mapping[UUID, tuple[str, dict[str, str]]],
        vectors: Mapping[UUID, Sequence[float]],
        most: int,
    ) -> None:
        ids = list(records)
        for start in range(0, len(ids), most):
            some = ids[start : start + most]
            await self._client.call(
                lambda _, some=some: collection.upsert(  # type: ignore[misc]
                    ids=[str(id_) for id_ in some],
                    embeddings=np.array([vectors[id_] for id_ in some], dtype=np.float32),
                    documents=[records[id_][0] for id_ in some],
                    metadatas=[dict(records[id_][1]) for id_ in some],
                )
            )

    async def _delete(self, collection: Collection, ids: Sequence[UUID], most: int) -> None:
        for start in range(0, len(ids), most):
            some = [str(id_) for id_ in ids[start : start + most]]
            await self._client.call(lambda _, some=some: collection.delete(ids=some))  # type: ignore[misc]

    # --- comparing ----------------------------------------------------------------------------------------

    async def contents(self, copy: str, kind: ProjectedKind) -> AsyncIterator[dict[UUID, str]]:
        """The contents of a copy of one kind, page by page."""
        collection = await self._collection(copy, _vector_kind(kind))
        offset = 0
        while True:
            found = await self._client.call(
                lambda _, offset=offset: collection.get(  # type: ignore[misc]
                    limit=_PAGE, offset=offset, include=["documents", "metadatas", "embeddings"]
                )
            )
            if not found["ids"]:
                return
            stored: Any = found["embeddings"]
            rows = zip(found["ids"], found["documents"] or [], found["metadatas"] or [], stored, strict=True)
            yield {UUID(id_): _text(text, metadata or {}, vector) for id_, text, metadata, vector in rows}
            offset += _PAGE

    def expected(self, batch: ProjectedBatch, kind: ProjectedKind) -> dict[UUID, str]:
        """What a correct copy contains for these objects."""
        vectors = batch.vectors.get(_vector_kind(kind), {})
        records = _records(batch, _vector_kind(kind))
        return {id_: _text(*records[id_], vector) for id_, vector in vectors.items() if id_ in records}


def _vector_kind(kind: ProjectedKind) -> VectorKind:
    if kind == "document":
        raise ValueError("documents have no vectors")
    return kind


def _records(batch: ProjectedBatch, kind: VectorKind) -> dict[UUID, tuple[str, dict[str, str]]]:
    """The text and metadata stored with the vectors of a kind."""
    if kind == "chunk":
        return {one.id: (one.text, {"document": str(one.document)}) for one in batch.chunks}
    if kind == "entity":
        entities = [one.entity for one in batch.entities]
        return {e.id: (entity_text(e.name, e.type, e.description), {"name": e.name, "type": e.type}) for e in entities}
    relations = [one.relation for one in batch.relations]
    return {
        r.id: (
            relation_text(r.source_name, r.target_name, r.description, r.keywords),
            {"source": str(r.source), "target": str(r.target)},
        )
        for r in relations
    }


def _text(text: str, metadata: Mapping[str, Any], vector: Any) -> str:
    rounded = [round(float(value), 4) + 0.0 for value in vector]
    return json.dumps([text, dict(metadata), rounded], ensure_ascii=False, sort_keys=True)
