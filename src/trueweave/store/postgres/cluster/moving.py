"""Moves a workspace to another server: it is copied while it can still be read, compared, and switched.

The process that moves a workspace holds a lock in the home for as long as its session there lasts, and switches in that
session. So a process that gets the lock knows that no other is moving the workspace, and can tell from the home alone
what each copy is: the copy on the server that the home names is the workspace, and any other is old or was never
completed.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, LiteralString, NamedTuple

from psycopg import Error, sql

from trueweave.core.errors import ConfigError, DatabaseError, UnknownWorkspace
from trueweave.core.graph import VECTOR_KINDS
from trueweave.store.postgres.cluster.servers import FRESH, GRACE, HOME, USABLE
from trueweave.store.postgres.connections import NONE, PostgresConnection, Row, connect
from trueweave.store.postgres.db import Database, ServerPlacement, Workspace
from trueweave.store.postgres.failures import first_line
from trueweave.store.postgres.queries import QUERIES
from trueweave.store.postgres.vectors.own_tables import BUILT_AT_ONCE, at_once, kilobytes
from trueweave.store.postgres.view.digest import digest
from trueweave.store.postgres.view.read import delete_rows

_DRAINED = 60.0  # seconds to wait for running jobs
_LOOK_AGAIN = 0.1

# Columns that are not copied as they are. A transaction id means nothing on another server, and everything that is
# copied is committed; jobs are queued again there, under other ids.
_INSTEAD: Mapping[tuple[str, str], LiteralString] = {
    ("outbox", "tx"): "'3'::xid8",
    ("connector_source", "owner"): "NULL::int",
    ("watch", "owner"): "NULL::int",
    ("projection", "owner"): "NULL::uuid",
    ("projection", "until"): "'-infinity'::timestamptz",
}
_LEFT_OUT = {"job": {"id", "owner", "worker"}}

# Columns of the workspace itself that are copied as they are.
_COPIED = (
    "name", "mode", "threshold", "same", "created", "paused_until", "changes_gone", "settings", "graph_vectors",
)  # fmt: skip

# Bookings of model calls continue until the end: these rows are copied last, together with those added by then.
_OPEN: Mapping[str, LiteralString] = {"budget": "true", "reply": "payload IS NULL", "spend": "state = 'open'"}
_KEYS = {"budget": ["workspace"], "reply": ["workspace", "key"], "spend": ["workspace", "id"]}


class OwnerAddress(NamedTuple):
    """How the owner of the schema connects to a server, and whether the settings say that there is no pooler."""

    url: str
    said_to_be_direct: bool = False


class MoveProgress(NamedTuple):
    """The current step, and how much has been copied so far."""

    step: str
    rows: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Moved:
    """A workspace that is now on another server. Writes were refused for `read_only_seconds`, and bookings of model
    calls for `switch_seconds` of those. `roles` are the SQL roles that could read it on the old server."""

    workspace: str
    source: str
    target: str
    digest: str
    rows: int
    bytes: int
    seconds: float
    read_only_seconds: float
    switch_seconds: float
    roles: tuple[str, ...]


async def move_workspace(
    name: str,
    target: str,
    servers: Mapping[str, OwnerAddress],
    told: Callable[[MoveProgress], None] = lambda _: None,
    index_memory: int = 2**30,
) -> Moved:
    """Move a workspace to one of these servers, and report how it went. There, each vector index is built with
    `index_memory` bytes of memory.

    The workspace can be read all the time. Writes are refused while it is copied (WorkspaceMoving), and jobs wait until
    it has arrived. After an interruption this can be run again; if the process was killed, workers undo what it left.
    """
    try:
        async with AsyncExitStack() as stack:
            home = await stack.enter_async_context(_owner(servers, HOME))
            id_, source = await _find(home, name)
            move = _Move(name, id_, home, servers, told, index_memory)
            return await move.run(source, target, stack)
    except Error as error:
        raise DatabaseError(
            f"workspace {name!r} could not be moved to {target}: {first_line(error)}. Fix this and run the same "
            "command again; until then a worker undoes the partial move."
        ) from error


class _Move:
    """The move of one workspace."""

    def __init__(
        self,
        name: str,
        id_: int,
        home: PostgresConnection,
        servers: Mapping[str, OwnerAddress],
        told: Callable[[MoveProgress], None],
        index_memory: int,
    ) -> None:
        self._index_memory = kilobytes(index_memory)
        self._name = name
        self._id = id_
        self._home = home
        self._servers = servers
        self._told = told
        self._rows = 0
        self._bytes = 0

    async def run(self, source: str, target: str, stack: AsyncExitStack) -> Moved:
        began = time.monotonic()
        here = await stack.enter_async_context(self._entered(source))
        if source == target:
            await self._set_place(here, "here", ("draining", "leaving", "switching", "arriving"))
            raise DatabaseError(f"workspace {self._name!r} is already on the server {target}.")
        there = await stack.enter_async_context(self._entered(target))
        copies = [Workspace(await stack.enter_async_context(self._database(one)), self._id) for one in (source, target)]
        await self._clear(there, copies[1])
        roles = tuple(role for (role,) in await self._all(here, "move.roles"))
        is_decided = False
        try:
            await self._drain(here)
            read_only = time.monotonic()
            await self._freeze(here, "leaving", ("draining",))
            async with here.transaction():
                await here.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                [(horizon,)] = await self._all(here, "move.snapshot")
                tables = await self._copy(here, there, target)
            self._tell("comparing")
            left, right = await asyncio.gather(*map(digest, copies))
            if left != right:
                raise DatabaseError(
                    f"the copy of workspace {self._name!r} on {target} differs from it: {right} instead of {left}. It "
                    "stays where it is. This is a bug in Trueweave: please report it."
                )
            switching = time.monotonic()
            await self._freeze(here, "switching", ("leaving",))
            await self._copy_bookings(here, there, tables, horizon)
            is_decided = True  # if the switch fails, only the home knows whether it happened
            await self._switch(target)
            await self._run(there, "servers.set_place", workspace=self._id, is_here=True, grace=GRACE)
        except BaseException:
            if not is_decided:
                await asyncio.shield(self._undo(source, copies[1]))
            raise
        switched = time.monotonic()
        await self._run(here, "servers.set_place", workspace=self._id, is_here=False, grace=GRACE)
        return Moved(
            self._name,
            source,
            target,
            left,
            self._rows,
            self._bytes,
            switched - began,
            switched - read_only,
            switched - switching,
            roles,
        )

    # --- states ---------------------------------------------------------------------------------------

    async def _drain(self, here: PostgresConnection) -> None:
        """Stop new jobs from starting, and wait for running ones. A job that takes too long repeats its work on the
        other server."""
        self._tell("waiting for jobs")
        if not await self._set_place(here, "draining", ("here", "draining", "leaving", "switching")):
            raise UnknownWorkspace(f"there is no workspace {self._name!r}: it was dropped just now.")
        end = time.monotonic() + _DRAINED
        while (await self._all(here, "move.is_worked"))[0][0] and time.monotonic() < end:  # noqa: ASYNC110
            await asyncio.sleep(_LOOK_AGAIN)

    async def _freeze(self, here: PostgresConnection, place: str, before: Sequence[str]) -> None:
        """Lock out new writers, and wait for running ones."""
        if not await self._set_place(here, place, before):
            raise DatabaseError(
                f"workspace {self._name!r} was dropped, or another process undid this move because it seemed dead. "
                "Run it again."
            )
        await self._run(here, "move.await_writers", id=self._id)

    async def _set_place(self, connection: PostgresConnection, place: str, before: Sequence[str]) -> int:
        return await self._run(connection, "move.set_place", id=self._id, place=place, before=list(before))

    async def _switch(self, target: str) -> None:
        self._tell("switching")
        if not await self._run(self._home, "move.switch", id=self._id, server=target):
            raise UnknownWorkspace(f"workspace {self._name!r} was dropped while it was being moved.")

    async def _undo(self, source: str, copy: Workspace) -> None:
        """Leave the workspace where it is. Whatever cannot be undone now is left to workers, including everything if
        the lock is lost: another process may be moving the workspace by now."""
        with suppress(Error):
            await self._home.execute("SELECT 1")
            async with self._entered(source) as here:
                await self._set_place(here, "here", ("draining", "leaving", "switching"))
            await clear_copy(copy)

    async def _clear(self, there: PostgresConnection, copy: Workspace) -> None:
        """Delete what an earlier move left on the target server, once nobody reads it any longer."""
        rows = await self._all(there, "move.place", grace=GRACE)
        if rows and rows[0][0] in ("left", "arriving"):
            self._tell("clearing an earlier copy")
            await asyncio.sleep(max(0, USABLE + FRESH - (rows[0][1] or 0)) if rows[0][0] == "left" else 0)
            await clear_copy(copy)

    # --- rows -----------------------------------------------------------------------------------------

    async def _copy(self, here: PostgresConnection, there: PostgresConnection, target: str) -> dict[str, list[str]]:
        """Copy all rows except open bookings; returns the tables with their columns."""
        [row] = await self._all(here, "move.row")
        *named, space, next_space = row
        own = await self._all(here, "move.own_tables")
        spaces = await self._spaces(here, there, {space, next_space, *(of for of, *_ in own)})
        params = dict(zip(_COPIED, named, strict=True))
        tables: dict[str, list[str]] = {}
        async with there.transaction():
            if not await self._run(there, "move.make_row", id=self._id, name=self._name):
                raise DatabaseError(f"the server already has data of workspace {self._name!r}. Try again later.")
            await self._run(
                there,
                "move.write_row",
                id=self._id,
                space=spaces.get(space),
                next_space=spaces.get(next_space),
                **{name: value for name, value in params.items() if name != "name"},
            )
            for table, stored in await self._all(here, "move.tables"):
                tables[table] = [one for one in stored if one not in _LEFT_OUT.get(table, ())]
                open_ = _OPEN.get(table)
                await self._copy_table(here, there, table, table, tables[table], f"NOT ({open_})" if open_ else "true")
            for before, after in spaces.items():
                for kind in VECTOR_KINDS:
                    await self._copy_vectors(here, there, f"vector_{before}_{kind}", f"vector_{after}_{kind}")
            await self._advance(there, list(tables))
        for before, kind, name, partitions, indexed in own:  # outside, since the lock for making one is global
            made = {"space": spaces[before], "kind": kind, "partitions": partitions}
            [(copy,)] = await self._all(there, "move.make_own_table", **made)
            async with there.transaction():
                await self._copy_vectors(here, there, name, copy)
            if indexed:
                self._tell("indexing vectors")
                await self._index(there, target, copy, partitions)
        return tables

    async def _index(self, there: PostgresConnection, target: str, name: str, partitions: int) -> None:
        """Index the partitions of a vector table on the other server, several at once."""
        waiting = iter(range(partitions))

        async def build() -> None:
            async with self._entered(target) as connection:
                for n in waiting:
                    await self._run(connection, "move.index_partition", name=name, n=n, memory=self._index_memory)

        await at_once(build() for _ in range(min(partitions, BUILT_AT_ONCE)))
        await self._run(there, "move.mark_indexed", name=name)

    async def _copy_bookings(
        self, here: PostgresConnection, there: PostgresConnection, tables: Mapping[str, list[str]], horizon: str
    ) -> None:
        """Copy bookings made since the snapshot, replacing those already copied, and open ones."""
        async with there.transaction():
            for table, keys in _KEYS.items():
                # An age is a distance from now, so this also works when transaction ids wrap around.
                new = f"(age(xmin) <= age('{int(horizon)}'::xid) OR {_OPEN[table]})"
                kept = f"{new} AND payload IS NOT NULL" if table == "reply" else new
                await self._copy_table(here, there, table, table, tables[table], kept, keys)

    async def _copy_vectors(
        self, here: PostgresConnection, there: PostgresConnection, source: str, target: str
    ) -> None:
        await self._copy_table(here, there, source, target, ["workspace", "id", "text_hash", "v"])

    async def _copy_table(
        self,
        here: PostgresConnection,
        there: PostgresConnection,
        source: str,
        target: str,
        columns: Sequence[str],
        which: str = "true",
        replaced: Sequence[str] = (),
    ) -> None:
        """Stream the rows of one table through a temporary one, because COPY cannot write under row-level security."""
        self._tell(f"copying {source}")
        names = sql.SQL(", ").join(map(sql.Identifier, columns))
        chosen = sql.SQL(", ").join(_chosen(source, column) for column in columns)
        parts = {
            "source": sql.Identifier(source),
            "target": sql.Identifier(target),
            "names": names,
            "chosen": chosen,
            "id": sql.Literal(self._id),
            "which": sql.SQL(which),
            "order": sql.SQL("ORDER BY id" if source == "job" else ""),
        }
        empty = sql.SQL("CREATE TEMP TABLE moved ON COMMIT DROP AS SELECT {names} FROM {target} WITH NO DATA")
        await there.execute(empty.format(**parts))
        rows = sql.SQL("SELECT {chosen} FROM {source} WHERE workspace = {id} AND {which} {order}").format(**parts)
        read = sql.SQL("COPY ({}) TO STDOUT (FORMAT BINARY)").format(rows)
        write = sql.SQL("COPY moved FROM STDIN (FORMAT BINARY)")
        async with here.cursor() as from_, there.cursor() as into:
            async with from_.copy(read) as out, into.copy(write) as in_:
                async for data in out:
                    self._bytes += len(data)
                    await in_.write(data)
            copied = into.rowcount
        if replaced:
            keys = sql.SQL(", ").join(map(sql.Identifier, replaced))
            await there.execute(
                sql.SQL("DELETE FROM {target} WHERE ({keys}) IN (SELECT {keys} FROM moved)").format(**parts, keys=keys)
            )
        stored = await there.execute(
            sql.SQL("INSERT INTO {target} ({names}) OVERRIDING SYSTEM VALUE SELECT {names} FROM moved").format(**parts)
        )
        if stored.rowcount != copied:
            raise DatabaseError(f"of {copied:,} rows of {source} only {stored.rowcount:,} could be stored.")
        await there.execute("DROP TABLE moved")
        self._rows += copied

    async def _spaces(
        self, here: PostgresConnection, there: PostgresConnection, used: set[int | None]
    ) -> dict[int, int]:
        """Maps these embedding spaces of one server to those of the other, created if necessary."""
        found: dict[int, int] = {}
        for id_, model, dimensions, metric in await self._all(here, "move.spaces", used=[*(used - {None})]):
            rows = await self._all(there, "move.make_space", model=model, dimensions=dimensions, metric=metric)
            found[id_] = rows[0][0]
        return found

    async def _advance(self, there: PostgresConnection, tables: list[str]) -> None:
        """Make identity columns there continue above the copied values."""
        for table, column in await self._all(there, "move.identities", tables=tables):
            if column in _LEFT_OUT.get(table, ()):
                continue
            most = sql.SQL("SELECT max({}) FROM {} WHERE workspace = {}").format(
                sql.Identifier(column), sql.Identifier(table), sql.Literal(self._id)
            )
            [(highest,)] = await (await there.execute(most)).fetchall()
            if highest is not None:
                await self._all(there, "move.advance", table=f"trueweave.{table}", column=column, most=highest)

    # --- statements -----------------------------------------------------------------------------------

    def _tell(self, step: str) -> None:
        self._told(MoveProgress(step, self._rows, self._bytes))

    def _database(self, server: str) -> Database:
        url, is_direct = self._servers[server]
        return Database(url, direct_url=url if is_direct else None, connections=1)

    @asynccontextmanager
    async def _entered(self, server: str) -> AsyncIterator[PostgresConnection]:
        async with _owner(self._servers, server) as connection:
            await connection.execute(QUERIES["move.enter"], {"id": self._id})
            yield connection

    async def _all(self, connection: PostgresConnection, query: str, **params: Any) -> list[Row]:
        return await (await connection.execute(QUERIES[query], {"id": self._id, **params})).fetchall()

    async def _run(self, connection: PostgresConnection, query: str, **params: Any) -> int:
        return (await connection.execute(QUERIES[query], params)).rowcount


async def clear_copy(copy: Workspace) -> None:
    """Delete a copy that a move has left behind or not completed. `copy` is in the database that has it."""
    async with copy.database.transaction(copy.id, unhurried=True, dropping=True) as tx:
        await delete_rows(tx)
        await tx.run("servers.end_copy")


async def settle_copies(servers: ServerPlacement, server: str) -> int:
    """Finish on a server what moves began there and no longer work on: delete copies that were left long enough ago,
    and release what a killed move was blocking; returns how many copies."""
    database = await servers.database(server)
    settled = 0
    async with database.transaction(None) as tx:
        found = await tx.rows("servers.unsettled")
    for id_, place, is_over in found:
        async with servers.home.transaction(None, unhurried=True) as tx:
            if not await tx.value("servers.try_lock", workspace=id_):
                continue  # it is being moved
            rows = await tx.rows("servers.placements", workspaces=[id_], since=None)
            placed = [named or HOME for known, named, _ in rows if known == id_]
            is_here = placed == [server]
            if not is_here and (place == "arriving" or (place == "left" and is_over)):
                await clear_copy(Workspace(database, id_))
            elif is_here or place != "left":
                async with database.transaction(None) as there:
                    await there.run("servers.set_place", workspace=id_, is_here=is_here, grace=GRACE)
            else:
                continue
            settled += 1
    return settled


def _chosen(table: str, column: str) -> sql.Composable:
    instead = _INSTEAD.get((table, column))
    return sql.SQL(instead) if instead else sql.Identifier(column)


@asynccontextmanager
async def _owner(servers: Mapping[str, OwnerAddress], name: str) -> AsyncIterator[PostgresConnection]:
    if name not in servers:
        raise ConfigError(
            f"there is no server {name!r} in the settings. Available: {', '.join(servers)}. Add the addresses of "
            "others under [server_urls] in trueweave.toml."
        )
    url, said_to_be_direct = servers[name]
    async with await connect(url, NONE, said_to_be_direct=said_to_be_direct) as connection:
        yield connection


async def _find(home: PostgresConnection, name: str) -> tuple[int, str]:
    """The id of a workspace, locked so that nobody else can move it, and its server."""
    locked: int | None = None
    while True:
        rows = await (await home.execute(QUERIES["move.find"], {"name": name})).fetchall()
        if not rows:
            raise UnknownWorkspace(f"there is no workspace {name!r}. `trueweave workspace list` shows all.")
        [(id_, server)] = rows
        if id_ == locked:
            return id_, server
        if not await _is_ours(home, id_):
            raise DatabaseError(
                f"workspace {name!r} is being moved or loaded in bulk by another process. Wait until that is done, "
                "then run the same command again."
            )
        locked = id_  # check again: a bulk load may have replaced the workspace just before


async def _is_ours(home: PostgresConnection, id_: int) -> bool:
    rows = await (await home.execute(QUERIES["move.lock"], {"id": id_})).fetchall()
    return bool(rows[0][0])
