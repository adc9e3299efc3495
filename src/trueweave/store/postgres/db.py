"""Connections: a pool whose every transaction is bound to one workspace."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, LiteralString, Self, TypeVar, cast
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from pgvector.psycopg import register_vector_async
from psycopg import AsyncConnection, AsyncCursor, Error
from psycopg_pool import AsyncConnectionPool, PoolClosed, PoolTimeout

from trueweave.errors import DatabaseError, DatabaseUnavailable, NotIsolated
from trueweave.store.postgres import arrays
from trueweave.store.postgres.failures import DRIVER_ERRORS, describe, lasting
from trueweave.store.postgres.queries import QUERIES
from trueweave.types import Resolution

T = TypeVar("T")
Row = tuple[Any, ...]
Connection = AsyncConnection[Row]
Told = Callable[[str, float], None]  # why the database is waited for, and for how many seconds so far

_log = logging.getLogger(__name__)

ROLE = "trueweave_app"

# Queries that have one good plan, whatever their values: a few rows by their primary key. They are planned once.
_ONE_PLAN = ("reply.", "ledger.", "source.")

_PREPARE = f"""
SET ROLE {ROLE};
SET search_path = trueweave, public;
SET client_min_messages = warning;
SET hnsw.ef_search = 200;
SET hnsw.iterative_scan = relaxed_order;
SET jit = off
"""


class Transaction:
    """One transaction in one workspace. Row-level security keeps it there."""

    def __init__(self, connection: Connection, workspace: int) -> None:
        self.connection = connection
        self.workspace = workspace

    async def execute(
        self, query: LiteralString, params: Mapping[str, Any] | None = None, *, prepare: bool = False
    ) -> AsyncCursor[Row]:
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
        return await self.execute(QUERIES[query], params or None, prepare=query.startswith(_ONE_PLAN))

    async def copy(self, table: LiteralString, types: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Stream rows into a temporary table (COPY cannot write to a table under row-level security)."""
        async with self.connection.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types(types)
            for row in rows:
                await copy.write_row(row)


