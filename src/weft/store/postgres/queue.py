"""The queue: PgQueuer's tables in a schema of their own, in the same database."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

from pgqueuer.adapters.persistence.qb import QueryBuilderEnvironment, QueryQueueBuilder, QuerySchedulerBuilder
from pgqueuer.db import PsycopgDriver
from pgqueuer.domain.settings import DBSettings, Durability
from pgqueuer.queries import Queries
from pgqueuer.types import Channel
from psycopg import AsyncConnection

SCHEMA = "weft_queue"
CHANNEL = Channel("weft_queue")

Kind = Literal["document", "settle", "summary"]

# Settling first: it is short, and it lets people see what is there. A higher number goes first.
_PRIORITY: dict[Kind, int] = {"document": 0, "settle": 1, "summary": 0}

# All by name, as what is not would be read from the environment, under names as common as FUNCTION.
_SETTINGS = DBSettings(
    prefix="",
    db_schema=SCHEMA,
    channel=CHANNEL,
    function="job_changed",
    trigger="job_changed",
    queue_table="job",
    queue_table_log="job_log",
    queue_status_type="job_status",
    statistics_table="job_statistics",
    schedules_table="job_schedule",
    durability=Durability.durable,
    widen_id=True,
)


def queries(connection: AsyncConnection[Any]) -> Queries:
    """PgQueuer's own statements, on this connection (which must be in autocommit)."""
    return Queries(
        PsycopgDriver(connection),
        QueryBuilderEnvironment(_SETTINGS),
        QueryQueueBuilder(_SETTINGS),
        QuerySchedulerBuilder(_SETTINGS),
    )


def entrypoint(kind: Kind, workspace: int) -> str:
    """The name under which jobs of a workspace are queued: whoever works for one workspace sees no other's jobs."""
    return f"{kind}/{workspace}"


async def install(connection: AsyncConnection[Any], role: str) -> None:
    """Make the queue's tables, or bring them up to what this PgQueuer wants. `role` may add jobs."""
    queue = queries(connection)
    if await queue.schema_is_installed():
        await queue.upgrade()
    else:
        await queue.install()
    grants = (
        f"GRANT USAGE ON SCHEMA {SCHEMA} TO {role}",
        f"GRANT SELECT, INSERT, DELETE ON ALL TABLES IN SCHEMA {SCHEMA} TO {role}",
        f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA {SCHEMA} TO {role}",
    )
    await connection.execute("; ".join(grants).encode())


async def enqueue(connection: AsyncConnection[Any], workspace: int, kind: Kind, payloads: Sequence[bytes]) -> None:
    """Add jobs; in a transaction, they are there when it is committed."""
    if payloads:
        names, priorities = [entrypoint(kind, workspace)] * len(payloads), [_PRIORITY[kind]] * len(payloads)
        await queries(connection).enqueue(names, list(payloads), priorities)


async def forget_jobs(connection: AsyncConnection[Any], workspace: int) -> None:
    """Take away all jobs of a workspace."""
    names = [entrypoint(kind, workspace) for kind in get_args(Kind)]
    await connection.execute(f"DELETE FROM {SCHEMA}.job WHERE entrypoint = ANY(%s)".encode(), (names,))
