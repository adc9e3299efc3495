"""The yardstick: the same rows put into PostgreSQL by COPY alone, and the same search by one SQL statement."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from statistics import median
from typing import Any

import psycopg
from pgvector import HalfVector
from pgvector.psycopg import register_vector, register_vector_async

HNSW = "USING hnsw (v halfvec_cosine_ops) WITH (m = 16, ef_construction = 128)"

SEARCH = "SELECT id, v <=> %s AS d FROM bare_vectors WHERE tenant = %s ORDER BY d LIMIT 10"


def connect(url: str) -> psycopg.Connection[Any]:
    """A connection above row-level security, as bare as it gets."""
    connection = psycopg.connect(url, autocommit=True)
    connection.execute("SET search_path = trueweave, public; SET maintenance_work_mem = '1GB'")
    register_vector(connection)
    return connection


def load_again(url: str, workspace: int) -> dict[str, float]:
    """Copy all rows of a workspace into empty twins of their tables, then build the HNSW indexes; seconds for each."""
    with connect(url) as connection:
        connection.execute("DROP SCHEMA IF EXISTS bare CASCADE; CREATE SCHEMA bare")
        rows = {table: _rows(connection, table, workspace) for table in _tables(connection)}
        for table in rows:
            _twin(connection, table)
        started = time.perf_counter()
        for table, (columns, blocks) in rows.items():
            with connection.cursor().copy(f"COPY bare.{table} ({columns}) FROM STDIN (FORMAT BINARY)") as copy:
                for block in blocks:
                    copy.write(block)
        copied = time.perf_counter()
        for table, (_, blocks) in rows.items():
            if table.startswith("vector_") and sum(map(len, blocks)) > 100:
                connection.execute(f"CREATE INDEX ON bare.{table} {HNSW}")
        indexed = time.perf_counter()
        connection.execute("DROP SCHEMA bare CASCADE")
        return {"copy": copied - started, "hnsw": indexed - copied}


def _tables(connection: psycopg.Connection[Any]) -> list[str]:
    """All tables that hold rows of workspaces, those of the vectors included."""
    found = connection.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = 'trueweave'::regnamespace AND relkind = 'r'"
        " AND relrowsecurity AND relname NOT IN ('workspace', 'shelf', 'view_version') AND NOT EXISTS ("
        "SELECT FROM own_table WHERE state <> 'current' AND (relname = name OR starts_with(relname, name || '_p')))"
        " ORDER BY 1"
    )
    return [name for (name,) in found]


def _rows(connection: psycopg.Connection[Any], table: str, workspace: int) -> tuple[str, list[bytes]]:
    """The columns that can be copied, and a workspace's rows in PostgreSQL's binary form."""
    listed = connection.execute(
        "SELECT attname FROM pg_attribute"
        " WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum",
        (table,),
    )
    columns = ", ".join(name for (name,) in listed)
    query = f"COPY (SELECT {columns} FROM {table} WHERE workspace = {workspace}) TO STDOUT (FORMAT BINARY)"
    with connection.cursor().copy(query) as copy:
        return columns, [bytes(block) for block in copy]


def _twin(connection: psycopg.Connection[Any], table: str) -> None:
    """An empty table with the same columns and indexes, but for the HNSW index, which is built at the end."""
    connection.execute(f"CREATE TABLE bare.{table} (LIKE trueweave.{table} INCLUDING ALL)")
    indexes = connection.execute(
        "SELECT c.oid::regclass::text FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
        " JOIN pg_am a ON a.oid = c.relam WHERE a.amname = 'hnsw' AND i.indrelid = %s::regclass",
        (f"bare.{table}",),
    ).fetchall()
    for (index,) in indexes:
        connection.execute(f"DROP INDEX {index}")


class Shelf:
    """All vectors of several tenants in one table with an HNSW index and a B-tree on the tenant: the usual way."""

    def __init__(self, url: str, tenants: Sequence[int]) -> None:
        self.connection = connect(url)
        self.connection.execute("DROP TABLE IF EXISTS bare_vectors")
        self.connection.execute("CREATE TABLE bare_vectors (tenant int, id uuid, v halfvec)")
        for table in _tables(self.connection):
            if table.startswith("vector_") and "_chunk" in table:
                copied = f"INSERT INTO bare_vectors SELECT workspace, id, v FROM {table} WHERE workspace = ANY(%s)"
                self.connection.execute(copied, (list(tenants),))
        dimensions = self.connection.execute("SELECT vector_dims(v) FROM bare_vectors LIMIT 1").fetchone()
        assert dimensions
        self.connection.execute(f"ALTER TABLE bare_vectors ALTER v TYPE halfvec({dimensions[0]})")
        self.connection.execute("CREATE INDEX bare_tenant ON bare_vectors (tenant)")
        self.connection.execute(f"CREATE INDEX bare_hnsw ON bare_vectors {HNSW}")
        self.connection.execute("ANALYZE bare_vectors; SET hnsw.ef_search = 200; SET jit = off")

    def search(self, way: str, tenant: int, queries: Sequence[HalfVector]) -> tuple[list[list[float]], float]:
        """The ten smallest distances for each query, and the median milliseconds, by one of two plain ways."""
        exact = way == "exact"
        scan, others = ("off", "on") if exact else ("on", "off")
        self.connection.execute("SET hnsw.iterative_scan = relaxed_order")
        self.connection.execute(f"SET enable_indexscan = {scan}")
        self.connection.execute(f"SET enable_seqscan = {others}; SET enable_bitmapscan = {others}")
        found: list[list[float]] = []
        times: list[float] = []
        for query in queries:
            started = time.perf_counter()
            rows = self.connection.execute(SEARCH, (query, tenant), prepare=False).fetchall()
            times.append(time.perf_counter() - started)
            found.append([distance for _, distance in rows])
        return found, 1000 * median(times)

    def close(self) -> None:
        with suppress(psycopg.Error):
            self.connection.execute("DROP TABLE bare_vectors")
        self.connection.close()


class Chunks:
    """All chunks with their vectors in one table, and one statement that finds the nearest: what one writes by hand.

    There is an HNSW index where Trueweave has one for that workspace, with the same settings.
    """

    _NEAREST = (
        b"SELECT id, uri, title, text, start, v <=> %(v)s AS distance FROM bare_chunk ORDER BY v <=> %(v)s LIMIT 5"
    )

    def __init__(self, connection: psycopg.AsyncConnection[Any], *, has_hnsw: bool) -> None:
        self._connection = connection
        self.has_hnsw = has_hnsw

    async def nearest(self, vector: HalfVector) -> list[tuple[Any, ...]]:
        """The five chunks nearest to a vector."""
        cursor = await self._connection.execute(self._NEAREST, {"v": vector}, prepare=True, binary=True)
        return await cursor.fetchall()


@asynccontextmanager
async def chunks(url: str, workspace: int, table: str) -> AsyncIterator[Chunks]:
    """The chunks of a workspace, copied; gone at the end. `table` is where the vectors of its space are at first."""
    with connect(url) as connection:
        named = "SELECT name FROM own_table WHERE workspace = %s AND state = 'current' AND starts_with(name, %s)"
        own = [name for (name,) in connection.execute(named, (workspace, f"{table}_"))]
        has_hnsw, tables = bool(own), (table, *own)
        vectors = " UNION ALL ".join(f"SELECT id, v FROM {each} WHERE workspace = {workspace}" for each in tables)
        row = connection.execute(f"SELECT vector_dims(v) FROM ({vectors}) AS v LIMIT 1").fetchone()
        assert row
        connection.execute("DROP TABLE IF EXISTS bare_chunk")
        connection.execute(
            "CREATE TABLE bare_chunk (id uuid PRIMARY KEY, uri text NOT NULL, title text NOT NULL,"
            f" text text NOT NULL, start int NOT NULL, v halfvec({row[0]}) NOT NULL)"
        )
        connection.execute(
            "INSERT INTO bare_chunk SELECT c.id, d.uri, d.title, c.text, c.start, v.v"
            f" FROM ({vectors}) AS v JOIN chunk c ON c.id = v.id JOIN document d ON d.id = c.document"
            f" WHERE c.workspace = {workspace} AND d.workspace = {workspace} AND d.visible"
        )
        if has_hnsw:
            connection.execute(f"CREATE INDEX bare_chunk_hnsw ON bare_chunk {HNSW}")
        connection.execute("VACUUM ANALYZE bare_chunk")
        try:
            async with await psycopg.AsyncConnection.connect(url, autocommit=True) as asking:
                await asking.execute("SET search_path = trueweave, public; SET jit = off; SET hnsw.ef_search = 80")
                await asking.execute("SET hnsw.iterative_scan = relaxed_order")
                await register_vector_async(asking)
                yield Chunks(asking, has_hnsw=has_hnsw)
        finally:
            connection.execute("DROP TABLE bare_chunk")