class Database:
    """A PostgreSQL database that holds Trueweave's schema. Open it once per process and share it."""

    def __init__(
        self,
        url: str,
        *,
        connections: int = 10,
        connection_class: type[Connection] = AsyncConnection,
    ) -> None:
        self.url = url
        self._bound: WeakKeyDictionary[Connection, int] = WeakKeyDictionary()  # what `reading` was last used for
        self._pool = AsyncConnectionPool(
            url,
            min_size=1,
            max_size=connections,
            open=False,
            timeout=60,
            configure=_prepare,
            connection_class=connection_class,
            # Plans are made for the values at hand: one for a name with ten mentions is wrong for one with a million.
            # So nothing is prepared unless it is asked for.
            kwargs={"autocommit": True, "prepare_threshold": 2**31},
        )

    async def open(self) -> Self:
        """Ready to be used; a `DatabaseError` that says why when the database cannot be."""
        try:  # one connection by hand: the pool would try for long, and not say why it failed
            await self._try_connection()
        except Error as error:
            raise unusable(self.url, error) from error
        await self._pool.open(wait=True)
        return self

    async def close(self) -> None:
        await self._pool.close()

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @asynccontextmanager
    async def _lent(self) -> AsyncIterator[Connection]:
        """A connection of the pool. It finds its way back also when whoever had it is cancelled on that very way, on
        which the pool would lose it for good."""
        try:
            connection = await self._pool.getconn()
        except PoolClosed as error:  # it does not come back, unlike a database that is away
            raise DatabaseError(
                f"the connection to {location(self.url)} was closed before this was done. Open it again, and keep it "
                "open for as long as something is under way."
            ) from error
        try:
            async with connection:
                yield connection
        finally:
            await asyncio.shield(self._pool.putconn(connection))

    @asynccontextmanager
    async def transaction(self, workspace: int, *, snapshot: bool = False) -> AsyncIterator[Transaction]:
        """A transaction in a workspace: committed at the end, rolled back on any error.

        With `snapshot` it only reads, and all its statements see the same moment.
        """
        begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" if snapshot else "BEGIN"
        async with self._lent() as connection:
            scope = f"{begin}; SELECT set_config('trueweave.workspace', '{int(workspace)}', true)"
            await connection.execute(scope)
            try:
                yield Transaction(connection, workspace)
            except BaseException:
                if not connection.closed:
                    await connection.execute("ROLLBACK")
                raise
            await connection.execute("COMMIT")

    @asynccontextmanager
    async def reading(self, workspace: int) -> AsyncIterator[Connection]:
        """A connection on which each statement reads a workspace on its own, and sees its own moment.

        It saves the round trips of a transaction: the connection is bound to the workspace until it is lent for
        another.
        """
        async with self._lent() as connection:
            if self._bound.get(connection) != workspace:
                # Whoever is cancelled here does not learn whether it was bound.
                self._bound.pop(connection, None)
                await connection.execute(f"SELECT set_config('trueweave.workspace', '{int(workspace)}', false)")
                self._bound[connection] = workspace
            yield connection

    async def insist(
        self, act: Callable[[], Awaitable[T]], patience: float = 600, told: Told = lambda _reason, _waited: None
    ) -> T:
        """What `act` gives, tried again while the database is away; `act` must be one that may be carried out twice.

        Each retry is logged, and `told` why and for how long. A failure that would last is raised at once, and one that
        outlasts `patience` (in seconds) as DatabaseUnavailable.
        """
        clock = asyncio.get_running_loop()
        began, pause = clock.time(), 0.05
        while True:
            try:
                return await act()
            except DRIVER_ERRORS as error:
                failure = await self._cause(error)
            if problem := lasting(failure):
                raise problem from failure
            waited = clock.time() - began
            if waited + pause > patience:
                raise DatabaseUnavailable(
                    f"{describe(failure)}. It was waited for, for {waited:.0f} s. What was done so far is kept: run "
                    "the same command again when it is back."
                ) from failure
            told(describe(failure), waited)
            _log.warning("%s; trying again in %.2f s, after %.1f s so far", describe(failure), pause, waited)
            await asyncio.sleep(pause)
            pause = min(2 * pause, 2.0)

    async def _cause(self, failure: Error) -> Error:
        """Why the pool has no connection to lend, which it does not tell; any other failure as it is."""
        if isinstance(failure, PoolTimeout):
            try:
                await self._try_connection()
            except Error as error:
                return error
        return failure

    async def _try_connection(self) -> None:
        async with await AsyncConnection.connect(self.url, autocommit=True, connect_timeout=10) as connection:
            await _prepare(connection)

    async def find_workspace(self, name: str, *, make: bool, resolution: Resolution = "exact") -> int | None:
        """The id of a workspace by its name, made when it is not there and `make` is set."""
        async with self._lent() as connection:
            found = await connection.execute("SELECT find_workspace(%s, %s, %s)", (name, make, resolution))
            row = await found.fetchone()
            return cast("int | None", row[0]) if row else None

    async def make_workspace(self, name: str) -> str:
        """Make a workspace that was not there before, of this name or one that begins like it; its name."""
        async with self._lent() as connection:
            row = await (await connection.execute("SELECT make_workspace(%s)", (name,))).fetchone()
            assert row
            return cast("str", row[0])


async def _prepare(connection: Connection) -> None:
    await connection.execute(_PREPARE)
    row = await (await connection.execute("SELECT row_security_active('document')")).fetchone()
    if row != (True,):
        raise NotIsolated(f"role {ROLE} is not bound by row-level security here; run `trueweave init` as the owner")
    await register_vector_async(connection)
    arrays.register(connection)


def unusable(url: str, error: Error) -> DatabaseError:
    """What to tell somebody whose database cannot be used."""
    reason = str(error).strip().splitlines()[0]
    return DatabaseError(
        f"cannot work with the database at {location(url)}: {reason}. Check that it runs, that the URL is right, that "
        "PostgreSQL has the pgvector extension, and that `trueweave init` was run by a user who may create a schema."
    )


def location(url: str) -> str:
    """A database URL as it may be shown: without user and password."""
    parts = urlsplit(url)
    return parts.netloc.rpartition("@")[2] + parts.path
