"""With the role that Trueweave works as, no statement of one workspace sees or changes a row of another, in any
table."""

from dataclasses import replace
from uuid import uuid4

import psycopg
import pytest
from psycopg import errors, sql
from psycopg.sql import Identifier as Id

from trueweave import AsyncTrueweave, Chunk, Document, Link, Mention, NameKey
from trueweave.core.graph import VECTOR_KINDS
from trueweave.extend import Database
from trueweave.store.postgres.vectors import own_tables, vectors
from trueweave.testing import HashEmbedder

# Tables that belong to no workspace: which migrations ran, which servers and embedding models there are, how fast
# models are called, the numbers of workspaces that are gone, and the keys, what they have used, the sessions of
# browsers, and the audit log.
COMMON = {
    "api_key",
    "audit_log",
    "caller_usage",
    "catalogue",
    "dropped_workspace",
    "migration",
    "process",
    "rate_limit",
    "reader",
    "server",
    "slot",
    "space",
    "web_session",
}


async def _tenant(database: Database, name: str) -> AsyncTrueweave:
    """A workspace with rows in every table, among them vectors in the common tables and in those of its own."""
    trueweave = await AsyncTrueweave.enter(database, name, HashEmbedder(8))
    said = Chunk(
        f"{name} text on Ada Lovelace",
        mentions=(Mention("Ada Lovelace", description="d"), Mention("Ada Lovelase"), Mention("ADA Lovelace")),
        links=(Link("Ada Lovelace", "London", "lived in", ("place",)),),
    )
    await trueweave.add_documents(
        [Document("1", (said,), metadata={"k": 1}), Document("2", (replace(said, text="more"),))]
    )
    await trueweave.rules.merge(NameKey("Ada Lovelace"), NameKey("Countess"))
    await trueweave.rules.suggestions()
    await trueweave.rules.reject(1)
    ring = (Link("Byron", "Annabella"), Link("Annabella", "Augusta"), Link("Augusta", "Byron"))
    await trueweave.add_documents([Document("3", (Chunk("On Byron", links=ring),))])
    await trueweave.communities.find()
    await trueweave.communities.write_reports()
    await trueweave.aclose()
    async with trueweave.workspace.transaction() as tx:
        space = await vectors.space(tx)
        assert space
        for kind in VECTOR_KINDS:  # one vector each stays in the common table, one is in the workspace's own
            name = await own_tables.make(tx, space, kind)
            moved = sql.SQL("INSERT INTO {} SELECT workspace, gen_random_uuid(), text_hash, v FROM {} LIMIT 1")
            await tx.connection.execute(moved.format(Id(name), Id(f"vector_{space.id}_{kind}")))
    async with trueweave.workspace.transaction() as tx:
        await tx.execute("INSERT INTO removed_vector VALUES (DEFAULT, 1, 'chunk', gen_random_uuid())")
        await tx.execute("INSERT INTO source VALUES (DEFAULT, 'u', gen_random_uuid(), 't', 'x', '{}', '[]', '{}')")
        await tx.execute("INSERT INTO reply VALUES (DEFAULT, gen_random_uuid(), 'm', 'r', 1)")
        await tx.execute("INSERT INTO budget DEFAULT VALUES")
        await tx.execute("INSERT INTO job (kind) VALUES ('none')")
        await tx.execute("INSERT INTO spend VALUES (DEFAULT, gen_random_uuid(), 's', 'd', 'm', 1, 1, NULL, 'done', 1)")
        await tx.execute("INSERT INTO summary VALUES (DEFAULT, gen_random_uuid(), 'entity', gen_random_uuid())")
        await tx.execute("INSERT INTO dirty_name (name) VALUES (gen_random_uuid())")
        await tx.execute("INSERT INTO dirty_pair (source, target) VALUES (gen_random_uuid(), gen_random_uuid())")
        await tx.execute("INSERT INTO pending_match (name) VALUES (gen_random_uuid())")
        await tx.execute("INSERT INTO retired_community VALUES (DEFAULT, gen_random_uuid(), 0, 3, 't', now())")
        await tx.execute("INSERT INTO pending_link (chunk) VALUES (gen_random_uuid())")
        await tx.execute("INSERT INTO recipe VALUES (DEFAULT, gen_random_uuid(), '{}', 'f')")
        await tx.execute("INSERT INTO stale_text (hash) VALUES (gen_random_uuid())")
        await tx.execute("INSERT INTO erasure VALUES (DEFAULT, DEFAULT, 'u', '{}', '{}', '{}', '{}', '{}')")
        await tx.execute(
            "INSERT INTO pending_certificate VALUES (DEFAULT, '', '', now(), '[]', '', '{}', '', '', 0, '{}')"
        )
        await tx.execute("INSERT INTO work_lease VALUES (DEFAULT, 'document', 'u', gen_random_uuid(), now())")
        await tx.execute("INSERT INTO consumer (name, position) VALUES ('c', 1)")
        await tx.execute("INSERT INTO projection (store) VALUES ('neo4j')")
        await tx.execute("INSERT INTO failed_work VALUES (DEFAULT, 'settle', 'u', 'u', 'a bug')")
        await tx.execute("INSERT INTO kept_response VALUES (DEFAULT, 'caller', 'key', 'request')")
        await tx.execute("INSERT INTO bench_question VALUES (DEFAULT, gen_random_uuid(), 'q', DEFAULT, '{}', '')")
        await tx.execute(
            "INSERT INTO bench_run VALUES (DEFAULT, gen_random_uuid(), now(), '', 'n', true, 1, 1, 'v', '{}', 'm',"
            " '{}', '[]', '{}', '{}', 's')"
        )
        await tx.execute(
            "INSERT INTO bench_outcome VALUES (DEFAULT, gen_random_uuid(), 0, 'q', gen_random_uuid(), '', '{}', '[]')"
        )
        await tx.execute("INSERT INTO bench_passage VALUES (DEFAULT, gen_random_uuid(), 0, 'u')")
        await tx.execute("INSERT INTO ingest_job (id) VALUES (gen_random_uuid())")
        await tx.execute("INSERT INTO ingest_job_document VALUES (DEFAULT, gen_random_uuid(), 'u')")
        connected = (
            "INSERT INTO connector_document VALUES (DEFAULT, gen_random_uuid(), 'u', 'i', '1', '', gen_random_uuid())"
        )
        await tx.execute(
            "INSERT INTO watch (name, question, method, filter, groups, passages, answers, tokens_per_day, webhook, "
            "author, state) VALUES ('w', 'Who?', '', '{}', '{*}', 5, false, 0, '', '', '')"
        )
        await tx.execute(
            "INSERT INTO alert (id, watch, is_first, added, removed, delivery) VALUES (1, 'w', true, 1, 0, 'none')"
        )
        await tx.execute("INSERT INTO alert_passage VALUES (DEFAULT, 1, 1, 'added', gen_random_uuid(), 'a')")
        await tx.execute("INSERT INTO connector_source VALUES (DEFAULT, 'n', 'https://a.example', '{}', 60, false, '')")
        await tx.execute(connected)
        await tx.execute("INSERT INTO access_rule VALUES (DEFAULT, 'p', '{g}')")
        await tx.execute("INSERT INTO history (since, changed) VALUES (now(), now())")
        await tx.execute("INSERT INTO shown (document, since) VALUES (gen_random_uuid(), now())")
    return trueweave


