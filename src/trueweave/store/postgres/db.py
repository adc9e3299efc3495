"""The pool of connections, on which every transaction sets its own role and workspace.

Statements rely on no session state, because a pooler such as PgBouncer in transaction mode shares one session among
many clients. Role, workspace and settings are set by the message that begins a transaction, and end with it. See
docs/adr/0015-poolers.md.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, LiteralString, NamedTuple, Protocol, Self, TypeVar, cast

from pgvector.psycopg import register_vector_async
from psycopg import AsyncCursor, Error, errors, sql
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout  # noqa: TID251 (the one place)

from trueweave.core.errors import (
    ConfigError,
    DatabaseError,
    DatabaseUnavailable,
    NotIsolated,
    UnknownWorkspace,
    WorkspaceMoving,
    WorkspaceReplaced,
)
from trueweave.core.record import EVERY_GROUP, Resolution
from trueweave.store.postgres import binary_params
from trueweave.store.postgres.connections import (
    KEEPALIVE,
    NONE,
    PostgresConnection,
    Row,
    Timeouts,
    configure,
    connect,
    location,
    refuse_pooler,
    set_all,
    unusable,
)
from trueweave.store.postgres.failures import (
    DRIVER_ERRORS,
    cancel_requests,
    describe,
    lasting,
    raise_if_cancelled,
)
from trueweave.store.postgres.queries import QUERIES
from trueweave.store.postgres.schema import schema
from trueweave.store.postgres.schema.schema import ROLE, Applied
from trueweave.store.postgres.sight import Sight, refused, statement
from trueweave.store.postgres.slow import timed
from trueweave.store.postgres.standby_reads import StandbyReads

T = TypeVar("T")
WaitListener = Callable[[str, float], None]  # why we are waiting for the database, and seconds waited so far

_log = logging.getLogger(__name__)

# Queries with one good plan whatever their values, because they read a few rows by primary key. They are prepared once.
_ONE_PLAN = ("reply.", "ledger.", "source.")

_ROWS_AT_A_STRETCH = 500  # rows of a COPY sent before other tasks get a turn

# Settings of every transaction, set explicitly because of what earlier users of the session may have set.
_SETTINGS = {
    "role": ROLE,
    "search_path": "trueweave, public",
    "client_min_messages": "warning",
    "hnsw.ef_search": "200",
    "hnsw.iterative_scan": "relaxed_order",
    "jit": "off",
}


_CALLER = "trueweave_caller"  # the role of those who do not see all documents

_MAY_NOT_SWITCH = "permission denied to set role"

# SQLSTATEs when a server has stopped or is stopping: none at all, shutdown on request, or crash.
_STOPPED = (None, "57P01", "57P02")

# Errors that mean the schema is missing, or that the user may not switch to its role.
_NO_SCHEMA = (errors.UndefinedTable, errors.InvalidParameterValue, errors.InsufficientPrivilege)

_DROPPED = (
    "this workspace was dropped, or is being dropped, so nothing can be read from it or written to it. If that was "
    "interrupted, run `trueweave workspace drop NAME --yes` to end it; `trueweave init` makes a new one."
)


_REPLACED = (
    "a bulk load has replaced the index of this workspace since it was opened. Nothing was written. Try again, and the "
    "new index is used."
)

_MOVING = (
    "this workspace is being moved to another server, or was moved just now. It is read meanwhile, and takes no "
    "writes: try again in a moment."
)


class Transaction:
    """One transaction in one workspace. Row-level security keeps it there."""

    def __init__(
        self, connection: PostgresConnection, workspace: int, slow_after: float = 0, *, is_restricted: bool = False
    ) -> None:
        self.connection = connection
        self.workspace = workspace
        self.is_restricted = is_restricted  # it has a sight, and does not see all documents
        self._slow_after = slow_after

    async def execute(
        self, query: LiteralString, params: Mapping[str, Any] | None = None, *, prepare: bool = False
    ) -> AsyncCursor[Row]:
        with timed(query, self._slow_after):
            return await self.connection.execute(query, params, prepare=prepare)

    async def run(self, query: str, /, **params: Any) -> int:
        """Run a named query; how many rows it touched."""
        return (await self._execute(query, params)).rowcount

    async def rows(self, query: str, /, **params: Any) -> list[Row]:
        """Run a named query; all its rows."""
        return await (await self._execute(query, params)).fetchall()

    async def value(self, query: str, /, **params: Any) -> Any:
        """Run a named query; the first column of its first row, or None."""
        row = await (await self._execute(query, params)).fetchone()
        return row[0] if row else None

    async def _execute(self, query: str, params: Mapping[str, Any]) -> AsyncCursor[Row]:
        with timed(query, self._slow_after):
            return await self.connection.execute(QUERIES[query], params or None, prepare=query.startswith(_ONE_PLAN))

    async def read(self, query: str, params: Mapping[str, Any] | None = None) -> list[Row]:
        """The rows of a statement that was put together from named queries."""
        with timed(query, self._slow_after):
            return await (await self.connection.execute(query.encode(), params)).fetchall()

    async def copy(self, table: LiteralString, types: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Stream rows into a temporary table (COPY cannot write to a table under row-level security)."""
        async with self.connection.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types(types)
            for n, row in enumerate(rows, 1):
                await copy.write_row(row)
                if n % _ROWS_AT_A_STRETCH == 0:
                    await asyncio.sleep(0)  # let other tasks run


