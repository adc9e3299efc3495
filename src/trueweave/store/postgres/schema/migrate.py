"""Applies migrations: numbered plain SQL files, in order, each once. If several processes try, only one applies
them."""

from __future__ import annotations

import logging

from psycopg import Error, errors

from trueweave.core.errors import DatabaseError
from trueweave.store.postgres.connections import NONE, PostgresConnection, connect, location, unusable
from trueweave.store.postgres.schema import schema

_LOCK = 0x54525545  # "TRUE": one process migrates while the others wait

_log = logging.getLogger(__name__)


async def migrate(url: str, *, said_to_be_direct: bool = False) -> list[str]:
    """Create the schema in the database at `url`, or bring it up to date; returns the names of the migrations applied.

    `url` must connect the owner of the schema directly to PostgreSQL: see `connect`. Each migration and its row in the
    table of migrations are one transaction, so an interrupted run resumes where it stopped. If no migration is missing,
    nothing is written.
    """
    try:
        async with await connect(url, NONE, said_to_be_direct=said_to_be_direct) as connection:
            await _take_turn(connection, url)
            return await _migrate(connection, url)
    except errors.InsufficientPrivilege as error:
        raise DatabaseError(
            f"this user may not change the schema of the database at {location(url)}: {error.diag.message_primary}. "
            "Use the address of its owner: `trueweave migrate --database-url URL`, or the setting owner_database_url."
        ) from error
    except Error as error:
        raise unusable(url, error) from error


async def missing(url: str, *, said_to_be_direct: bool = False) -> list[str]:
    """The names of the migrations that `migrate` would apply."""
    try:
        async with await connect(url, said_to_be_direct=said_to_be_direct) as connection:
            return list((await _migratable(connection, url)).missing)
    except Error as error:
        raise unusable(url, error) from error


async def _take_turn(connection: PostgresConnection, url: str) -> None:
    """Wait until no other process is migrating this database. The lock is released when the session ends."""
    row = await (await connection.execute("SELECT pg_try_advisory_lock(%s)", (_LOCK,))).fetchone()
    if row != (True,):
        about = {"event": "migration.waiting", "database": location(url)}
        _log.warning(
            "another process migrates the database at %s; waiting until it is done", about["database"], extra=about
        )
        await connection.execute("SELECT pg_advisory_lock(%s)", (_LOCK,))


async def _migratable(connection: PostgresConnection, url: str) -> schema.SchemaState:
    state = await schema.read_state(connection)
    if (state.is_newer or state.predates_baseline) and (mismatch := state.mismatch(url)):
        raise mismatch
    return state


async def _migrate(connection: PostgresConnection, url: str) -> list[str]:
    lacking = (await _migratable(connection, url)).missing
    if not lacking:
        return []
    await connection.execute("SET client_min_messages = warning")
    await connection.execute("CREATE SCHEMA IF NOT EXISTS trueweave")
    await connection.execute("SET search_path = trueweave, public")
    await connection.execute(
        "CREATE TABLE IF NOT EXISTS migration (number int PRIMARY KEY, name text NOT NULL, additive bool NOT NULL)"
    )
    for migration in schema.migrations():
        if migration.name in lacking:
            async with connection.transaction():
                await connection.execute(migration.sql)
                await connection.execute("INSERT INTO migration VALUES (%s, %s, %s)", migration[:3])
            about = {"event": "migration.applied", "migration": migration.name, "database": location(url)}
            _log.info("applied migration %s to the database at %s", migration.name, location(url), extra=about)
    return list(lacking)
