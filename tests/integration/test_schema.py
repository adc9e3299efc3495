"""The schema: migrations add up to schema.sql, run once whoever comes first, and refuse what they do not know."""

import asyncio

import psycopg
import pytest

from trueweave.errors import DatabaseError, MigrationError
from trueweave.store.postgres.db import Database
from trueweave.store.postgres.migrate import migrate, migrations
from trueweave.testing import Databases
from trueweave.testing.schema import SCHEMA_FILE, dump_schema


@pytest.fixture
def empty_url(databases: Databases, url: str) -> str:
    """A database in which nothing was migrated yet."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA trueweave CASCADE; DROP EXTENSION vector")
    return url


def test_migrations_add_up_to_the_schema_file(url: str) -> None:
    assert dump_schema(url) == SCHEMA_FILE.read_text("utf-8"), "run `make schema` and look at what changed"


def test_the_schema_file_makes_the_same_database(empty_url: str) -> None:
    with psycopg.connect(empty_url, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector SCHEMA public")
        connection.execute("SET check_function_bodies = off")  # as pg_dump has it: functions come before tables
        connection.execute(SCHEMA_FILE.read_text("utf-8"))
    assert dump_schema(empty_url) == SCHEMA_FILE.read_text("utf-8")


async def test_of_many_who_migrate_at_once_one_does_it(empty_url: str) -> None:
    applied = await asyncio.gather(*(migrate(empty_url) for _ in range(5)))
    assert sorted(map(len, applied)) == [0, 0, 0, 0, len(migrations())]


async def test_a_database_of_a_newer_trueweave_is_refused(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("INSERT INTO trueweave.migration VALUES (9999, '9999_from_the_future')")
    with pytest.raises(MigrationError, match=r"9999_from_the_future.*upgrade"):
        await migrate(url)


def test_migrations_are_numbered_in_ascending_order() -> None:
    numbers = [m.number for m in migrations()]
    assert numbers == sorted(set(numbers))


async def test_a_database_without_the_schema_is_refused_with_the_next_step(empty_url: str) -> None:
    with pytest.raises(DatabaseError, match="trueweave init") as raised:
        await Database(empty_url).open()
    assert "password" not in str(raised.value)
