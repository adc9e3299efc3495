"""Vectors: searched exactly while they are few, with HNSW when they are many.

A filtered HNSW scan returns too few rows, and the planner chooses badly between the two ways. So it is given no choice:
each space has, for each kind, one common table without an HNSW index, in which a search reads all vectors of the
workspace. A workspace that outgrows this gets its own table, which contains no other workspace's vectors and needs no
filter, with an HNSW index. Later vectors are written to the common table again and moved in bulk, so that nobody waits
for an HNSW insert; a search reads both. See docs/adr/0004-embedding-spaces.md, and own_tables.py for how a workspace's
own table grows.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from datetime import timedelta
from random import random
from typing import Any, NamedTuple
from uuid import UUID, uuid4

import numpy as np
from pgvector import HalfVector
from psycopg import AsyncCursor, sql

from trueweave.core.errors import ConfigError
from trueweave.core.graph import GRAPH_KINDS, VECTOR_KINDS, GraphVectors, Hit, VectorKind, check_kept
from trueweave.core.protocols import Embedder, Vectors
from trueweave.graph.aggregate import entity_text, relation_text, report_text
from trueweave.graph.plan import ChangedText
from trueweave.store.postgres.binary_params import Ids
from trueweave.store.postgres.connections import Row
from trueweave.store.postgres.db import Transaction, Workspace
from trueweave.store.postgres.locks import count_change, lock_view, refuse_during_load, share_view
from trueweave.store.postgres.queries import QUERIES
from trueweave.store.postgres.queue import leases, outbox
from trueweave.store.postgres.vectors import own_tables
from trueweave.store.postgres.vectors.own_tables import OwnTable, OwnTables
from trueweave.store.postgres.vectors.space import Space, complete_kinds, kinds

MOST_DIMENSIONS = 4000  # maximum for a halfvec with an HNSW index
MOST_IN_COMMON = 10_000  # vectors; above this they move to the workspace's own table
REBUILD_FROM = 0.25  # rebuild the own table if there are more new vectors than this share of it

_OPERATORS: dict[str, sql.SQL] = {"cosine": sql.SQL("<=>"), "l2": sql.SQL("<->"), "inner": sql.SQL("<#>")}
STAGE_TYPES = ("text", "uuid", "uuid", "halfvec")
_EMBEDDED_AT_ONCE = 500
_FREE_ROUNDS = 3  # rounds of a change of space during which settling continues freely
_PAUSE = timedelta(seconds=30)


class Vector(NamedTuple):
    """A vector to store, with the hash of the text that it stands for."""

    kind: VectorKind
    id: UUID
    text_hash: UUID
    values: HalfVector


async def space(tx: Transaction) -> Space | None:
    """The space that the workspace is searched in; None while it has no vectors."""
    rows = await tx.rows("vectors.space")
    return Space(*rows[0]) if rows else None


async def graph_vectors(tx: Transaction) -> GraphVectors:
    """Whether the workspace has vectors of entities and relations."""
    found: GraphVectors = await tx.value("vectors.graph_vectors")
    return found


async def wanted(tx: Transaction) -> tuple[Space | None, tuple[VectorKind, ...]]:
    """The space that the workspace is searched in, and the kinds that are embedded when documents change; nothing if it
    was dropped."""
    for graph, *named in await tx.rows("vectors.wanted"):
        return Space(*named) if named[0] else None, kinds(graph)
    return None, ()


async def everything(tx: Transaction) -> dict[str, sql.Composed]:
    """For each kind, a subquery over all vectors of the workspace; none for kinds that are not complete. Empty while it
    has no space."""
    where = await space(tx)
    if where is None:
        return {}
    own, complete = await own_tables.find(tx, where), complete_kinds(await graph_vectors(tx))
    return {kind: _all(_tables(where, kind, own) if kind in complete else []) for kind in VECTOR_KINDS}


async def hold(tx: Transaction) -> None:
    """Keep all vector tables of the workspace until the end of a long read transaction."""
    if where := await space(tx):
        await own_tables.hold(tx, where)


async def of_ids(tx: Transaction, kind: VectorKind, ids: Sequence[UUID]) -> dict[UUID, HalfVector]:
    """The vectors of these objects, for those that have one."""
    where, of_kinds = await wanted(tx)
    if kind not in of_kinds:  # some may still have to be deleted
        return {}
    tables = _tables(where, kind, await own_tables.find(tx, where)) if where else []
    return dict([row for table in tables for row in await _rows(tx, "vectors.of_ids", table=table, ids=Ids(ids))])


async def make_space(workspace: Workspace, embedder: Embedder) -> Space:
    """The space of an embedder, created with its tables if necessary."""
    if not 1 <= embedder.dimensions <= MOST_DIMENSIONS:
        raise ConfigError(
            f"{embedder.model} returns vectors of {embedder.dimensions} dimensions; pgvector can index up to "
            f"{MOST_DIMENSIONS}. Choose another model, or ask this one for fewer dimensions."
        )
    async with workspace.transaction() as tx:
        id_ = await tx.value(
            "vectors.make_space", model=embedder.model, dimensions=embedder.dimensions, metric=embedder.metric
        )
    return Space(id_, embedder.model, embedder.dimensions, embedder.metric)


async def write(
    tx: Transaction, where: Space, vectors: Sequence[Vector], gone: Iterable[tuple[VectorKind, UUID]]
) -> None:
    """Store these vectors, replacing older ones, and delete those of `gone` objects. Requires the view lock, exclusive
    or shared."""
    own = await own_tables.find(tx, where)
    stale: dict[VectorKind, list[UUID]] = {kind: [] for kind in VECTOR_KINDS}
    for kind, id_ in (*gone, *((v.kind, v.id) for v in vectors)):
        stale[kind].append(id_)
    if vectors:
        await tx.run("vectors.stage")
        await tx.copy("stage_vector", STAGE_TYPES, vectors)
    for kind, ids in stale.items():
        if ids:
            for table in _tables(where, kind, own):
                await _run(tx, "vectors.remove", table=table, ids=Ids(ids))
            if kind in own.building:
                await own_tables.note_removed(tx, where, kind, ids)
    for kind in {v.kind for v in vectors}:
        await _run(tx, "vectors.insert", table=_common(where, kind), kind=kind)


async def nearest(workspace: Workspace, kind: VectorKind, vector: Vectors, limit: int) -> list[Hit]:
    """The objects of a kind nearest to a vector, nearest first."""
    async with workspace.transaction(snapshot=True) as tx:
        rows = await tx.rows("vectors.place", kind=kind)
        if not rows:
            return []
        graph, *named, own = rows[0]
        if kind in GRAPH_KINDS:
            check_kept(graph)
        where = Space(*named)
        if limit > 100:  # an HNSW scan returns at most ef_search rows
            await tx.connection.execute("SELECT set_config('hnsw.ef_search', %s, true)", (str(min(2 * limit, 1000)),))
        each = sql.SQL(QUERIES["vectors.nearest"])
        tables = [_common(where, kind), *([sql.Identifier(own)] if own else [])]
        parts = [each.format(table=table, operator=_OPERATORS[where.metric]) for table in tables]
        query = sql.SQL(QUERIES["vectors.nearest_of_all"]).format(each=sql.SQL(" UNION ALL ").join(parts))
        cursor = await tx.connection.execute(query, {"vector": half(vector), "limit": limit})
        return [Hit(id_, distance) for id_, distance in await cursor.fetchall()]


def half(vector: Vectors) -> HalfVector:
    """A vector as it is stored: 16 bits per number."""
    return HalfVector(vector.astype(np.float16))


async def move_to_own_table(workspace: Workspace, written: int) -> None:
    """Move vectors to the workspace's own tables, kind by kind, if there are too many in the common table.

    `written` is how many vectors the caller has just stored there. Checking costs more than writing a few vectors, so
    callers that wrote a few check only sometimes; a caller that wrote none checks whether another process was stopped
    midway. If there is much to move, the own table is rebuilt, which is far cheaper than inserting into an index one by
    one. What another process is moving is left to it.
    """
    if 0 < written < MOST_IN_COMMON // 20 * random():
        return
    async with workspace.transaction() as tx:
        if not written and not await own_tables.any_unfinished(tx):
            return
        where = await space(tx)
    if not where:
        return
    await own_tables.drop_left(workspace)
    async with workspace.transaction() as tx:
        due = await _due(tx, where)
    if not due:
        return
    owner = uuid4()
    async with leases.kept(workspace, owner):
        async with workspace.transaction() as tx:
            is_ours = await leases.take(tx, owner, "vectors")
            due = await _due(tx, where)  # another process may have done it meanwhile
        for kind in due if is_ours else ():
            await _move(workspace, where, kind)


async def _due(tx: Transaction, where: Space) -> list[VectorKind]:
    """The kinds whose vectors must be moved, including moves that were interrupted."""
    own = await own_tables.find(tx, where)
    unfinished = {*own.building, *(kind for kind, table in own.current.items() if not table.indexed)}
    return [
        kind
        for kind in kinds(await graph_vectors(tx))
        if kind in unfinished or await _count(tx, _common(where, kind), MOST_IN_COMMON) >= MOST_IN_COMMON
    ]


async def _move(workspace: Workspace, where: Space, kind: VectorKind) -> None:
    async with workspace.transaction() as tx:
        found = await own_tables.find(tx, where)
        own = found.current.get(kind)
        new, old = await _count(tx, _common(where, kind)), await _count(tx, own.identifier) if own else 0
    partitions = own_tables.partitions_for(new + old, where.dimensions, workspace.database.index_memory)
    is_outgrown = own is None or partitions > own.partitions or new >= REBUILD_FROM * old
    if own is None or is_outgrown or kind in found.building:
        await own_tables.build(workspace, where, kind, partitions, _common(where, kind))
    else:
        await own_tables.move(workspace, where, own, _common(where, kind))
        if not own.indexed:
            await own_tables.index(workspace, [own])


async def index_own_tables(workspace: Workspace, where: Space, kinds: Sequence[VectorKind]) -> None:
    """Index what was loaded into the workspace's own tables, with as many partitions as needed."""
    fitting: list[OwnTable] = []
    for kind in kinds:
        async with workspace.transaction() as tx:
            own = (await own_tables.find(tx, where)).current[kind]
            rows = await _count(tx, own.identifier)
        partitions = own_tables.partitions_for(rows, where.dimensions, workspace.database.index_memory)
        if partitions > own.partitions:
            await own_tables.build(workspace, where, kind, partitions, _common(where, kind))
        else:
            fitting.append(own)
    await own_tables.index(workspace, fitting)


