"""Looking at a database as its owner, without changing anything: what it can do, and what is in it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from psycopg import Error

from trueweave.store.postgres.connections import connect, unusable
from trueweave.store.postgres.migrate import migrations
from trueweave.store.postgres.queries import QUERIES


@dataclass(frozen=True, slots=True)
class Health:
    """What there is: PostgreSQL, pgvector (installed here, and at hand to be), migrations.

    `missing` migrations were not applied yet, `unknown` ones were, by a newer Trueweave.
    """

    version: str
    version_number: int
    vector: str | None
    vector_at_hand: str | None
    missing: tuple[str, ...]
    unknown: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Workspace:
    """A workspace, and when it was made."""

    name: str
    created: datetime


async def health(url: str) -> Health:
    """What the database at `url` is like."""
    try:
        async with await connect(url) as connection:
            facts = await (await connection.execute(QUERIES["health.facts"])).fetchone()
            assert facts is not None
            version, number, vector, at_hand, has_schema = facts
            applied: list[str] = []
            if has_schema:
                rows = await (await connection.execute(QUERIES["health.migrations"])).fetchall()
                applied = [name for (name,) in rows]
    except Error as error:
        raise unusable(url, error) from error
    known = [migration.name for migration in migrations()]
    missing = tuple(name for name in known if name not in applied)
    unknown = tuple(name for name in applied if name not in known)
    return Health(version, number, vector, at_hand, missing, unknown)


async def workspaces(url: str) -> list[Workspace]:
    """All workspaces. Only the owner of the schema sees them: the role that Trueweave works as is kept to one."""
    try:
        async with await connect(url) as connection:
            rows = await (await connection.execute(QUERIES["health.workspaces"])).fetchall()
    except Error as error:
        raise unusable(url, error) from error
    return [Workspace(*row) for row in rows]