class Database:
    """A PostgreSQL database with Trueweave's schema. Open it once per process and share it.

    If `servers` is set, this is the home database of workspaces on several servers. If `url` is the address of a
    pooler, `direct_url` is that of PostgreSQL itself, for connections that need their own session. `revive` restarts a
    bundled server that has stopped, or raises a DatabaseError that says why it cannot. Statements that take at least
    `slow_after` seconds are logged; 0 disables this. `connections` is the maximum size of the pool, and `index_memory`
    is how many bytes PostgreSQL may use to build one vector index.
    """

    def __init__(
        self,
        url: str,
        *,
        direct_url: str | None = None,
        timeouts: Timeouts = Timeouts(),  # noqa: B008 (immutable)
        connections: int = 10,
        index_memory: int = 2**30,
        connection_class: type[PostgresConnection] = PostgresConnection,
        revive: Callable[[], object] | None = None,
        slow_after: float = 0,
    ) -> None:
        self.url = url
        self.servers: ServerPlacement | None = None
        self.standbys: StandbyReads | None = None  # this server's standbys for reading questions, set by the opener
        self.closes_first: set[Callable[[], Awaitable[None]]] = set()  # closers of connections outside the pool
        # For work that keeps a connection for seconds while its caller waits: at most a quarter of the pool, so that
        # short requests always find a connection.
        self.long_work = asyncio.Semaphore(max(1, connections // 4))
        self._slow_after = slow_after
        self._revive = revive
        self.direct_url = direct_url or url
        self.timeouts = timeouts
        self.index_memory = index_memory
        self._is_pooled = direct_url is not None
        entered = "set_config('trueweave.workspace', %s, true), trueweave.enter(%s::int, false)"
        self._entering_one = f"{self._entering(None)}, {entered}".encode()
        caller = _entered_by_caller("%s", "%s")
        entered = f"set_config('trueweave.workspace', %s, true), {caller}, trueweave.enter(%s::int, false)"
        self._entering_by_caller = f"{self._entering(None)}, {entered}".encode()
        self._successors: dict[int, int] = {}  # of workspaces known to have been replaced by bulk loads
        self._pool = AsyncConnectionPool(
            url,
            min_size=1,
            max_size=connections,
            open=False,
            timeout=60,
            configure=self._configure,
            connection_class=connection_class,
            # Statements are planned for their actual values: a plan for a name with ten mentions is wrong for one with
            # a million. So nothing is prepared unless requested, and nothing at all behind a pooler, where the session
            # in which a statement was prepared soon serves another client.
            kwargs={"autocommit": True, "prepare_threshold": None if self._is_pooled else 2**31, **KEEPALIVE},
        )

    async def open(self) -> Self:
        """Connect; raises a `DatabaseError` that says why if the database cannot be used. Changes nothing in it: a
        missing or outdated schema is left to `migrate`."""
        asked = cancel_requests()
        try:  # try one connection first: the pool would retry for long, and not say why it failed
            await self._try_connection()
            await self._pool.open(wait=True)
            if cancel_requests() > asked:
                raise asyncio.CancelledError
        except Error as error:
            raise unusable(self.url, error) from error
        except asyncio.CancelledError:
            await self._pool.close()  # cancelling does not end its tasks; closing it does
            raise
        return self

    async def close(self) -> None:
        """Close the pool, after everything in `closes_first`."""
        try:
            for close in [*self.closes_first]:
                await close()
        finally:
            await self._pool.close()

    @property
    def all_standbys(self) -> list[StandbyReads]:
        """The standbys of this server and, if it is a home, of the other servers."""
        every = (self, *(self.servers.others if self.servers else ()))
        return [one.standbys for one in every if one.standbys]

    def pool_stats(self) -> dict[str, int]:
        """Sizes and counters of the connection pool, under psycopg's names. Those that are 0 may be missing."""
        return self._pool.get_stats()

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def connect(self) -> PostgresConnection:
        """A dedicated connection to PostgreSQL itself, which can keep settings, listen and hold locks."""
        return await connect(self.direct_url, self.timeouts, said_to_be_direct=self._is_pooled)

    @asynccontextmanager
    async def _lent(self) -> AsyncIterator[PostgresConnection]:
        """A connection from the pool. It is returned even if the task is cancelled while returning it, which would make
        the pool lose it for good. A task that is cancelled while receiving the connection does not get it."""
        asked = cancel_requests()
        try:
            connection = await self._pool.getconn()
        except PoolClosed as error:  # a closed pool stays closed, so do not retry as for an unavailable database
            raise DatabaseError(
                f"the connection to {location(self.url)} was closed before this was done. Open it again, and keep "
                "it open while operations are in progress."
            ) from error
        try:
            if cancel_requests() > asked:
                raise asyncio.CancelledError
            async with connection:
                yield connection
        finally:
            await asyncio.shield(self._pool.putconn(connection))

    @asynccontextmanager
    async def transaction(
        self,
        workspace: int | None,
        *,
        snapshot: bool = False,
        unhurried: bool = False,
        dropping: bool = False,
        booking: bool = False,
        restricts: bool | Sequence[str] = False,
        sight: Sight | None = None,
    ) -> AsyncIterator[Transaction]:
        """A transaction in a workspace of this database: committed at the end, rolled back on any error. Without a
        workspace it can access only the few shared tables.

        With `snapshot` it is read-only, and all its statements see the same snapshot. With `unhurried` it has no
        timeouts, for work such as building an index. Raises UnknownWorkspace if the workspace was dropped, unless
        `dropping` is set; a workspace is never dropped while somebody writes to it. Raises WorkspaceMoving on writes to
        a workspace that is being moved, unless `booking` is set, for recording the cost and replies of model calls:
        that stays possible until the very end of the move. With a `sight` it sees only that, and raises
        NotForRestricted for what its role may not do. `restricts` is set for what gives documents readers, or has the
        uris of documents that may get some by an access rule: it waits for callers who were found to see all documents,
        before it takes other locks.
        """
        async with (
            self._lent() as connection,
            self.entered(
                connection,
                workspace,
                snapshot=snapshot,
                unhurried=unhurried,
                dropping=dropping,
                booking=booking,
                restricts=restricts,
                sight=sight,
            ) as tx,
        ):
            yield tx

    @asynccontextmanager
    async def entered(
        self,
        connection: PostgresConnection,
        workspace: int | None,
        *,
        snapshot: bool = False,
        unhurried: bool = False,
        dropping: bool = False,
        booking: bool = False,
        restricts: bool | Sequence[str] = False,
        sight: Sight | None = None,
    ) -> AsyncIterator[Transaction]:
        """The same on a connection that the caller supplies."""
        begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" if snapshot else "BEGIN"
        is_checked = workspace is not None and not dropping
        entering = self._entering(workspace, unhurried=unhurried)
        if restricts:
            uris = "NULL" if restricts is True else sql.quote(list(restricts), connection)
            entering += f", trueweave.await_sight({uris})"
        if sight:  # quoted, because parameters cannot be sent with several statements
            entering += ", " + _entered_by_caller(*(sql.quote(value, connection) for value in sight.settings))
        check = f", trueweave.enter({workspace}, {not snapshot}, {booking})" if is_checked else ""
        begun = await connection.execute(f"{begin}; {entering}{check}".encode())
        try:
            begun.nextset()
            row = await begun.fetchone()
            assert row is not None
            is_restricted = sight is not None and row[-2 if is_checked else -1] == _CALLER
            tx = Transaction(connection, workspace or 0, self._slow_after, is_restricted=is_restricted)
            if is_checked and row[-1] is not True:
                state = await self._state(tx)
                raise WorkspaceReplaced(_REPLACED) if state.successor else UnknownWorkspace(_DROPPED)
            yield tx
        except errors.ReadOnlySqlTransaction as error:
            await _roll_back(connection)
            if is_checked and not snapshot and not await _is_standby(connection):
                raise WorkspaceMoving(_MOVING) from error
            raise
        except errors.InsufficientPrivilege as error:
            await _roll_back(connection)
            if sight:
                raise refused() from error
            raise
        except BaseException:
            await _roll_back(connection)
            raise
        await connection.execute("COMMIT")

    async def read(
        self,
        workspace: int | None,
        query: bytes,
        params: Mapping[str, Any] | None = None,
        *,
        former: bool = False,
        sight: Sight | None = None,
    ) -> list[Row]:
        """The rows of one read-only statement in its own transaction, prepared where possible; with a `sight`, as for
        `transaction`.

        Raises UnknownWorkspace if the workspace was dropped, and WorkspaceReplaced if a bulk load has replaced it,
        unless `former` allows reading the old index, which is kept for some minutes. Without a workspace it reads
        shared tables.

        The statement is sent together with the one that enters the workspace, in one round trip: without a `BEGIN`,
        everything sent up to the end of a pipeline is one transaction.
        """
        if workspace is None:
            return await self._alone(self._entering(None).encode(), (), query, params)
        begun, rows = await self._together(*self._entry(workspace, sight), statement(query, sight), params)
        if begun[-1] is not True:
            async with self.transaction(workspace, dropping=True) as tx:
                state = await self._state(tx)
            if state.successor and not former:
                raise WorkspaceReplaced(_REPLACED)
            if state.is_dropped and not state.successor:
                raise UnknownWorkspace(_DROPPED)  # else it was moved; the old copy stays readable for some minutes
        return rows

    def _entry(self, workspace: int, sight: Sight | None) -> tuple[bytes, Sequence[object]]:
        """The statement that enters a workspace, with its parameters."""
        if sight is None:
            return self._entering_one, (str(workspace), workspace)
        return self._entering_by_caller, (str(workspace), *sight.settings, workspace)

    def successor(self, workspace: int) -> int:
        """The workspace itself, or the one that replaced it in a bulk load, if this process has noticed."""
        while workspace in self._successors:
            workspace = self._successors[workspace]
        return workspace

    def formers(self, workspace: int) -> list[int]:
        """The workspaces that this one replaced in bulk loads, as far as this process has noticed."""
        return [former for former in self._successors if self.successor(former) == workspace]

    async def _state(self, tx: Transaction) -> _State:
        """Why a workspace cannot be entered: dropped or replaced."""
        rows = await tx.rows("read.fate")
        state = _State(*rows[0]) if rows else _State(True, None)
        if state.successor:
            self._successors[tx.workspace] = state.successor
        return state

    async def _alone(
        self, entering: bytes, entered: Sequence[object], query: bytes, params: Mapping[str, Any] | None
    ) -> list[Row]:
        return (await self._together(entering, entered, query, params))[1]

    async def _together(
        self, entering: bytes, entered: Sequence[object], query: bytes, params: Mapping[str, Any] | None
    ) -> tuple[Row, list[Row]]:
        """The row of the statement that enters the workspace, and the rows of the second one, in one transaction."""
        async with self._lent() as connection:
            try:
                with timed(query.decode(), self._slow_after):
                    # Not behind a pooler: PgBouncer 1.18 sometimes does not forward the end of a pipeline.
                    async with connection.transaction() if self._is_pooled else connection.pipeline():
                        begun = await connection.execute(entering, entered or None, prepare=True)
                        cursor = await connection.execute(query, params, prepare=True, binary=True)
            except asyncio.CancelledError:
                await connection.close()  # it cannot be reused in the middle of a pipeline
                raise
            except errors.InsufficientPrivilege as error:
                if entering.startswith(self._entering_by_caller) and _MAY_NOT_SWITCH not in str(error):
                    raise refused() from error
                raise
            return await begun.fetchone() or (), await cursor.fetchall()

    def _entering(self, workspace: int | None, *, unhurried: bool = False) -> str:
        """The statement that gives a transaction its role, workspace and settings."""
        timeouts = NONE if unhurried else self.timeouts
        named = {} if workspace is None else {"trueweave.workspace": str(int(workspace))}
        return f"SELECT {set_all({**_SETTINGS, **timeouts.settings, **named}, local=True)}"

    async def retry_while_down(
        self,
        act: Callable[[], Awaitable[T]],
        patience: float = 600,
        listener: WaitListener = lambda _reason, _waited: None,
    ) -> T:
        """The result of `act`, which is retried while the database is unavailable or the workspace is being moved; so
        it must be safe to run `act` twice.

        Each retry is logged, and `listener` is called with the reason and the seconds waited. A permanent failure is
        raised at once, and one that outlasts `patience` (in seconds) is raised as DatabaseUnavailable.
        """
        clock = asyncio.get_running_loop()
        began, pause = clock.time(), 0.05
        while True:
            try:
                return await act()
            except DRIVER_ERRORS as error:
                raise_if_cancelled(error)
                failure = await self.cause(error)
                if problem := lasting(failure):
                    raise problem from failure
            except WorkspaceMoving as error:
                failure = error
            waited = clock.time() - began
            if waited + pause > patience:
                raise DatabaseUnavailable(
                    f"{describe(failure)}. Gave up after {waited:.0f} s. Completed work is kept: run the same "
                    "command again when the database is available."
                ) from failure
            listener(describe(failure), waited)
            _log.warning(
                "%s; trying again in %.2f s, after %.1f s so far",
                describe(failure),
                pause,
                waited,
                extra={"event": "database.retry", "wait_seconds": pause, "waited_seconds": round(waited, 3)},
            )
            await asyncio.sleep(pause)
            pause = min(2 * pause, 2.0)

    async def cause(self, failure: Exception) -> Exception:
        """The cause of a broken connection or a pool timeout, which neither error reports; other failures unchanged."""
        if isinstance(failure, PoolTimeout):
            try:
                await self._try_connection()
            except Error as error:
                failure = error
        if self._revive and isinstance(failure, DRIVER_ERRORS) and failure.sqlstate in _STOPPED:
            try:
                await asyncio.to_thread(self._revive)
            except DatabaseError as error:
                return error
        return failure

    async def _try_connection(self) -> None:
        async with await PostgresConnection.connect(self.url, autocommit=True, **KEEPALIVE) as connection:
            await self._configure(connection)

    async def open_workspace(
        self, name: str, *, make: bool, resolution: Resolution = "exact"
    ) -> OpenedWorkspace | None:
        """Open a workspace by name, with what is needed to work in it. If it does not exist, it is created if `make` is
        set.

        This takes one statement and one round trip, and one more if the workspace is on another server.
        """
        query = (
            b"SELECT id, has_space, settings, server, mode, dropped "
            b"FROM open_workspace(%(name)s, %(make)s, %(resolution)s, %(among)s::text[])"
        )
        given = {"name": name, "make": make, "resolution": resolution, "among": self._among}
        rows = await self._alone(self._entering(None).encode(), (), query, given)
        if not rows:
            return None
        [id_, has_space, settings, server, mode, is_dropped] = rows[0]
        workspace = Workspace(self, id_)
        if server is None or is_dropped:
            return OpenedWorkspace(workspace, has_space, settings)
        if self.servers is None:
            raise ConfigError(
                f"workspace {name!r} is on the server {server}, but the settings here name no servers. Add the "
                "address of each under [server_urls] in trueweave.toml."
            )
        return await (await self.servers.database(server)).open_placed(workspace, name, mode)

    async def create_workspace(self, name: str, resolution: Resolution) -> OpenedWorkspace | None:
        """A new workspace; None if the name is taken. If several callers try at once, one succeeds."""
        query = b"SELECT create_workspace(%(name)s, %(resolution)s, %(among)s::text[])"
        given = {"name": name, "resolution": resolution, "among": self._among}
        [(is_new,)] = await self._alone(self._entering(None).encode(), (), query, given)
        return await self.open_workspace(name, make=False) if is_new else None

    async def open_placed(self, workspace: Workspace, name: str, resolution: Resolution) -> OpenedWorkspace:
        """Open a workspace that its home has placed in this database."""
        query = b"SELECT has_space, settings FROM open_placed(%(id)s, %(name)s, %(resolution)s)"
        given = {"id": workspace.id, "name": name, "resolution": resolution}
        [(has_space, settings)] = await self._alone(self._entering(None).encode(), (), query, given)
        return OpenedWorkspace(workspace, has_space, settings)

    @property
    def _among(self) -> list[str]:
        """The servers that this process can use for a new workspace."""
        return list(self.servers.names) if self.servers else []

    async def find_workspace(self, name: str, *, make: bool, resolution: Resolution = "exact") -> Workspace | None:
        """A workspace by name. If it does not exist, it is created if `make` is set."""
        found = await self.open_workspace(name, make=make, resolution=resolution)
        return found.workspace if found else None

    async def make_workspace(self, name: str) -> str:
        """Create a new workspace with this name, or with a suffix if it is taken; returns its name."""
        async with self.transaction(None) as tx:
            row = await (
                await tx.execute(
                    "SELECT make_workspace(%(name)s, %(among)s::text[])", {"name": name, "among": self._among}
                )
            ).fetchone()
            assert row
            return cast("str", row[0])

    async def _configure(self, connection: PostgresConnection) -> None:
        if not self._is_pooled:
            await refuse_pooler(connection, self.url)
            await configure(connection, {})
        await self._check_schema(connection)
        await register_vector_async(connection)
        binary_params.register(connection)

    async def _check_schema(self, connection: PostgresConnection) -> None:
        """Raise SchemaMismatch if this version of Trueweave cannot use the schema. This takes one round trip."""
        both = f"{self._entering(None)}; {QUERIES['version.opened']}"  # sent together, they are one transaction
        try:
            cursor = await connection.execute(both.encode())
        except _NO_SCHEMA as error:
            if reason := await schema.refusal(connection, self.url):
                raise reason from error
            raise
        cursor.nextset()
        row = await cursor.fetchone()
        assert row is not None
        [is_isolated, inherits, applied] = row
        if mismatch := schema.state_of(Applied(*one) for one in applied or ()).mismatch(self.url):
            raise mismatch
        if not inherits:
            raise schema.no_role(connection, self.url)
        if not is_isolated:
            raise NotIsolated(f"role {ROLE} is not bound by row-level security; it must own no table of Trueweave's")


@dataclass(frozen=True)
class Workspace:
    """One workspace of a database or, if that is a home, of whichever server the workspace is on. Creating this object
    needs no connection and no statement."""

    database: Database
    id: int
    sight: Sight | None = None

    def seen(self, sight: Sight) -> Workspace:
        """This workspace as far as a caller sees it."""
        return replace(self, sight=sight)

    def filtered(self, passing: str) -> Workspace:
        """This workspace as far as documents pass a filter, which `document_filter.compiled` has made; for a caller
        with rights, only what it sees of them."""
        return self.seen((self.sight or Sight((EVERY_GROUP,))).narrowed(passing)) if passing else self

    async def check_unrestricted(self, what: str = "this") -> None:
        """Raise NotForRestricted, which names what was asked for, if the caller does not see all documents."""
        if self.sight:
            async with self.transaction() as tx:
                if not await tx.value("read.sees_all"):
                    raise refused(what)

    async def placed(self) -> Database:
        """The database that the workspace is in now."""
        servers = self.database.servers
        return await servers.placed(self.id) if servers else self.database

    def transaction(
        self,
        *,
        snapshot: bool = False,
        unhurried: bool = False,
        dropping: bool = False,
        booking: bool = False,
        restricts: bool | Sequence[str] = False,
    ) -> AbstractAsyncContextManager[Transaction]:
        """A transaction in this workspace: see `Database.transaction`."""
        how: dict[str, Any] = {
            "snapshot": snapshot,
            "unhurried": unhurried,
            "dropping": dropping,
            "booking": booking,
            "restricts": restricts,
            "sight": self.sight,
        }
        return self._transaction(how) if self.database.servers else self.database.transaction(self.id, **how)

    @asynccontextmanager
    async def _transaction(self, how: Mapping[str, Any]) -> AsyncIterator[Transaction]:
        servers = self.database.servers
        assert servers, "there is only one way without"
        try:
            async with (await servers.placed(self.id)).transaction(self.id, **how) as tx:
                yield tx
        except WorkspaceMoving:
            servers.expire()  # so that a retry looks up where it is by then
            raise

    async def read(self, query: bytes, params: Mapping[str, Any] | None = None, *, former: bool = False) -> list[Row]:
        """The rows of one read-only statement: see `Database.read`."""
        return await (await self.placed()).read(self.id, query, params, former=former, sight=self.sight)

    @property
    def latest(self) -> Workspace:
        """This workspace, or the one that replaced it in a bulk load, if this process has noticed."""
        latest = self.database.successor(self.id)
        return self if latest == self.id else replace(self, id=latest)

    async def retry_while_down(
        self,
        act: Callable[[], Awaitable[T]],
        patience: float = 600,
        listener: WaitListener = lambda _reason, _waited: None,
    ) -> T:
        """The result of `act`, retried while the database is unavailable: see `Database.retry_while_down`."""
        return await self.database.retry_while_down(act, patience, listener)


class ServerPlacement(Protocol):
    """The servers of a home database, and which of them each workspace is on."""

    home: Database

    @property
    def names(self) -> tuple[str, ...]:
        """The servers other than the home."""

    @property
    def others(self) -> tuple[Database, ...]:
        """The databases of the other servers, which may be closed or unreachable."""

    async def database(self, name: str | None) -> Database:
        """The database on a server; the home if there is no name."""

    async def placed(self, workspace: int) -> Database:
        """The database that a workspace is in."""

    def expire(self) -> None:
        """Look up the placement again before the next read or write, because a workspace was moved."""


class _State(NamedTuple):
    is_dropped: bool
    successor: int | None


class OpenedWorkspace(NamedTuple):
    """A workspace, whether it has an embedding space, and its own settings."""

    workspace: Workspace
    has_space: bool
    settings: dict[str, Any]


def _entered_by_caller(groups: str, passing: str) -> str:
    """SQL expressions that give a transaction of a caller its role, after its workspace was set: see
    0025_rights.sql."""
    return (
        f"set_config('trueweave.groups', {groups}, true), set_config('trueweave.filter', {passing}, true), "
        f"set_config('role', CASE WHEN trueweave.sees_all() THEN '{ROLE}' ELSE '{_CALLER}' END, true)"
    )


async def _roll_back(connection: PostgresConnection) -> None:
    """Roll back, or close the connection if that fails, so that the caller sees the original error: a request to cancel
    a statement may reach the server during the ROLLBACK."""
    if not connection.closed:
        try:
            await connection.execute("ROLLBACK")
        except Error:
            await connection.close()


async def _is_standby(connection: PostgresConnection) -> bool:
    """Whether the server is a standby, where nothing can be written in any workspace."""
    row = await (await connection.execute("SELECT pg_is_in_recovery()")).fetchone()
    return row is not None and row[0] is True
