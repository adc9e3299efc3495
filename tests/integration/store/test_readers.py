"""A role that is handed out reads its own workspace by SQL, whatever it tries, and writes nothing."""

from collections.abc import Iterator
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from psycopg import sql
from psycopg.sql import Identifier as Id

from tests.integration.store.test_tenants import _tables, _tenant
from trueweave.errors import DatabaseError, UnknownWorkspace
from trueweave.extend import Database
from trueweave.store.postgres.access.sql_roles import Reader, drop_reader, make_reader

SEEN = {"document", "chunk", "entity", "relation", "mention", "link", "workspace"}


@pytest.fixture
async def workspaces(database: Database) -> tuple[int, int]:
    """Two workspaces that have rows in every table."""
    return (await _tenant(database, "mine")).workspace.id, (await _tenant(database, "other")).workspace.id


@pytest.fixture
async def reader(url: str, workspaces: tuple[int, int]) -> Reader:
    return await make_reader(url, "mine")


@pytest.fixture
def connection(url: str, reader: Reader) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    parts = urlsplit(url)
    login = f"{reader.role}:{reader.password}@{parts.hostname}:{parts.port}"
    with psycopg.connect(urlunsplit(parts._replace(netloc=login)), autocommit=True) as connected:
        yield connected
    with psycopg.connect(url, autocommit=True) as owner:  # roles outlive the test's database
        owner.execute(sql.SQL("DROP OWNED BY {0}; DROP ROLE {0}").format(sql.Identifier(reader.role)))


def foreign(url: str, connection: psycopg.Connection[tuple[object, ...]], workspace: int) -> dict[str, int]:
    """Tables in which the reader sees rows of a workspace, and how many."""
    seen = {}
    for table in _tables(url):
        column = "id" if table == "workspace" else "workspace"
        query = sql.SQL("SELECT count(*) FROM trueweave.{} WHERE {} = %s").format(Id(table), Id(column))
        try:
            row = connection.execute(query, (workspace,)).fetchone()
        except (psycopg.errors.InsufficientPrivilege, psycopg.errors.UndefinedColumn):
            continue  # refused outright, or of all workspaces
        if row and row[0]:
            seen[table] = int(str(row[0]))
    return seen


def test_it_reads_its_own_workspace_without_setting_anything(
    url: str, connection: psycopg.Connection[tuple[object, ...]], workspaces: tuple[int, int]
) -> None:
    mine, other = workspaces
    seen = foreign(url, connection, mine)
    assert seen.keys() >= SEEN
    assert any(table.startswith("vector_") for table in seen)
    assert not seen.keys() & {"reply", "source", "budget", "spend", "outbox", "reader", "bm25_index", "chunk_words"}
    assert foreign(url, connection, other) == {}
    assert connection.execute("SELECT name FROM workspace").fetchall() == [("mine",)]


def test_it_does_not_read_documents_that_are_switched_off(
    url: str, connection: psycopg.Connection[tuple[object, ...]], workspaces: tuple[int, int]
) -> None:
    record = {"document", "chunk", "mention", "link", "facet"}
    assert record <= foreign(url, connection, workspaces[0]).keys()
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("UPDATE trueweave.document SET off = true WHERE workspace = %s", (workspaces[0],))
    assert record.isdisjoint(foreign(url, connection, workspaces[0]))


SETTINGS = (
    "SET trueweave.workspace = '{other}'",
    "SELECT set_config('trueweave.workspace', '{other}', false)",
    "SET ROLE trueweave_reader; SET trueweave.workspace = '{other}'",
    "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE; SET trueweave.workspace = '{other}'",
    "SET search_path = pg_temp, trueweave; SET trueweave.workspace = '{other}'",
)


def test_whatever_it_sets_it_sees_no_other(
    url: str, connection: psycopg.Connection[tuple[object, ...]], workspaces: tuple[int, int]
) -> None:
    for attempt in SETTINGS:
        connection.execute(attempt.format(other=workspaces[1]).encode())
        assert foreign(url, connection, workspaces[1]) == {}, attempt
        connection.execute("RESET ROLE; RESET ALL")


