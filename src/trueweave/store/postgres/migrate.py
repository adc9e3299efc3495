"""The schema: numbered plain SQL, applied in order, once, whoever comes first."""

from __future__ import annotations

from importlib.resources import files
from typing import LiteralString, NamedTuple

from psycopg import Error

from trueweave.errors import MigrationError
from trueweave.store.postgres.connections import NONE, Connection, connect, unusable

_LOCK = 0x54525545  # "TRUE": one process migrates, the others wait


class Migration(NamedTuple):
    number: int
    name: str
    sql: LiteralString


def migrations() -> list[Migration]:
    """All migrations of this version of Trueweave, in order."""
    folder = files(__package__).joinpath("sql", "migrations")
    found = sorted((file for file in folder.iterdir() if file.name.endswith(".sql")), key=lambda file: file.name)
    return [Migration(int(f.name[:4]), f.name.removesuffix(".sql"), f.read_text("utf-8")) for f in found]


async def migrate(url: str, direct_url: str | None = None) -> list[str]:
    """Bring the database at `url` up to date; the names of the migrations that were applied.

    Connects as the owner of the schema, to `direct_url` where there is a pooler at `url`. Each migration is one
    transaction with its own mark, so an interrupted run is taken up where it stopped.
    """
    try:
        async with await connect(direct_url or url, NONE, said_to_be_direct=direct_url is not None) as connection:
            return await _migrate(connection)
    except Error as error:
        raise unusable(direct_url or url, error) from error


async def _migrate(connection: Connection) -> list[str]:
    applied: list[str] = []
    await connection.execute("SET client_min_messages = warning")
    await connection.execute("SELECT pg_advisory_lock(%s)", (_LOCK,))
    await connection.execute("CREATE SCHEMA IF NOT EXISTS trueweave")
    await connection.execute("SET search_path = trueweave, public")
    await connection.execute("CREATE TABLE IF NOT EXISTS migration (number int PRIMARY KEY, name text NOT NULL)")
    rows = await (await connection.execute("SELECT number, name FROM migration ORDER BY number")).fetchall()
    done: dict[int, str] = dict(rows)
    known = {m.number: m.name for m in migrations()}
    strange = [name for number, name in done.items() if known.get(number) != name]
    if strange:
        raise MigrationError(
            f"the database has migrations that this version of Trueweave does not know: {', '.join(strange)}. "
            "It was written by a newer Trueweave; upgrade this one."
        )
    for migration in migrations():
        if migration.number not in done:
            async with connection.transaction():
                await connection.execute(migration.sql)
                await connection.execute("INSERT INTO migration VALUES (%s, %s)", migration[:2])
            applied.append(migration.name)
    return applied
