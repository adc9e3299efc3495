"""The yardsticks of `stores.py`: Neo4j, Chroma and PostgreSQL by their own drivers, without Trueweave."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import bare
import chromadb
import numpy as np
from chromadb.config import Settings as ChromaSettings
from neo4j import AsyncDriver, AsyncGraphDatabase
from numpy.typing import NDArray
from pgvector import HalfVector
from pgvector.psycopg import register_vector_async
from psycopg import AsyncConnection

_AT_ONCE = 10_000  # rows of one UNWIND
_NEAREST = (
    b"SELECT id, uri, title, text, start, v <=> %(v)s AS distance FROM bare_chunk ORDER BY v <=> %(v)s LIMIT %(limit)s"
)


class BarePostgres:
    """One connection, with the settings of planner and index that Trueweave has too (`_SETTINGS` of db.py), to tables
    of one workspace alone.

    They are copies: Trueweave's keys begin with the workspace, which row-level security adds to a statement. Whoever
    is above it would read its tables without these keys, and slowly.
    """

    def __init__(self, connection: AsyncConnection[Any]) -> None:
        self.connection = connection

    @classmethod
    async def open(cls, url: str) -> BarePostgres:
        connection = await AsyncConnection.connect(url, autocommit=True)
        await connection.execute("SET search_path = bare, trueweave, public; SET jit = off; SET hnsw.ef_search = 200")
        await connection.execute("SET hnsw.iterative_scan = relaxed_order")
        await register_vector_async(connection)
        return cls(connection)

    async def relations(self, statement: bytes, entities: Sequence[UUID]) -> list[UUID]:
        """By the statement that Trueweave sends, on the tables of `copy_relations`."""
        cursor = await self.connection.execute(statement, {"entities": list(entities)}, prepare=True, binary=True)
        return [row[0] for row in await cursor.fetchall()]

    async def nearest(self, vector: HalfVector, limit: int) -> list[UUID]:
        """By the statement that one would write by hand, on one table."""
        params = {"v": vector, "limit": limit}
        cursor = await self.connection.execute(_NEAREST, params, prepare=True, binary=True)
        return [row[0] for row in await cursor.fetchall()]


def copy_relations(url: str) -> None:
    """Relations and summaries of the one workspace of a database in plain tables, with keys that do not name it."""
    with bare.connect(url) as connection:
        connection.execute("DROP SCHEMA IF EXISTS bare CASCADE; CREATE SCHEMA bare")
        for table, key in (("relation", "id"), ("summary", "hash")):
            connection.execute(f"CREATE TABLE bare.{table} AS SELECT * FROM trueweave.{table}")
            connection.execute(f"ALTER TABLE bare.{table} ADD PRIMARY KEY ({key})")
        connection.execute("CREATE INDEX ON bare.relation (source, weight DESC, target)")
        connection.execute("CREATE INDEX ON bare.relation (target, weight DESC, source)")
        for table in ("relation", "summary"):
            connection.execute(f"VACUUM ANALYZE bare.{table}")


def load_vectors(url: str, ids: Sequence[UUID], vectors: NDArray[np.float16]) -> dict[str, float]:
    """Chunks and vectors into one table by COPY, then its HNSW index; the seconds of both."""
    with bare.connect(url) as connection:
        connection.execute(
            "CREATE TABLE bare_chunk (id uuid PRIMARY KEY, uri text NOT NULL, title text NOT NULL, text text NOT NULL,"
            f" start int NOT NULL, v halfvec({vectors.shape[1]}) NOT NULL)"
        )
        started = time.perf_counter()
        statement = "COPY bare_chunk (id, uri, title, text, start, v) FROM STDIN (FORMAT BINARY)"
        with connection.cursor().copy(statement) as copy:
            copy.set_types(["uuid", "text", "text", "text", "int4", "halfvec"])
            for n, id_ in enumerate(ids):
                copy.write_row((id_, f"vectors/{n}", "", f"Passage {n}.", 0, HalfVector(vectors[n])))
        copied = time.perf_counter()
        connection.execute(f"CREATE INDEX ON bare_chunk {bare.HNSW}")
        indexed = time.perf_counter()
        connection.execute("VACUUM ANALYZE bare_chunk")
    return {"copy": copied - started, "hnsw": indexed - copied}


class BareNeo4j:
    """A driver of Neo4j, and a session for each statement."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.driver: AsyncDriver = AsyncGraphDatabase.driver(
            f"{parts.scheme}://{parts.hostname}:{parts.port}",
            auth=(parts.username or "", parts.password or ""),
            notifications_min_severity="OFF",
        )

    async def rows(self, statement: str, **params: Any) -> list[Any]:
        async with self.driver.session(default_access_mode="READ") as session:
            result = await session.run(statement, params)
            return [record async for record in result]

    async def relations(self, statements: Sequence[tuple[str, dict[str, Any]]]) -> list[str]:
        """What these statements give, one for each hop."""
        rows = [row for statement, params in statements for row in await self.rows(statement, **params)]
        return [id_ for row in rows for id_, *_ in row["relations"]]

    async def counts(self) -> tuple[int, int]:
        """Nodes and relationships."""
        [nodes] = await self.rows("MATCH (n) RETURN count(n) AS n")
        [relationships] = await self.rows("MATCH ()-[r]->() RETURN count(r) AS n")
        return nodes["n"], relationships["n"]

    async def load_again(self) -> tuple[int, float]:
        """Create all nodes and relationships once more, with their properties but without their labels and types, by
        batches of UNWIND; how many that were, and the seconds."""
        nodes = [
            {"key": row["key"], "properties": row["properties"]}
            for row in await self.rows("MATCH (n) RETURN elementId(n) AS key, properties(n) AS properties")
        ]
        edges = [
            {"a": row["a"], "b": row["b"], "properties": row["properties"]}
            for row in await self.rows(
                "MATCH (a)-[r]->(b) RETURN elementId(a) AS a, elementId(b) AS b, properties(r) AS properties"
            )
        ]
        await self._write("CREATE CONSTRAINT bare_key FOR (n:Bare) REQUIRE n.key IS UNIQUE")
        await self._write("CALL db.awaitIndexes(300)")
        started = time.perf_counter()
        for rows in _batches(nodes):
            await self._write("UNWIND $rows AS row CREATE (n:Bare {key: row.key}) SET n += row.properties", rows=rows)
        for rows in _batches(edges):
            await self._write(
                "UNWIND $rows AS row MATCH (a:Bare {key: row.a}) MATCH (b:Bare {key: row.b})"
                " CREATE (a)-[r:BARE]->(b) SET r = row.properties",
                rows=rows,
            )
        return len(nodes) + len(edges), time.perf_counter() - started

    async def _write(self, statement: Any, **params: Any) -> None:
        async with self.driver.session() as session:
            await (await session.run(statement, params)).consume()


def _batches(rows: Iterable[Any]) -> Iterable[list[Any]]:
    iterator = iter(rows)
    while batch := list(islice(iterator, _AT_ONCE)):
        yield batch


class BareChroma:
    """A client of a Chroma server."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        settings = ChromaSettings(anonymized_telemetry=False)
        self.client = chromadb.HttpClient(parts.hostname or "", parts.port or 8000, settings=settings)

    def load(self, ids: Sequence[UUID], vectors: NDArray[np.float16]) -> float:
        """The same records that a copy has, by upserts as large as Chroma takes; the seconds."""
        configuration: Any = {"hnsw": {"space": "cosine", "ef_search": 200}}
        collection = self.client.create_collection("bare", configuration=configuration, embedding_function=None)
        most = self.client.get_max_batch_size()
        started = time.perf_counter()
        for at in range(0, len(ids), most):
            numbers = range(at, min(at + most, len(ids)))
            collection.upsert(
                ids=[str(ids[n]) for n in numbers],
                embeddings=vectors[at : at + most].astype(np.float32),
                documents=[f"Passage {n}." for n in numbers],
                metadatas=[{"document": str(ids[n])} for n in numbers],
            )
        return time.perf_counter() - started
