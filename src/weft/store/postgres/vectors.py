"""Vectors: one table per embedding space and kind, searched exactly while small and by HNSW when large.

A filtered HNSW scan returns too few rows, and the planner does not choose well between the two ways. So there is
nothing to choose: the common table of a space has no HNSW index, and a search in it reads all vectors of the one
workspace. A workspace that outgrows this gets a table of its own, which holds no one else's vectors and needs no
filter, with an HNSW index. See docs/adr/0004-embedding-spaces.md for the measurements behind `OWN_SHELF_FROM`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np
from pgvector import HalfVector
from psycopg import sql

from weft.graph.aggregate import entity_text, relation_text
from weft.graph.plan import Text
from weft.protocols import Embedder, Vectors
from weft.store.postgres.db import Database, Transaction
from weft.store.postgres.locks import WHOLE, bump, lock
from weft.store.postgres.queries import QUERIES
from weft.types import VECTOR_KINDS, Hit, Metric, VectorKind

OWN_SHELF_FROM = 10_000

_OPERATORS: dict[str, sql.SQL] = {"cosine": sql.SQL("<=>"), "l2": sql.SQL("<->"), "inner": sql.SQL("<#>")}
_STAGE = ("text", "uuid", "uuid", "halfvec")
_BATCH = 500


class Space(NamedTuple):
    """An embedding space: what makes vectors comparable."""

    id: int
    model: str
    dimensions: int
    metric: Metric

    def is_of(self, embedder: Embedder) -> bool:
        own = (self.model, self.dimensions, self.metric)
        return own == (embedder.model, embedder.dimensions, embedder.metric)


class Vector(NamedTuple):
    """A vector to be stored, with the hash of the text that it stands for."""

    kind: VectorKind
    id: UUID
    text_hash: UUID
    values: HalfVector


async def space(tx: Transaction) -> Space | None:
    """The space in which the workspace answers; None while it has no vectors."""
    rows = await tx.rows("vectors.space")
    return Space(*rows[0]) if rows else None


async def tables(tx: Transaction) -> dict[str, sql.Identifier]:
    """The vector tables in which the workspace's answers are found, by kind; none while it has no vectors."""
    where = await space(tx)
    if where is None:
        return {}
    shelves = await _shelves(tx, where)
    return {kind: _table(tx, where, kind, shelves) for kind in VECTOR_KINDS}


async def make_space(database: Database, workspace: int, embedder: Embedder) -> Space:
    """The space of an embedder, with its tables."""
    async with database.transaction(workspace) as tx:
        id_ = await tx.value(
            "vectors.make_space", model=embedder.model, dimensions=embedder.dimensions, metric=embedder.metric
        )
    return Space(id_, embedder.model, embedder.dimensions, embedder.metric)


async def write(
    tx: Transaction, where: Space, vectors: Sequence[Vector], gone: Iterable[tuple[VectorKind, UUID]]
) -> None:
    """Put these vectors in the place of any older ones, and take away those of what is gone."""
    shelves = await _shelves(tx, where)
    stale: dict[VectorKind, list[UUID]] = {kind: [] for kind in VECTOR_KINDS}
    for kind, id_ in (*gone, *((v.kind, v.id) for v in vectors)):
        stale[kind].append(id_)
    if vectors:
        await tx.run("vectors.stage")
        await tx.copy("stage_vector", _STAGE, vectors)
    for kind, ids in stale.items():
        if ids:
            await _run(tx, "vectors.remove", _table(tx, where, kind, shelves), ids=ids)
    for kind in {v.kind for v in vectors}:
        await _run(tx, "vectors.insert", _table(tx, where, kind, shelves), kind=kind)


async def nearest(database: Database, workspace: int, kind: VectorKind, vector: Vectors, limit: int) -> list[Hit]:
    """The things of a kind nearest to a vector, nearest first."""
    async with database.transaction(workspace, snapshot=True) as tx:
        rows = await tx.rows("vectors.place", kind=kind)
        if not rows:
            return []
        *named, own = rows[0]
        where = Space(*named)
        table = _table(tx, where, kind, {kind: True} if own else {})
        query = sql.SQL(QUERIES["vectors.nearest"]).format(table=table, operator=_OPERATORS[where.metric])
        if limit > 100:  # an HNSW scan returns at most ef_search rows
            await tx.connection.execute("SELECT set_config('hnsw.ef_search', %s, true)", (str(min(2 * limit, 1000)),))
        cursor = await tx.connection.execute(query, {"vector": half(vector), "limit": limit})
        return [Hit(id_, distance) for id_, distance in await cursor.fetchall()]


