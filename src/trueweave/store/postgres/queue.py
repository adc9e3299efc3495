"""The queue: PgQueuer's tables in a schema of their own, in the same database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import fields
from datetime import timedelta
from functools import cache
from importlib.metadata import version
from typing import Any, Literal, Self, get_args, get_type_hints

from pgqueuer import PsycopgDriver, Queries, QueueManager
from pgqueuer.types import Channel
from psycopg import AsyncConnection, InterfaceError, OperationalError, sql

from trueweave.errors import UnknownWorkspace
from trueweave.store.postgres.db import ROLE, Workspace
from trueweave.store.postgres.queries import QUERIES

SCHEMA = "trueweave_queue"
_Callback = Callable[[str | bytes | bytearray], None]
CHANNEL = Channel("trueweave_queue")
_WAKE = "trueweave_queue_wake"

Kind = Literal["document", "settle", "large", "summary", "report"]

# Settling first: it is short, and it lets people see what is there. A higher number goes first.
_PRIORITY: dict[Kind, int] = {"document": 0, "settle": 1, "large": 0, "summary": 0, "report": 0}

# All by name, as what is not would be read from the environment, under names as common as FUNCTION.
_SETTINGS = {
    "prefix": "",
    "db_schema": SCHEMA,
    "channel": CHANNEL,
    "function": "job_changed",
    "trigger": "job_changed",
    "queue_table": "job",
    "queue_table_log": "job_log",
    "queue_status_type": "job_status",
    "statistics_table": "job_statistics",
    "schedules_table": "job_schedule",
    "durability": "durable",
    "widen_id": True,
}


class _Listening(PsycopgDriver):
    """PgQueuer's driver, with a second connection for news.

    Psycopg keeps a connection to itself while it waits for a notification, so that each statement on it would wait for
    up to a second as well.
    """

    def __init__(self, connection: AsyncConnection[Any], ears: AsyncConnection[Any]) -> None:
        super().__init__(connection)
        self._ears = PsycopgDriver(ears)

    async def add_listener(self, channel: str, callback: _Callback) -> None:
        await self._ears.add_listener(channel, callback)
        await self._ears.add_listener(_WAKE, _unheard)

    async def remove_listener(self, channel: str, callback: _Callback) -> None:
        await self._ears.remove_listener(channel, callback)

    async def __aenter__(self) -> Self:
        await self._ears.__aenter__()
        return await super().__aenter__()

    async def __aexit__(self, *error: object) -> None:
        self._ears.shutdown.set()
        with suppress(OperationalError, InterfaceError):  # a database that is away has closed both anyway
            await self.notify(_WAKE, "")  # lest the ears be kept open until their time is up
        await self._ears.__aexit__(*error)
        await super().__aexit__(*error)


def _unheard(_: object) -> None:
    """News that only has to arrive."""


@asynccontextmanager
async def managed(workspace: Workspace) -> AsyncIterator[tuple[AsyncConnection[Any], QueueManager]]:
    """PgQueuer's manager of a workspace's jobs, and the connection on which it asks.

    The connection is bound to the workspace, so that no other's jobs are seen.
    """
    async with await workspace.database.connect() as connection, await workspace.database.connect() as ears:
        row = await (await connection.execute("SELECT trueweave.enter(%s, false)", (workspace.id,))).fetchone()
        if row != (True,):
            raise UnknownWorkspace("the workspace was dropped. Its documents are gone, and so are those that waited.")
        await connection.execute(f"SET ROLE {ROLE}; SET trueweave.workspace = {workspace.id}".encode())
        yield connection, QueueManager(queries(connection, _Listening(connection, ears)), CHANNEL)


def queries(connection: AsyncConnection[Any], driver: PsycopgDriver | None = None) -> Queries:
    """PgQueuer's own statements, on this connection (which must be in autocommit)."""
    return Queries(driver or PsycopgDriver(connection), **_builders())


@cache
def _builders() -> dict[str, Any]:
    """What makes PgQueuer's statements, with our names. PgQueuer exports neither these nor their settings, but both are
    what the fields of `Queries` say."""
    made = {}
    for field in fields(Queries):
        if field.name in ("qbe", "qbq", "qbs"):
            builder: Any = field.default_factory
            made[field.name] = builder(get_type_hints(builder)["settings"](**_SETTINGS))
    return made