def _tables(url: str) -> dict[str, tuple[bool, bool]]:
    """Every table of the schema, and whether row-level security is on, and on for its owner too."""
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT relname, relrowsecurity, relforcerowsecurity FROM pg_class"
            " WHERE relnamespace = 'trueweave'::regnamespace AND relkind IN ('r', 'p', 'm')"
        )
        return {name: (on, forced) for name, on, forced in rows}


def _rows(url: str, table: str, column: str, workspace: int) -> list[tuple[object, ...]]:
    """All rows of a workspace, seen by the owner, who is above the law."""
    query = sql.SQL("SELECT t::text FROM trueweave.{} t WHERE {} = %s ORDER BY 1").format(Id(table), Id(column))
    with psycopg.connect(url) as connection:
        return connection.execute(query, (workspace,)).fetchall()


async def test_every_table_keeps_workspaces_apart(database: Database, url: str) -> None:
    mine, other = await _tenant(database, "mine"), await _tenant(database, "other")
    tables = [table for table in _tables(url) if table not in COMMON]
    assert {f"vector_1_entity_{other.workspace.id}_v1{part}" for part in ("", "_p0")} <= {*tables}
    for table in tables:
        column = "id" if table == "workspace" else "workspace"
        theirs = _rows(url, table, column, other.workspace.id)
        assert theirs or f"_{mine.workspace.id}_v1" in table, f"the test put nothing into {table}"
        where = sql.SQL(" WHERE {} = {}").format(Id(column), other.workspace.id)
        await _attempt(database, mine.workspace.id, sql.SQL("SELECT 1 FROM {}").format(Id(table)) + where)
        harmless = Id("created" if table == "workspace" else column)
        setting = sql.SQL("UPDATE {0} SET {1} = {1}").format(Id(table), harmless)
        await _attempt(database, mine.workspace.id, setting + where)
        await _attempt(database, mine.workspace.id, sql.SQL("DELETE FROM {}").format(Id(table)) + where)
        if table != "workspace" and _rows(url, table, column, mine.workspace.id):
            await _give_away(database, mine.workspace.id, other.workspace.id, table)
        assert _rows(url, table, column, other.workspace.id) == theirs, table