def half(vector: Vectors) -> HalfVector:
    """A vector as it is stored: 16 bits a number."""
    return HalfVector(vector.astype(np.float16))


async def shelve(database: Database, workspace: int) -> list[VectorKind]:
    """Give the workspace a table and an HNSW index of its own for each kind that has outgrown the common table."""
    grown: list[VectorKind] = []
    async with database.transaction(workspace) as tx:
        where = await space(tx)
        shelves = await _shelves(tx, where) if where else {}
        small = [kind for kind in VECTOR_KINDS if kind not in shelves]
        counts = {k: await _count(tx, where, k) for k in small} if where else {}
    if where is None:
        return []
    for kind in VECTOR_KINDS:
        if counts.get(kind, 0) >= OWN_SHELF_FROM:
            async with database.transaction(workspace) as tx:
                await lock(tx, frozenset((WHOLE,)))
                if kind not in await _shelves(tx, where):
                    await tx.run("vectors.own_shelf", space=where.id, kind=kind)
        elif shelves.get(kind, True):
            continue
        async with database.transaction(workspace) as tx:
            await tx.run("vectors.memory", size="1GB")
            if not (await _shelves(tx, where)).get(kind, True):
                await tx.run("vectors.index_shelf", space=where.id, kind=kind)
                grown.append(kind)
    return grown


async def change_space(
    database: Database, workspace: int, embedder: Embedder, progress: Callable[[int], None] = lambda _: None
) -> None:
    """Embed everything with another model beside the old vectors, then switch to it at once.

    Readers are answered from the old space until the switch. Only what changed while the new one was being filled is
    embedded with settlers waiting.
    """
    new = await make_space(database, workspace, embedder)
    while done := await _fill(database, workspace, new, embedder):
        progress(done)
    async with database.transaction(workspace) as tx:
        await lock(tx, frozenset((WHOLE,)))
        old = await space(tx)
        if old and old.id == new.id:
            return
        while await _fill_some(tx, new, embedder):
            pass
        shelves = await _shelves(tx, new)
        for kind in VECTOR_KINDS:
            await _run(tx, f"vectors.extra_{kind}", _table(tx, new, kind, shelves))
        await tx.run("vectors.switch", space=new.id)
        if old:
            await tx.run("vectors.clear_space", space=old.id)
        await bump(tx, frozenset((WHOLE,)))
    await shelve(database, workspace)


async def _fill(database: Database, workspace: int, new: Space, embedder: Embedder) -> int:
    async with database.transaction(workspace) as tx:
        return await _fill_some(tx, new, embedder)


async def _fill_some(tx: Transaction, new: Space, embedder: Embedder) -> int:
    """Embed some of what the space still lacks; how much that was."""
    shelves = await _shelves(tx, new)
    for kind in VECTOR_KINDS:
        rows = await _rows(tx, f"vectors.missing_{kind}", _table(tx, new, kind, shelves), limit=_BATCH)
        texts = [Text(kind, id_, hash_, _TEXTS[kind](*rest)) for id_, hash_, *rest in rows]
        if texts:
            embedded = await embedder.embed([t.text for t in texts])
            await write(tx, new, [Vector(*t[:3], half(v)) for t, v in zip(texts, embedded, strict=True)], ())
            return len(texts)
    return 0


_TEXTS: dict[VectorKind, Callable[..., str]] = {
    "chunk": lambda text: text,
    "entity": entity_text,
    "relation": relation_text,
}


async def _shelves(tx: Transaction, where: Space) -> dict[VectorKind, bool]:
    """The kinds for which the workspace has a table of its own, and whether that is indexed."""
    return dict(await tx.rows("vectors.shelves", space=where.id))


def _table(tx: Transaction, where: Space, kind: VectorKind, shelves: dict[VectorKind, bool]) -> sql.Identifier:
    own = f"_{tx.workspace}" if kind in shelves else ""
    return sql.Identifier(f"vector_{where.id}_{kind}{own}")


async def _count(tx: Transaction, where: Space, kind: VectorKind) -> int:
    """How many vectors of a kind the common table has for this workspace; counts no further than matters."""
    [(count,)] = await _rows(tx, "vectors.count_up_to", _table(tx, where, kind, {}), limit=OWN_SHELF_FROM)
    return int(count)


async def _run(tx: Transaction, query: str, table: sql.Identifier, **params: Any) -> None:
    await tx.connection.execute(sql.SQL(QUERIES[query]).format(table=table), params or None)


async def _rows(tx: Transaction, query: str, table: sql.Identifier, **params: Any) -> list[tuple[Any, ...]]:
    cursor = await tx.connection.execute(sql.SQL(QUERIES[query]).format(table=table), params or None)
    return await cursor.fetchall()