async def change_space(
    workspace: Workspace,
    embedder: Embedder,
    progress: Callable[[int], None] = lambda _: None,
    *,
    graph: GraphVectors = "kept",
) -> bool:
    """Embed everything with another model next to the old vectors, then switch atomically.

    Readers use the old space until the switch. If this is interrupted, calling it again continues with what is already
    embedded. If others settle faster than this can follow, settling is paused for a moment; then this returns True, and
    there may be documents to settle. `graph` says whether a workspace without vectors is to have those of entities and
    relations.
    """
    new = await make_space(workspace, embedder)
    async with workspace.transaction() as tx:
        if await space(tx):  # adding the first vectors is not refused
            await refuse_during_load(tx, "embedding it with another model")
        await tx.run("vectors.begin_change", space=new.id, graph=graph)
    rounds = 0
    while True:
        async for texts in missing(workspace, new):
            embedded = await embedder.embed([t.text for t in texts], "document")
            found = [Vector(*t[:3], half(v)) for t, v in zip(texts, embedded, strict=True)]
            async with workspace.transaction() as tx:
                await share_view(tx)
                await write(tx, new, found, ())
            progress(len(texts))
        if await _switched(workspace, new):
            break
        rounds += 1
        if rounds >= _FREE_ROUNDS:
            async with workspace.transaction() as tx:
                await tx.run("vectors.pause", lasts=_PAUSE)
    await clear_other_spaces(workspace)
    await move_to_own_table(workspace, MOST_IN_COMMON)
    return rounds >= _FREE_ROUNDS