async def _attempt(database: Database, workspace: int, statement: sql.Composed) -> None:
    """Run a statement aimed at another workspace: it must be refused, or find nothing."""
    try:
        async with database.transaction(workspace) as tx:
            cursor = await tx.connection.execute(statement)
            assert cursor.rowcount == 0, statement.as_string()
    except errors.InsufficientPrivilege:
        pass  # refused outright is as good


async def _give_away(database: Database, mine: int, other: int, table: str) -> None:
    """Neither may one's own rows be given to another workspace."""
    with pytest.raises(errors.InsufficientPrivilege):
        async with database.transaction(mine) as tx:
            await tx.connection.execute(sql.SQL("UPDATE {} SET workspace = {}").format(Id(table), other))


async def test_a_statement_without_a_condition_reaches_only_its_own_rows(database: Database, url: str) -> None:
    mine, other = await _tenant(database, "mine"), await _tenant(database, "other")
    before = {
        t: _rows(url, t, "workspace", other.workspace.id) for t in _tables(url) if t not in COMMON | {"workspace"}
    }
    await mine.maintenance.drop()
    after = {t: _rows(url, t, "workspace", other.workspace.id) for t in before if t in _tables(url)}
    assert after == {table: rows for table, rows in before.items() if table in after}
    assert not any(_rows(url, table, "workspace", mine.workspace.id) for table in after)


async def test_rows_cannot_be_written_for_another_workspace(database: Database) -> None:
    mine, other = await _tenant(database, "mine"), await _tenant(database, "other")
    with pytest.raises(errors.InsufficientPrivilege, match="row-level security"):
        async with mine.workspace.transaction() as tx:
            await tx.execute(
                "INSERT INTO dirty_name (workspace, name) VALUES (%(w)s, %(n)s)",
                {"w": other.workspace.id, "n": uuid4()},
            )


async def test_without_a_workspace_nothing_works(database: Database) -> None:
    await _tenant(database, "mine")
    async with database.transaction(1) as tx:
        await tx.execute("SELECT set_config('trueweave.workspace', '', true)")
        with pytest.raises(errors.InvalidTextRepresentation):
            await tx.execute("SELECT count(*) FROM document")


def test_every_table_is_guarded(url: str) -> None:
    """A table that a migration adds and forgets to guard fails here."""
    unguarded = {table for table, (on, forced) in _tables(url).items() if not (on and forced)}
    # The owner may look workspaces up by name, words by their index, and jobs of all; the working role may not.
    of_owner = {"workspace", "bm25_index", "chunk_words", "job", "projection", "connector_source", "watch"}
    assert unguarded == COMMON | of_owner
    assert all(_tables(url)[table][0] for table in of_owner)


def test_the_working_role_owns_nothing_and_is_above_nothing(url: str) -> None:
    with psycopg.connect(url) as connection:
        role = connection.execute(
            "SELECT rolsuper, rolbypassrls, rolcanlogin FROM pg_roles WHERE rolname = 'trueweave_app'"
        )
        owned = connection.execute("SELECT count(*) FROM pg_class WHERE pg_get_userbyid(relowner) = 'trueweave_app'")
        assert (role.fetchone(), owned.fetchone()) == ((False, False, False), (0,))
