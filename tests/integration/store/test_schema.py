"""The schema: migrations add up to schema.sql, run once whoever comes first, and only where somebody asks for it."""

import asyncio
import logging
from pathlib import Path

import psycopg
import pytest

from trueweave import AsyncTrueweave, Settings
from trueweave.errors import DatabaseError, SchemaNewer, SchemaOutdated, UnknownWorkspace
from trueweave.extend import Database
from trueweave.store.postgres.schema import schema
from trueweave.store.postgres.schema.migrate import migrate, missing
from trueweave.store.postgres.schema.schema import Migration, migration, migrations
from trueweave.testing import Databases
from trueweave.testing.schema import dump_schema

SCHEMA_FILE = Path(__file__).parents[3] / "docs" / "reference" / "schema.sql"


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


def test_migrations_are_numbered_in_ascending_order() -> None:
    numbers = [m.number for m in migrations()]
    assert numbers == sorted(set(numbers))


# --- applying -----------------------------------------------------------------------------------------


KILL_SLEEPER = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()
"""


def with_more(monkeypatch: pytest.MonkeyPatch, *more: Migration) -> None:
    """As if the next version of Trueweave had these migrations."""
    known = (*migrations(), *more)
    monkeypatch.setattr(schema, "migrations", lambda: known)


async def test_of_many_who_migrate_at_once_one_does_it(empty_url: str) -> None:
    applied = await asyncio.gather(*(migrate(empty_url) for _ in range(5)))
    assert sorted(map(len, applied)) == [0, 0, 0, 0, len(migrations())]


async def test_who_comes_second_waits_for_the_first_and_says_so(
    url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with_more(monkeypatch, migration("9001_slow", "-- additive\nCREATE TABLE slow (); SELECT pg_sleep(1.5)"))
    with caplog.at_level(logging.WARNING):
        first = asyncio.create_task(migrate(url))
        await asyncio.sleep(0.5)
        assert await migrate(url) == []
        assert first.done()
    assert await first == ["9001_slow"]
    [waited] = [record.getMessage() for record in caplog.records if "waiting until" in record.getMessage()]
    assert "another process migrates the database at" in waited


async def test_an_interrupted_migration_leaves_nothing_and_the_next_run_goes_on(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = migration("9001_first", "-- additive\nCREATE TABLE first ()")
    with monkeypatch.context() as patch:
        with_more(patch, first, migration("9002_second", "-- additive\nCREATE TABLE second (); SELECT pg_sleep(60)"))
        run = asyncio.create_task(migrate(url))
        with psycopg.connect(url, autocommit=True) as owner:
            async with asyncio.timeout(30):
                while not owner.execute(KILL_SLEEPER).fetchall():  # noqa: ASYNC110 (another connection acts)
                    await asyncio.sleep(0.05)
        with pytest.raises(DatabaseError, match="terminating connection"):
            await run
    with psycopg.connect(url) as owner:
        made = owner.execute("SELECT to_regclass('trueweave.first') IS NULL, to_regclass('trueweave.second') IS NULL")
        assert made.fetchone() == (False, True)
    with_more(monkeypatch, first, migration("9002_second", "-- additive\nCREATE TABLE second ()"))
    assert await missing(url) == ["9002_second"]
    assert await migrate(url) == ["9002_second"]
    assert await missing(url) == []


# --- opening ------------------------------------------------------------------------------------------


async def test_a_database_without_the_schema_is_refused_with_the_next_step(empty_url: str) -> None:
    with pytest.raises(SchemaOutdated, match=r"no schema of Trueweave.*Run `trueweave init`") as raised:
        await Database(empty_url).open()
    assert "password" not in str(raised.value)
    with psycopg.connect(empty_url) as owner:
        assert owner.execute("SELECT to_regnamespace('trueweave')").fetchone() == (None,)


async def test_an_older_schema_is_refused_and_left_as_it_is(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with_more(monkeypatch, migration("9001_more", "-- additive\nCREATE TABLE more ()"))
    with pytest.raises(SchemaOutdated, match=r"older than this version.*lacks 9001_more. Run `trueweave migrate`"):
        async with AsyncTrueweave.open(url):
            pass
    assert await missing(url) == ["9001_more"]
    assert await AsyncTrueweave.migrate(url) == ["9001_more"]
    async with AsyncTrueweave.open(url) as opened:
        assert (await opened.status()).documents == 0


def add_unknown(url: str, name: str, *, additive: bool) -> None:
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("INSERT INTO trueweave.migration VALUES (%s, %s, %s)", (int(name[:4]), name, additive))


async def test_a_newer_schema_is_worked_with_while_all_that_is_new_is_additive(url: str) -> None:
    add_unknown(url, "9001_additive", additive=True)
    async with AsyncTrueweave.open(url) as opened:
        assert (await opened.status()).documents == 0
    assert await migrate(url) == []
    add_unknown(url, "9002_breaking", additive=False)
    add_unknown(url, "9003_additive", additive=True)
    for act in (Database(url).open, lambda: migrate(url), lambda: missing(url)):
        with pytest.raises(SchemaNewer, match=r"newer than this version.*cannot work with, 9002_breaking. Upgrade"):
            await act()


async def test_connections_that_a_process_makes_later_look_again(url: str) -> None:
    async with Database(url, connections=2) as database, database.transaction(None):
        add_unknown(url, "9001_breaking", additive=False)
        database._pool.timeout = 2
        with pytest.raises(SchemaNewer, match="9001_breaking"):
            await database.retry_while_down(lambda: _look(database))


async def _look(database: Database) -> None:
    async with database.transaction(None):
        pass


async def test_a_schema_of_another_history_is_refused(url: str) -> None:
    add_unknown(url, "9001_other", additive=True)
    last = migrations()[-1].name
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("DELETE FROM trueweave.migration WHERE name = %s", (last,))
    with pytest.raises(SchemaNewer, match=f"9001_other, and lacks {last}. Upgrade Trueweave"):
        await migrate(url)


async def test_a_workspace_that_is_named_in_the_call_must_be_there(url: str) -> None:
    with pytest.raises(UnknownWorkspace, match=r"there is no workspace 'mistyped'.* in Python, open it with make=True"):
        async with AsyncTrueweave.open(url, "mistyped"):
            pass
    async with AsyncTrueweave.open(url, "mistyped", make=True):
        pass
    async with AsyncTrueweave.open(url, "mistyped"):
        pass
    async with AsyncTrueweave.open(url, settings=Settings(workspace="of-this-folder")):
        pass
    with pytest.raises(UnknownWorkspace):
        async with AsyncTrueweave.open(url, settings=Settings(workspace="other"), make=False):
            pass
