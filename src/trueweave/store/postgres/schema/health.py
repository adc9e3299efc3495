"""Looking at a database without changing anything: what it can do, and what is in it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from psycopg import Error

from trueweave.store.postgres.connections import connect, unusable
from trueweave.store.postgres.queries import QUERIES
from trueweave.store.postgres.schema.schema import SchemaState, read_state


@dataclass(frozen=True, slots=True)
class Health:
    """What there is: PostgreSQL, pgvector (installed here, and at hand to be), the connections that all processes may
    have together, the schema."""

    version: str
    version_number: int
    vector: str | None
    vector_at_hand: str | None
    connections: int
    schema: SchemaState


@dataclass(frozen=True, slots=True)
class WorkspaceInfo:
    """A workspace, when it was made, and the server that it is on."""

    name: str
    created: datetime
    server: str


async def health(url: str, *, said_to_be_direct: bool = False) -> Health:
    """What the database at `url` is like."""
    try:
        async with await connect(url, said_to_be_direct=said_to_be_direct) as connection:
            facts = await (await connection.execute(QUERIES["health.facts"])).fetchone()
            assert facts is not None
            version, number, vector, at_hand, connections = facts
            return Health(version, number, vector, at_hand, connections, await read_state(connection))
    except Error as error:
        raise unusable(url, error) from error


async def workspaces(url: str, *, said_to_be_direct: bool = False) -> list[WorkspaceInfo]:
    """All workspaces. Only the owner of the schema sees them: the role that Trueweave works as is kept to one."""
    try:
        async with await connect(url, said_to_be_direct=said_to_be_direct) as connection:
            rows = await (await connection.execute(QUERIES["health.workspaces"])).fetchall()
    except Error as error:
        raise unusable(url, error) from error
    return [WorkspaceInfo(*row) for row in rows]