async def missing(workspace: Workspace, of: Space | None) -> AsyncIterator[list[ChangedText]]:
    """Texts that have no vector in a space yet, in batches. Without a space, that is all texts."""
    async with workspace.transaction() as tx:
        of_kinds = kinds(await graph_vectors(tx))
    for kind in of_kinds:
        async for page in missing_of_kind(workspace, of, kind):
            yield page


async def missing_of_kind(workspace: Workspace, of: Space | None, kind: VectorKind) -> AsyncIterator[list[ChangedText]]:
    """Texts of a kind that have no vector in a space yet, in batches."""
    after = UUID(int=0)
    while True:
        async with workspace.transaction() as tx:
            rows = await _missing(tx, of, kind, after, _EMBEDDED_AT_ONCE)
        if not rows:
            return
        yield [ChangedText(kind, id_, hash_, _TEXTS[kind](*rest)) for id_, hash_, *rest in rows]
        after = rows[-1][0]


async def any_missing(tx: Transaction, of: Space, of_kinds: Iterable[VectorKind]) -> bool:
    """Whether an object of these kinds has no vector in a space. Exact under the view lock."""
    for kind in of_kinds:
        if await _missing(tx, of, kind, UUID(int=0), 1):
            return True
    return False


async def remove_extra(tx: Transaction, of: Space, of_kinds: Iterable[VectorKind]) -> None:
    """Delete vectors of objects that no longer exist. Requires the view lock."""
    own = await own_tables.find(tx, of)
    for kind in of_kinds:
        for table in _tables(of, kind, own):
            gone = await _rows(tx, f"vectors.extra_{kind}", table=table)
            if kind in own.building:
                await own_tables.note_removed(tx, of, kind, (id_ for (id_,) in gone))