def entrypoint(kind: Kind, workspace: int) -> str:
    """The name under which jobs of a workspace are queued: whoever works for one workspace sees no other's jobs."""
    return f"{kind}/{workspace}"


async def is_installed(connection: AsyncConnection[Any]) -> bool:
    """Whether the last step of `install` was taken by this version of PgQueuer."""
    row = await (await connection.execute(QUERIES["queue.installed_by"], {"schema": SCHEMA})).fetchone()
    return row == (_installed_by(),)


async def install(connection: AsyncConnection[Any]) -> None:
    """Make the queue's tables, or bring them up to what this PgQueuer wants. Each workspace sees its own jobs only."""
    queue = queries(connection)
    if await queue.schema_is_installed():
        await queue.upgrade()
    else:
        await queue.install()
    await connection.execute(QUERIES["queue.protect"])
    mark = sql.SQL("COMMENT ON SCHEMA {} IS {}").format(sql.Identifier(SCHEMA), sql.Literal(_installed_by()))
    await connection.execute(mark)


def _installed_by() -> str:
    return f"PgQueuer {version('pgqueuer')}"


async def enqueue(
    connection: AsyncConnection[Any], workspace: int, kind: Kind, payloads: Sequence[bytes], after: float = 0
) -> None:
    """Add jobs that wait for so many seconds; in a transaction, they are there when it is committed."""
    if payloads:
        names, priorities = [entrypoint(kind, workspace)] * len(payloads), [_PRIORITY[kind]] * len(payloads)
        later: list[timedelta | None] = [timedelta(seconds=after)] * len(payloads)
        await queries(connection).enqueue(names, list(payloads), priorities, later)


async def absorb(connection: AsyncConnection[Any], workspace: int, kind: Kind) -> None:
    """Take away the jobs of a kind that wait, for one who is about to do all that they would."""
    waiting = f"DELETE FROM {SCHEMA}.job WHERE entrypoint = %s AND status = 'queued'"
    await connection.execute(waiting.encode(), (entrypoint(kind, workspace),))


async def take_up(connection: AsyncConnection[Any], workspace: int) -> None:
    """Queue again what is held in a workspace because its end could not be noted."""
    again = f"UPDATE {SCHEMA}.job SET status = 'queued', execute_after = now() WHERE status = 'failed'"
    await connection.execute(f"{again} AND entrypoint = ANY(%s)".encode(), (_entrypoints(workspace),))


async def take_waiting(
    connection: AsyncConnection[Any], workspace: int, kind: Kind, wanted: Callable[[bytes], bool]
) -> list[bytes]:
    """Take away those of the jobs of a kind that nobody is at and whose payload is wanted; their payloads."""
    waiting = f"SELECT id, payload FROM {SCHEMA}.job WHERE entrypoint = %s AND status IN ('queued', 'failed')"
    rows = await (await connection.execute(waiting.encode(), (entrypoint(kind, workspace),))).fetchall()
    ids = [id_ for id_, payload in rows if wanted(payload or b"")]
    if not ids:
        return []
    gone = f"DELETE FROM {SCHEMA}.job WHERE id = ANY(%s) AND status IN ('queued', 'failed') RETURNING payload"
    return [payload for (payload,) in await (await connection.execute(gone.encode(), (ids,))).fetchall()]


async def forget_log(
    connection: AsyncConnection[Any], workspace: int, kept: timedelta, limit: int | None = None
) -> int:
    """Forget what happened to jobs of a workspace longer ago than that; how many entries that were."""
    old = f"SELECT id FROM {SCHEMA}.job_log WHERE entrypoint = ANY(%s) AND created <= now() - %s LIMIT %s"
    gone = f"DELETE FROM {SCHEMA}.job_log WHERE id = ANY(ARRAY({old}))"
    return (await connection.execute(gone.encode(), (_entrypoints(workspace), kept, limit))).rowcount


async def forget_jobs(connection: AsyncConnection[Any], workspace: int) -> None:
    """Take away all jobs of a workspace, and what is written down about them."""
    for table in ("job", "job_log", "job_statistics"):
        gone = f"DELETE FROM {SCHEMA}.{table} WHERE entrypoint = ANY(%s)"
        await connection.execute(gone.encode(), (_entrypoints(workspace),))


def _entrypoints(workspace: int) -> list[str]:
    return [entrypoint(kind, workspace) for kind in get_args(Kind)]
