"""Inspects a database without changing it: its capabilities and contents."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from psycopg import Error

from trueweave.store.postgres.connections import connect, unusable
from trueweave.store.postgres.queries import QUERIES
from trueweave.store.postgres.schema.schema import SchemaState, read_state


@dataclass(frozen=True, slots=True)
class Health:
    """The versions of PostgreSQL and pgvector (installed, and available for installation), the number of connections
    that all processes may have together, and the schema."""

    version: str
    version_number: int
    vector: str | None
    vector_at_hand: str | None
    connections: int
    schema: SchemaState


@dataclass(frozen=True, slots=True)
class WorkspaceInfo:
    """A workspace, when it was created, and its server."""

    name: str
    created: datetime
    server: str


async def health(url: str, *, said_to_be_direct: bool = False) -> Health:
    """The health of the database at `url`."""
    try:
        async with await connect(url, said_to_be_direct=said_to_be_direct) as connection:
            facts = await (await connection.execute(QUERIES["health.facts"])).fetchone()
            assert facts is not None
            version, number, vector, at_hand, connections = facts
            return Health(version, number, vector, at_hand, connections, await read_state(connection))
    except Error as error:
        raise unusable(url, error) from error


async def workspaces(url: str, *, said_to_be_direct: bool = False) -> list[WorkspaceInfo]:
    """All workspaces. Only the owner of the schema sees them: Trueweave's own role is restricted to one."""
    try:
        async with await connect(url, said_to_be_direct=said_to_be_direct) as connection:
            rows = await (await connection.execute(QUERIES["health.workspaces"])).fetchall()
    except Error as error:
        raise unusable(url, error) from error
    return [WorkspaceInfo(*row) for row in rows]