async def current_among(tx: Transaction, found: Sequence[Vector]) -> list[Vector]:
    """Those of these vectors of entities and relations whose text has not changed. Requires the view lock, exclusive or
    shared."""
    current: set[tuple[VectorKind, UUID, UUID]] = set()
    for kind in {v.kind for v in found}:
        ids = [v.id for v in found if v.kind == kind]
        rows = await tx.rows(f"vectors.texts_of_{kind}", ids=Ids(ids))
        current |= {(kind, id_, hash_) for id_, hash_ in rows}
    return [v for v in found if (v.kind, v.id, v.text_hash) in current]


async def remove_some(tx: Transaction, of: Space, kind: VectorKind, limit: int) -> int:
    """Delete up to `limit` vectors of a kind from the common table; returns how many. Requires the view lock."""
    return await _run(tx, "vectors.remove_some", table=_common(of, kind), limit=limit)


async def _missing(tx: Transaction, of: Space | None, kind: VectorKind, after: UUID, limit: int) -> list[Row]:
    tables = _tables(of, kind, await own_tables.find(tx, of)) if of else []
    return await _rows(tx, f"vectors.missing_{kind}", table=_all(tables), after=after, limit=limit)


async def count_present(workspace: Workspace, of: Space, of_kinds: Sequence[VectorKind] = VECTOR_KINDS) -> int:
    """The number of the workspace's vectors of these kinds in a space."""
    async with workspace.transaction() as tx:
        own = await own_tables.find(tx, of)
        tables = [table for kind in of_kinds for table in _tables(of, kind, own)]
        return sum([await _count(tx, table) for table in tables])


async def _switched(workspace: Workspace, new: Space) -> bool:
    """Switch the workspace to a space, unless vectors are missing there by now; returns whether it did."""
    async with workspace.transaction(unhurried=True) as tx:
        await lock_view(tx)
        of_kinds = kinds(await graph_vectors(tx))
        if await any_missing(tx, new, of_kinds):
            return False
        await remove_extra(tx, new, of_kinds)
        await tx.run("vectors.switch", space=new.id)
        await count_change(tx)
        await outbox.add(tx, ("space", False, ()))
        return True


async def clear_other_spaces(workspace: Workspace) -> int:
    """Delete the vectors in all spaces except the current one and the one being filled; returns how many spaces had
    any."""
    cleared = 0
    async with workspace.transaction() as tx:
        others = [Space(*row) for row in await tx.rows("vectors.other_spaces")]
    for other in others:
        async with workspace.transaction() as tx:
            counts = [await _count(tx, _common(other, kind), 1) for kind in VECTOR_KINDS]
            if any(counts) or any(await own_tables.find(tx, other)):
                await tx.run("vectors.clear_space", space=other.id)
                cleared += 1
    return cleared


async def find_space(tx: Transaction, embedder: Embedder) -> Space | None:
    """The space of an embedder, or None."""
    rows = await tx.rows(
        "vectors.find_space", model=embedder.model, dimensions=embedder.dimensions, metric=embedder.metric
    )
    return Space(*rows[0]) if rows else None


_TEXTS: dict[VectorKind, Callable[..., str]] = {
    "chunk": lambda text: text,
    "entity": entity_text,
    "relation": relation_text,
    "community": report_text,
}


def _common(where: Space, kind: VectorKind) -> sql.Identifier:
    return sql.Identifier(f"vector_{where.id}_{kind}")


def _tables(where: Space, kind: VectorKind, own: OwnTables) -> list[sql.Identifier]:
    """The tables that may contain vectors of a kind: the common one, and the workspace's own one if there is one."""
    return [_common(where, kind), *([own.current[kind].identifier] if kind in own.current else [])]


def _all(tables: Sequence[sql.Identifier]) -> sql.Composed:
    each: list[sql.Composable] = [sql.SQL("SELECT id, text_hash FROM {}").format(table) for table in tables]
    each = each or [sql.SQL("SELECT NULL::uuid AS id, NULL::uuid AS text_hash WHERE false")]
    return sql.SQL("({})").format(sql.SQL(" UNION ALL ").join(each))


async def _count(tx: Transaction, table: sql.Identifier, most: int | None = None) -> int:
    """The number of this workspace's vectors in a table, counted up to `most`."""
    [(count,)] = await _rows(tx, "vectors.count_up_to", table=table, limit=most)
    return int(count)


async def _run(tx: Transaction, query: str, **parts: Any) -> int:
    return (await _execute(tx, query, parts)).rowcount


async def _rows(tx: Transaction, query: str, **parts: Any) -> list[Row]:
    return await (await _execute(tx, query, parts)).fetchall()


async def _execute(tx: Transaction, query: str, parts: dict[str, Any]) -> AsyncCursor[Row]:
    """Run a named query with tables and values as its parts."""
    tables = {name: part for name, part in parts.items() if isinstance(part, sql.Composable)}
    values = {name: part for name, part in parts.items() if name not in tables}
    return await tx.connection.execute(sql.SQL(QUERIES[query]).format(**tables), values or None)
