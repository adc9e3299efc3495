"""The queue: each workspace sees its own jobs, and PgQueuer is used by what it exports alone."""

import ast
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

import trueweave
from trueweave import AsyncTrueweave
from trueweave.errors import UnknownWorkspace
from trueweave.store.postgres import queue
from trueweave.store.postgres.db import Database
from trueweave.store.postgres.migrate import migrate
from trueweave.testing import HashEmbedder

PUBLIC = {"pgqueuer", "pgqueuer.types"}


def test_only_what_pgqueuer_exports_is_imported() -> None:
    imported = set()
    for file in Path(trueweave.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {name.name for name in node.names}
            elif isinstance(node, ast.ImportFrom):
                imported.add(node.module or "")
    assert {name for name in imported if name.split(".")[0] == "pgqueuer"} <= PUBLIC


async def test_names_are_our_own_whatever_the_environment_says(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    for variable in ("FUNCTION", "PGQUEUER_SCHEMA", "CHANNEL", "QUEUE_TABLE", "DURABILITY"):
        monkeypatch.setenv(variable, "not a name; at all")
    queue._builders.cache_clear()
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        settings = queue.queries(connection).qbe.settings
    assert (settings.queue_table, settings.db_schema, settings.function) == ("job", queue.SCHEMA, "job_changed")


async def test_no_workspace_sees_or_changes_another_s_jobs(database: Database, url: str) -> None:
    mine, other = [await AsyncTrueweave.enter(database, name, HashEmbedder()) for name in ("mine", "other")]
    async with other.workspace.transaction() as tx:
        await queue.enqueue(tx.connection, other.workspace.id, "document", [b"secret uri"])
    with psycopg.connect(url) as owner:
        tables = owner.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = %s::regnamespace AND relkind = 'r'", (queue.SCHEMA,)
        ).fetchall()
        assert {"job", "job_log"} <= {name for (name,) in tables}
        assert owner.execute("SELECT count(*) FROM trueweave_queue.job").fetchone() == (1,)
    for (name,) in tables:
        table = sql.Identifier(queue.SCHEMA, name)
        async with mine.workspace.transaction() as tx:
            for statement in ("SELECT * FROM {}", "DELETE FROM {}", "UPDATE {} SET entrypoint = entrypoint"):
                assert (await tx.connection.execute(sql.SQL(statement).format(table))).rowcount == 0, statement
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
        async with mine.workspace.transaction() as tx:
            await queue.enqueue(tx.connection, other.workspace.id, "document", [b"foreign"])
    async with queue.managed(mine.workspace) as (connection, _):  # as a worker has it
        assert (await connection.execute("SELECT FROM trueweave_queue.job")).rowcount == 0
    async with queue.managed(other.workspace) as (connection, _):
        assert (await connection.execute("SELECT FROM trueweave_queue.job")).rowcount == 1


async def test_a_worker_of_a_workspace_that_was_dropped_is_told_so(database: Database) -> None:
    dropped = await AsyncTrueweave.enter(database, "dropped", HashEmbedder())
    await dropped.drop()
    with pytest.raises(UnknownWorkspace):
        async with queue.managed(dropped.workspace):
            pass


async def test_the_tables_of_an_older_pgqueuer_are_upgraded_without_a_migration_of_ours(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("COMMENT ON SCHEMA trueweave_queue IS 'PgQueuer 1.5'")
        owner.execute("ALTER TABLE trueweave_queue.job DROP COLUMN headers")
    assert await migrate(url) == []
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        assert await queue.queries(connection).table_has_column("job", "headers")
        assert await queue.is_installed(connection)
