"""A workspace's own tables for large numbers of vectors: hash partitions, each with an HNSW index.

There are enough partitions for each graph to be built in memory. A table that is outgrown, or to which a lot is to be
added, is rebuilt next to the one in use and switched to in one short transaction. Until then questions are answered
from the old table with its indexes, and settling continues: vectors removed meanwhile are recorded, and deleted from
the new table before it is used. Transactions that began to read earlier continue with the old table, which is kept for
some time. See docs/adr/0039-partitions.md.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Literal, NamedTuple
from uuid import UUID

from psycopg import AsyncCursor, sql

from trueweave.core.graph import VectorKind
from trueweave.store.postgres.binary_params import Ids
from trueweave.store.postgres.connections import Row
from trueweave.store.postgres.db import Transaction, Workspace
from trueweave.store.postgres.locks import lock_view, share_view
from trueweave.store.postgres.queries import QUERIES
from trueweave.store.postgres.vectors.space import Space

BUILT_AT_ONCE = 4  # indexes, each with its own connection
KEPT = timedelta(minutes=5)  # for which a replaced table can still be read

_COPIED_AT_ONCE = 1000
_FIRST, _LAST = UUID(int=0), UUID(int=2**128 - 1)


class OwnTable(NamedTuple):
    """A workspace's own table for vectors of a kind."""

    kind: VectorKind
    name: str
    partitions: int
    indexed: bool
    state: Literal["current", "building"]

    @property
    def identifier(self) -> sql.Identifier:
        return sql.Identifier(self.name)


class OwnTables(NamedTuple):
    """By kind, the tables in use, and those being built next to them."""

    current: Mapping[VectorKind, OwnTable]
    building: Mapping[VectorKind, OwnTable]


def graph_bytes(dimensions: int) -> int:
    """The memory per vector while a graph is built: its numbers and its neighbours."""
    return 2 * dimensions + 800


def graph_room(memory: int) -> int:
    """How much of the memory for building an index is available to the graph itself."""
    return memory // 8 * 7


def partitions_for(rows: int, dimensions: int, memory: int) -> int:
    """The number of partitions for this many vectors, a power of two, such that each index is built within `memory`
    bytes."""
    graphs = rows * graph_bytes(dimensions) / graph_room(memory)
    partitions = 1
    while partitions < graphs:
        partitions *= 2
    return partitions


async def find(tx: Transaction, where: Space) -> OwnTables:
    """The workspace's own tables for vectors of a space."""
    found = [OwnTable(*row) for row in await tx.rows("own_tables.all", space=where.id)]
    current, building = ({one.kind: one for one in found if one.state == state} for state in ("current", "building"))
    return OwnTables(current, building)


async def make(tx: Transaction, where: Space, kind: VectorKind, partitions: int = 1) -> str:
    """Create an own table for the workspace, without indexes; returns its name."""
    return await _make(tx, where, kind, partitions, "current")


async def any_unfinished(tx: Transaction) -> bool:
    """Whether a build is unfinished, or a replaced table can be dropped."""
    return bool(await tx.value("own_tables.any_unfinished", kept=KEPT))


async def drop_left(workspace: Workspace) -> None:
    """Drop replaced tables that nobody reads any longer."""
    async with workspace.transaction(unhurried=True) as tx:
        await tx.run("own_tables.drop_left", kept=KEPT)


async def hold(tx: Transaction, where: Space) -> None:
    """Keep the tables until the end of a long read transaction."""
    for own in (await find(tx, where)).current.values():
        await _run(tx, "own_tables.hold", table=own.identifier)


async def note_removed(tx: Transaction, where: Space, kind: VectorKind, ids: Iterable[UUID]) -> None:
    """Keep these vectors out of a table that is being built. Requires the view lock, exclusive or shared."""
    await tx.run("own_tables.note_removed", space=where.id, kind=kind, ids=Ids(ids))


async def index(workspace: Workspace, tables: Sequence[OwnTable]) -> None:
    """Build the missing indexes of all partitions of these tables, several at once."""
    bound = asyncio.Semaphore(BUILT_AT_ONCE)
    memory = kilobytes(workspace.database.index_memory)

    async def build(name: str, n: int) -> None:
        async with bound, workspace.transaction(unhurried=True) as tx:
            await tx.run("own_tables.index_partition", name=name, n=n, memory=memory)

    await at_once(build(one.name, n) for one in tables for n in range(one.partitions))
    async with workspace.transaction() as tx:
        for table in tables:
            await tx.run("own_tables.mark_indexed", name=table.name)


