"""What SQL could learn as the role of callers who may not read all documents, if a hole in our statements let it in,
and as a role that is handed out. Every text of the invisible document contains the same word."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from psycopg import sql
from psycopg.errors import InsufficientPrivilege

from trueweave import AsyncTrueweave, Chunk, Document, Link, Mention
from trueweave.extend import Database
from trueweave.store.postgres.access.sql_roles import make_reader
from trueweave.testing import HashEmbedder
from trueweave.text import phrases

SECRET = "zanzibar"
Connection = psycopg.Connection[tuple[Any, ...]]


def said(uri: str, readers: tuple[str, ...], one: str, other: str, **more: Any) -> Document:
    mentions = (Mention(one, "person", f"{one} was seen"), Mention(other, "place", f"{other} is far"), Mention("Ada"))
    links = (Link(one, other, f"{one} went to {other}", (f"going to {other}",)), Link("Ada", one, f"Ada met {one}"))
    text = f"{one} went to {other} with Ada"
    return Document(uri, (Chunk(text, mentions=mentions, links=links),), uri.title(), readers=readers, **more)


@contextmanager
def calling(url: str, workspace: int, groups: str = "{}") -> Iterator[Connection]:
    """A transaction of a caller, as Trueweave begins one."""
    with psycopg.connect(url) as connection:
        connection.execute(
            """SELECT set_config('trueweave.workspace', %s, true), set_config('trueweave.groups', %s, true),
            set_config('trueweave.filter', '', true), set_config('search_path', 'trueweave, public', true),
            set_config('role', 'trueweave_caller', true)""",
            (str(workspace), groups),
        )
        yield connection
        connection.rollback()


class Attack:
    """A workspace with a visible and an invisible document, and what must not be shown of the latter."""

    def __init__(self, url: str, workspace: int) -> None:
        self.url = url
        self.workspace = workspace
        self.notices: list[str] = []
        with psycopg.connect(url, autocommit=True) as owner:
            owner.execute("ANALYZE")
            owner.execute("SET search_path = trueweave, public")
            hidden = "SELECT id FROM document WHERE readers <> '{}'"
            self.document, self.chunk = (
                owner.execute(f"SELECT document, id FROM chunk WHERE document IN ({hidden})").fetchone() or ()
            )
            [(vectors,)] = owner.execute("SELECT format('vector_%s_chunk', space) FROM workspace").fetchall()
            self.vectors = vectors
            [(self.vector,)] = owner.execute(f"SELECT v::text FROM {vectors} WHERE id = %s", (self.chunk,)).fetchall()
            ids = """WITH hidden AS (SELECT id, entity FROM name WHERE written ~* 'zanzibar')
                SELECT id FROM hidden UNION SELECT entity FROM hidden
                UNION SELECT relation FROM name_pair p JOIN hidden h ON h.id IN (p.source, p.target)"""
            found = owner.execute(ids).fetchall()
            hidden = "SELECT phrase FROM name WHERE written ~* 'zanzibar'"
            self.phrases = [phrase for (phrase,) in owner.execute(hidden).fetchall()]
            self.ids = [str(self.document), str(self.chunk), *(str(id_) for (id_,) in found)]
            assert len(self.ids) > 6

    @contextmanager
    def as_caller(self) -> Iterator[Connection]:
        with calling(self.url, self.workspace) as connection:
            connection.add_notice_handler(lambda told: self.notices.append(told.message_primary or ""))
            yield connection

    def revealed(self, shown: object) -> list[str]:
        told = f"{shown}\n{self.notices}".lower()
        return [mark for mark in (SECRET, *self.ids) if mark in told]

    def try_(self, query: str, *params: Any) -> str:
        """What a statement shows: rows, an error, notices."""
        self.notices.clear()
        with self.as_caller() as connection:
            try:
                cursor = connection.execute(query.encode(), params or None)
                shown = repr(cursor.fetchall()) if cursor.description else ""
            except psycopg.Error as error:
                diag = error.diag
                shown = f"{type(error).__name__} {diag.message_primary} {diag.message_detail} {diag.context}"
        if params:  # what the attacker knew is no news
            for known in map(str, params):
                shown = shown.replace(known, "")
        assert not self.revealed(shown), (query, shown)
        return shown


@pytest.fixture
async def attack(url: str, database: Database) -> Attack:
    index = await AsyncTrueweave.enter(database, "test", HashEmbedder(8))
    await index.add_documents(
        [
            said("open", (), "Babbage", "London", metadata={"year": 1833}),
            said("zanzibar", ("hr",), "Zanzibar Smith", "Old Zanzibar", metadata={"pay": "zanzibar", "n": 7}),
        ]
    )
    return Attack(url, index.workspace.id)


def readable(connection: Connection) -> list[tuple[str, str, list[str]]]:
    """All tables and views, and the columns that the role can select."""
    return connection.execute(
        """SELECT n.nspname, c.relname, array_agg(a.attname::text ORDER BY a.attnum) FROM pg_class c
        JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
        WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND a.attnum > 0 AND NOT a.attisdropped
            AND has_schema_privilege(n.oid, 'USAGE') AND has_column_privilege(c.oid, a.attnum, 'SELECT')
        GROUP BY 1, 2"""
    ).fetchall()


def test_no_table_and_no_view_shows_it(attack: Attack) -> None:
    with attack.as_caller() as connection:
        tables = readable(connection)
    names = {table for schema, table, _ in tables if schema == "trueweave"}
    assert {"document", "chunk", "mention", "link", "name", "entity", "relation", attack.vectors} <= names
    assert not names & {
        "source",
        "reply",
        "outbox",
        "report",
        "bm25_index",
        "chunk_words",
        "api_key",
        "summary",
    }
    for schema, table, columns in tables:
        listed = ", ".join(f'"{column}"' for column in columns)
        attack.try_(f'SELECT {listed} FROM {schema}."{table}"')
    shown = attack.try_("SELECT d.uri, n.written FROM document d, name n")
    assert "'open'" in shown
    assert "Babbage" in shown


def test_what_is_not_granted_cannot_be_read_or_written(attack: Attack) -> None:
    with psycopg.connect(attack.url) as owner:
        tables = [
            name
            for (name,) in owner.execute(
                "SELECT relname FROM pg_class WHERE relnamespace = 'trueweave'::regnamespace AND relkind IN ('r', 'p')"
            )
        ]
    for table in tables:
        for write in (f'DELETE FROM "{table}"', f'TRUNCATE "{table}"', f'INSERT INTO "{table}" DEFAULT VALUES'):
            assert attack.try_(write).startswith("InsufficientPrivilege"), write
        assert attack.try_(f'LOCK TABLE "{table}" IN EXCLUSIVE MODE').startswith("InsufficientPrivilege")
    for column in ("entity.description", "entity.count", "entity.name", "entity.text_hash", "relation.weight"):
        table, _, name = column.partition(".")
        assert attack.try_(f"SELECT {name} FROM {table}").startswith("InsufficientPrivilege"), column
    for made in (
        "CREATE TABLE trueweave.t ()",
        "CREATE TABLE public.t ()",
        "CREATE FUNCTION public.f() RETURNS int RETURN 1",
    ):
        assert attack.try_(made).startswith("InsufficientPrivilege"), made


CONDITIONS = (
    "1 / (CASE WHEN uri = 'zanzibar' THEN 0 ELSE 1 END) = 1",
    "uri::int > 0",
    "(CASE WHEN uri ~* 'zan' THEN uri ELSE '1' END)::int > 0",
    "(metadata ->> 'pay')::int > 0",
    "('{\"a\":' || uri || '}')::jsonb IS NOT NULL",
    "xmlparse(document '<' || uri || '>') IS NOT NULL",
    "pg_catalog.to_tsvector(uri::regconfig, 'x') IS NOT NULL",
    "(uri::regclass)::oid > 0",
    "repeat('x', CASE WHEN uri ~ 'zan' THEN 2000000000 ELSE 1 END) <> ''",
)


def test_conditions_that_raise_errors_tell_nothing(attack: Attack) -> None:
    for condition in CONDITIONS:
        for query in (
            f"SELECT count(*) FROM document WHERE {condition}",
            f"SELECT uri FROM document ORDER BY {condition}",
            f"SELECT count(*) FROM document d JOIN chunk c ON c.document = d.id AND {condition}",
            f"SELECT count(*) FROM document WHERE uri = 'zanzibar' AND {condition}",
        ):
            attack.try_(query)
    assert attack.try_(f"SELECT count(*) FROM document WHERE {CONDITIONS[0]}") == "[(1,)]"
    text = "SELECT count(*) FROM chunk WHERE 1 / (CASE WHEN text ~* 'zanzibar' THEN 0 ELSE 1 END) = 1"
    assert attack.try_(text) == "[(1,)]"
    name = "SELECT count(*) FROM name WHERE 1 / (CASE WHEN written ~* 'zanzibar' THEN 0 ELSE 1 END) = 1"
    assert attack.try_(name) == "[(3,)]"


def test_functions_of_the_attacker_see_visible_rows_only(attack: Attack) -> None:
    make = """CREATE FUNCTION pg_temp.leak(text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS
        $$ BEGIN RAISE NOTICE '%', $1; RETURN true; END $$; """
    for query in (
        "SELECT count(*) FROM document WHERE pg_temp.leak(uri || metadata::text)",
        "SELECT count(*) FROM (SELECT * FROM chunk OFFSET 0) c WHERE pg_temp.leak(text)",
        "SELECT count(*) FROM name n JOIN mention m ON m.name = n.id AND pg_temp.leak(n.written)",
        "SELECT count(*) FROM link WHERE pg_temp.leak(description)",
        f"SELECT count(*) FROM {attack.vectors} WHERE pg_temp.leak(id::text)",
        "SELECT count(*) FROM relation WHERE pg_temp.leak(id::text)",
    ):
        attack.try_(make + query)
        assert query.startswith("SELECT count(*) FROM (") or attack.notices, query  # it was called for visible rows
    assert "only superuser can define a leakproof function" in attack.try_(make.replace("COST", "LEAKPROOF COST"))
    for query in (
        "SELECT uri FROM document TABLESAMPLE SYSTEM (100)",
        "SELECT query_to_xml('SELECT * FROM trueweave.chunk', true, true, '')::text",
        "SELECT table_to_xml('trueweave.document'::regclass, true, true, '')::text",
        "SELECT ts_stat('SELECT to_tsvector(text) FROM trueweave.chunk')::text",
        "DECLARE c CURSOR FOR SELECT text FROM chunk; FETCH ALL FROM c",
        "SELECT pg_read_file('postgresql.conf')",
        "SELECT lo_import('/etc/passwd')",
        "SELECT text FROM chunk WHERE ctid = ANY (ARRAY(SELECT ('(0,' || n || ')')::tid FROM generate_series(1, 9) n))",
    ):
        attack.try_(query)


def test_statistics_and_other_sessions_show_no_value(attack: Attack) -> None:
    for view in ("pg_stats", "pg_stats_ext", "pg_stats_ext_exprs", "pg_stat_activity", "pg_prepared_statements"):
        attack.try_(f"SELECT * FROM {view}")
    assert attack.try_("SELECT * FROM pg_statistic").startswith("InsufficientPrivilege")
    shown = attack.try_("SELECT tablename FROM pg_stats WHERE schemaname = 'trueweave' AND tablename = 'chunk'")
    assert shown == "[]"
    attack.try_("EXPLAIN (ANALYZE, VERBOSE) SELECT * FROM chunk JOIN document d ON d.id = document")


# How each function that the role may call is abused. Those without a query work on their arguments alone.
ATTACKS = {
    "meets": [
        f"SELECT meets(%s, '{wanted}')"
        for wanted in (
            '{"prefix": ""}', '{"not": {"prefix": "x"}}', '{"not": {"not": {"all": []}}}', '{"uris": ["zanzibar"]}',
            '{"any": [{"all": []}]}', '{"all": []}',
        )
    ],
    "seen_chunks": ["SELECT seen_chunks(ARRAY[%s]::uuid[])"],
    "seen_documents": ["SELECT seen_documents(ARRAY[%s]::uuid[])"],
    "few_seen": ["SELECT few_seen()"],
    "seen_similarity": ["SELECT seen_similarity((SELECT avg(v::vector) FROM {vectors})::halfvec, ARRAY[%s]::uuid[])"],
    "seen_phrases": ["SELECT seen_phrases({phrases}, ARRAY[%s]::uuid[])"],
    "seen_occurrences": ["SELECT seen_occurrences(ARRAY[%s]::uuid[])"],
    "seen_leads": [
        f"""SELECT seen_leads({{phrases}}, array_fill(2::bigint, ARRAY[cardinality({{phrases}})]), {cap},
        ARRAY[%s]::uuid[], (SELECT avg(v::vector) FROM {{vectors}})::halfvec)"""
        for cap in (1, 100)
    ],
    "seen_names": ["SELECT seen_names(NULL, 1000)", "SELECT seen_names(ARRAY[%s]::uuid[], 1000)"],
    "seen_pairs": [
        "SELECT seen_pairs(NULL, NULL, 1000)",
        "SELECT seen_pairs(ARRAY[%s]::uuid[], NULL, 1000)",
        "SELECT seen_pairs(NULL, ARRAY[%s]::uuid[], 1000)",
    ],
    "seen_coverage": ["SELECT seen_coverage('zanzibar', ARRAY[%s]::uuid[])"],
    "search_seen": [
        "SELECT search_seen('zanzibar old smith', 1000, 1.2, 0.75, NULL)",
        "SELECT search_seen('zanzibar old smith', 1000, 1.2, 0.75, ARRAY[%s]::uuid[])",
    ],
    "near_seen": [
        "SELECT near_seen(%s::halfvec, 1000, 1000, 20, NULL)",
        "SELECT near_seen((SELECT avg(v::vector) FROM {vectors})::halfvec, 1000, 1000, 20, ARRAY[%s]::uuid[])",
    ],
    "enter": ["SELECT enter(1, false, false)"],
    "may_differ": ["SELECT may_differ()"],  # whether there are rules, and how names are resolved
    "summaries_of": ["SELECT summaries_of(ARRAY[%s]::uuid[])"],
    "facets": [],
    "folded_name": [],
    "moment": [],
    "place_of": [],
    "places_of": [],
    "reader_facets": [],
}  # fmt: skip


def test_functions_that_the_role_may_call_tell_nothing(attack: Attack) -> None:
    with attack.as_caller() as connection:
        callable_ = connection.execute(
            """SELECT DISTINCT proname::text FROM pg_proc
            WHERE pronamespace = 'trueweave'::regnamespace AND has_function_privilege(oid, 'EXECUTE')"""
        ).fetchall()
    assert {name for (name,) in callable_} == ATTACKS.keys()
    parts = {"{vectors}": attack.vectors, "{phrases}": f"ARRAY{attack.phrases}::bigint[]"}
    for query in [query for queries in ATTACKS.values() for query in queries]:
        for part, filled in parts.items():
            query = query.replace(part, filled)
        for given in (attack.document, attack.chunk, attack.vector, *attack.ids):
            shown = attack.try_(query, *([given] if "%s" in query else []))
            if "meets" in query and given == attack.document:
                assert shown == "[(False,)]", query


@pytest.mark.usefixtures("few")
async def test_nothing_tells_that_words_of_a_visible_text_are_a_name_in_an_invisible_one(
    url: str, database: Database
) -> None:
    index = await AsyncTrueweave.enter(database, "test", HashEmbedder(8))
    hidden = Chunk("Ada saw the Engine Room", mentions=(Mention("Ada"), Mention("Engine Room")))
    visible = Chunk("Ada was in the Engine Room", mentions=(Mention("Ada"),))
    await index.add_documents([Document("hidden", (hidden,), readers=("hr",)), Document("visible", (visible,))])
    [phrase, ada] = [phrases.number(phrases.phrase(name) or "") for name in ("Engine Room", "Ada")]
    for groups, known in (("{}", {ada}), ("{hr}", {phrase, ada})):
        with calling(url, index.workspace.id, groups) as connection:
            chunks = [id_ for (id_,) in connection.execute("SELECT id FROM chunk").fetchall()]
            of = {"chunks": chunks, "phrases": [phrase, ada], "v": str([1.0] * 8)}
            for query in (
                "SELECT phrase FROM seen_occurrences(%(chunks)s)",
                "SELECT * FROM seen_phrases(%(phrases)s::bigint[], %(chunks)s)",
                "SELECT phrase FROM seen_leads(%(phrases)s::bigint[], '{2,2}', 9, %(chunks)s, %(v)s::halfvec)",
                "SELECT phrase FROM occurrence",
            ):
                assert {found for (found,) in connection.execute(query.encode(), of)} == known, (groups, query)


def test_who_runs_sql_can_choose_groups_and_role(attack: Attack) -> None:
    """The limit that the page on security tells: callers never write SQL."""
    with attack.as_caller() as connection:
        connection.execute("SELECT set_config('trueweave.groups', '{hr}', true)")
        assert attack.revealed(connection.execute("SELECT uri FROM document").fetchall())


async def test_a_role_that_is_handed_out_sees_what_everybody_reads(attack: Attack) -> None:
    made = await make_reader(attack.url, "test")
    parts = urlsplit(attack.url)
    login = f"{made.role}:{made.password}@{parts.hostname}:{parts.port}"
    try:
        with psycopg.connect(urlunsplit(parts._replace(netloc=login)), autocommit=True) as connection:
            shown: list[object] = []
            for schema, table, columns in readable(connection):
                listed = ", ".join(f'"{column}"' for column in columns)
                try:
                    shown.append(
                        (table, connection.execute(f'SELECT {listed} FROM {schema}."{table}"'.encode()).fetchall())
                    )
                except InsufficientPrivilege:
                    continue
            assert not attack.revealed(shown)
            seen = connection.execute("SELECT uri FROM trueweave.document").fetchall()
            assert seen == [("open",)]
            for made_of_all in ("entity", "relation", "name"):
                assert connection.execute(f"SELECT * FROM trueweave.{made_of_all}".encode()).fetchall() == []
            for query in ("SET ROLE trueweave_caller", "SET ROLE trueweave_app", "SELECT trueweave.sees_all()"):
                with pytest.raises(InsufficientPrivilege):
                    connection.execute(query.encode())
            connection.execute("SET trueweave.groups = '{hr}'")
            assert connection.execute("SELECT count(*) FROM trueweave.document").fetchall() == [(1,)]
    finally:
        with psycopg.connect(attack.url, autocommit=True) as owner:  # roles outlive the test's database
            owner.execute(sql.SQL("DROP OWNED BY {0}; DROP ROLE {0}").format(sql.Identifier(made.role)))