WAYS_ROUND = (
    "SET ROLE trueweave_app",
    "SET SESSION AUTHORIZATION trueweave_app",
    "SET row_security = off; SELECT count(*) FROM trueweave.document",
    "SELECT trueweave.search_text('x', 10, 1.2, 0.75, NULL)",
    "SELECT trueweave.open_workspace('other', false, 'exact')",
    "SELECT trueweave.enter({other}, true)",
    "SET trueweave.workspace = ''; SELECT trueweave.claim_projection('chroma', gen_random_uuid(), 1e9, 0)",
    "SELECT * FROM trueweave.reader",
    "SELECT * FROM trueweave.bm25_index",
    "SELECT * FROM trueweave.process",
    "SELECT * FROM trueweave.job",
    "INSERT INTO trueweave.reader VALUES (current_user, {other})",
    "DELETE FROM trueweave.document",
    "INSERT INTO trueweave.dirty_name (name) VALUES (gen_random_uuid())",
    "UPDATE trueweave.workspace SET name = 'mine'",
    "CREATE TABLE trueweave.mine (n int)",
    "ALTER ROLE CURRENT_USER BYPASSRLS",
    "GRANT trueweave_app TO CURRENT_USER",
)


def test_ways_round_it_are_refused(
    connection: psycopg.Connection[tuple[object, ...]], workspaces: tuple[int, int]
) -> None:
    for attempt in WAYS_ROUND:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(f"BEGIN READ WRITE; {attempt.format(other=workspaces[1])}".encode())
        connection.execute("ROLLBACK")
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):  # and without a word, it only reads
        connection.execute("CREATE TEMP TABLE mine (n int)")


def test_a_function_that_tells_what_it_is_given_is_given_nothing_foreign(
    connection: psycopg.Connection[tuple[object, ...]], workspaces: tuple[int, int]
) -> None:
    told: list[str] = []
    connection.add_notice_handler(lambda notice: told.append(notice.message_primary or ""))
    connection.execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE")
    connection.execute(
        "CREATE FUNCTION pg_temp.leak(said text, whose int) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS "
        "$$ BEGIN RAISE NOTICE '%', whose; RETURN true; END $$"
    )
    for workspace in workspaces:
        connection.execute(f"SET trueweave.workspace = '{workspace}'".encode())
        connection.execute("SELECT count(*) FROM trueweave.document WHERE pg_temp.leak(uri, workspace)")
    assert set(told) == {str(workspaces[0])}


async def test_a_member_of_two_roles_reads_both_by_turns(url: str, workspaces: tuple[int, int]) -> None:
    first = await make_reader(url, "mine", "trueweave_test_first")
    second = await make_reader(url, "other", "trueweave_test_second")
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute(f"GRANT {second.role} TO {first.role}".encode())
        owner.execute(f"SET ROLE {first.role}".encode())
        for workspace in workspaces:
            owner.execute(f"SET trueweave.workspace = '{workspace}'".encode())
            found = owner.execute("SELECT DISTINCT workspace FROM trueweave.document").fetchall()
            assert found == [(workspace,)]
    for made in (first, second):
        await drop_reader(url, made.role)


async def test_roles_are_made_once_and_taken_away(url: str, workspaces: tuple[int, int]) -> None:
    made = await make_reader(url, "mine", "trueweave_test_role")
    assert made.password not in repr(made)
    with pytest.raises(DatabaseError, match="--role"):
        await make_reader(url, "mine", "trueweave_test_role")
    with pytest.raises(UnknownWorkspace):
        await make_reader(url, "nowhere")
    with pytest.raises(DatabaseError, match="lower-case"):
        await make_reader(url, "mine", 'x"; DROP')
    await drop_reader(url, made.role)
    with pytest.raises(DatabaseError, match="is not a role"):
        await drop_reader(url, "trueweave_app")