def kilobytes(memory: int) -> str:
    """An amount of memory in the format of PostgreSQL's settings."""
    return f"{memory // 1024}kB"


async def at_once(builds: Iterable[Coroutine[Any, Any, None]]) -> None:
    """Await all of these; if one fails or this is cancelled, cancel the others."""
    building = [asyncio.create_task(one) for one in builds]
    try:
        await asyncio.gather(*building)
    finally:
        for one in building:
            one.cancel()
        await asyncio.gather(*building, return_exceptions=True)


async def move(workspace: Workspace, where: Space, own: OwnTable, common: sql.Identifier) -> None:
    """Move vectors from the common table to the one in use, in steps small enough that readers notice nothing and
    settlers wait for one step at most. Ends early if another process builds a new table meanwhile."""
    upto: UUID | None = None
    while upto != _LAST:
        async with workspace.transaction() as tx:
            await lock_view(tx)  # settlers remove vectors in another order: without the lock the two could deadlock
            found = await find(tx, where)
            if own.kind in found.building or found.current.get(own.kind) != own:
                return
            upto = await _page_end(tx, common, _FIRST)
            await _run(tx, "own_tables.move", common=common, own=own.identifier, upto=upto)


async def build(workspace: Workspace, where: Space, kind: VectorKind, partitions: int, common: sql.Identifier) -> None:
    """Build a table with all vectors of a kind next to the one in use, and switch to it. After an interruption, calling
    this again continues with what is there; two at once do no harm."""
    async with workspace.transaction() as tx:
        await lock_view(tx)  # from now on removed vectors are recorded
        name = await _make(tx, where, kind, partitions, "building")
        found = await find(tx, where)
    tables = [found.current[kind].identifier] if kind in found.current else []
    for table in (*tables, common):
        if not await _copied(workspace, where, found.building[kind], table):
            return
    await index(workspace, [found.building[kind]])
    async with workspace.transaction(unhurried=True) as tx:
        await lock_view(tx)
        if not await _is_building(tx, where, kind, name):
            return
        own = sql.Identifier(name)
        await _run(tx, "own_tables.take_removed", own=own, space=where.id, kind=kind)
        await _run(tx, "own_tables.take_copied", own=own, common=common)
        await tx.run("own_tables.switch", space=where.id, kind=kind)


async def _copied(workspace: Workspace, where: Space, into: OwnTable, table: sql.Identifier) -> bool:
    """Copy all vectors of a table to one that is being built; returns whether it is still being built."""
    after = _FIRST
    while after != _LAST:
        async with workspace.transaction() as tx:
            await share_view(tx)  # nobody can switch meanwhile
            if not await _is_building(tx, where, into.kind, into.name):
                return False
            upto = await _page_end(tx, table, after)
            await _run(tx, "own_tables.copy", into=into.identifier, table=table, after=after, upto=upto)
        after = upto
    return True


async def _is_building(tx: Transaction, where: Space, kind: VectorKind, name: str) -> bool:
    building = (await find(tx, where)).building.get(kind)
    return building is not None and building.name == name


async def _page_end(tx: Transaction, table: sql.Identifier, after: UUID) -> UUID:
    query = sql.SQL(QUERIES["own_tables.page_end"]).format(table=table)
    rows = await (await tx.connection.execute(query, {"after": after, "size": _COPIED_AT_ONCE})).fetchall()
    return rows[0][0] if rows else _LAST


async def _make(tx: Transaction, where: Space, kind: VectorKind, partitions: int, state: str) -> str:
    return str(await tx.value("own_tables.make", space=where.id, kind=kind, partitions=partitions, state=state))


async def _run(tx: Transaction, query: str, **parts: Any) -> AsyncCursor[Row]:
    """Run a named query with tables and values as its parts."""
    tables = {name: part for name, part in parts.items() if isinstance(part, sql.Composable)}
    values = {name: part for name, part in parts.items() if name not in tables}
    return await tx.connection.execute(sql.SQL(QUERIES[query]).format(**tables), values or None)
