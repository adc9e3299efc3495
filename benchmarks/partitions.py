"""Vectors of one large workspace: in 1, 2, 4 and 8 hash partitions, and quantised to one bit a dimension.

    python benchmarks/partitions.py            # 100,000 vectors; writes results/partitions.json
    python benchmarks/partitions.py --smoke    # 2,000 of them; writes nothing

The vectors are blends of real ones: passages of HotpotQA by MiniLM (384 dimensions), two at a time with some noise, so
that they lie where texts lie. The questions are those of the set. Tables and indexes are those of the product; recall
is that beside an exact scan of the same rows. `memory` builds an index with and without room for its graph.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any
from uuid import UUID

import corpora
import numpy as np
import psycopg
from minilm import minilm
from numpy.typing import NDArray
from pgvector import HalfVector
from pgvector.psycopg import register_vector
from psycopg import sql
from served import served

from trueweave.store.postgres.schema.migrate import migrate
from trueweave.store.postgres.vectors.own_tables import BUILT_AT_ONCE, graph_bytes

RESULTS = Path(__file__).parent / "results" / "partitions.json"
ROWS, FEW = 100_000, 2_000
REAL, SOME = 2_500, 300  # passages that are embedded
QUESTIONS = 200
LIMIT = 10
EFFORT = 80  # of a search for ten, as the product has it
NOISE = 0.3  # of a blend, beside 1 for what is real
SMALL = 0.25  # of the room that a graph needs
ROUNDS = 3  # of all questions, in turns
CANDIDATES = (4, 10, 20)  # as many times as many as are asked for

Matrix = NDArray[np.float32]


async def _real(count: int) -> tuple[Matrix, Matrix]:
    """Vectors of passages, and of questions about them."""
    model = await minilm()
    texts = [row["text"] for row in islice(corpora.rows("hotpotqa/corpus"), count)]
    asked = [row["question"] for row in islice(corpora.rows("hotpotqa/questions"), QUESTIONS)]
    return await model.embed(texts, "document"), await model.embed(asked, "query")


def _blends(real: Matrix, count: int) -> Matrix:
    chance = np.random.default_rng(7)
    share = chance.uniform(0.5, 1, (count, 1)).astype(np.float32)
    a, b = (real[chance.integers(0, len(real), count)] for _ in range(2))
    noise = chance.standard_normal((count, real.shape[1]), dtype=np.float32)
    noise *= NOISE / np.sqrt(real.shape[1])
    made = share * a + (1 - share) * b + noise
    lengths: Matrix = np.linalg.norm(made, axis=1, keepdims=True)
    return np.asarray(made / lengths, dtype=np.float32)


class Bench:
    """One database with the vectors in tables of several layouts."""

    def __init__(self, url: str, vectors: Matrix, questions: Matrix) -> None:
        self.url = url
        self.rows = len(vectors)
        self.dimensions = vectors.shape[1]
        self.questions = [HalfVector(one.astype(np.float16)) for one in questions]
        self.connection = psycopg.connect(url, autocommit=True)
        self.connection.execute("SET jit = off")
        register_vector(self.connection)
        self._load("vectors", 1, vectors)
        self.exact, self.exact_ms = self._asked(self._nearest("vectors"))

    def _load(self, table: str, partitions: int, vectors: Matrix) -> None:
        self._make(table, partitions)
        copy = sql.SQL("COPY {} FROM STDIN (FORMAT BINARY)").format(sql.Identifier(table))
        with self.connection.cursor() as cursor, cursor.copy(copy) as into:
            into.set_types(["int4", "uuid", "halfvec"])
            for n, one in enumerate(vectors):
                into.write_row((1, UUID(int=n * 0x9E3779B97F4A7C15 % 2**128), HalfVector(one.astype(np.float16))))
        self.connection.execute(sql.SQL("VACUUM ANALYZE {}").format(sql.Identifier(table)))

    def _make(self, table: str, partitions: int) -> None:
        name = sql.Identifier(table)
        self.connection.execute(
            sql.SQL(
                "CREATE TABLE {} (workspace int NOT NULL, id uuid NOT NULL, v halfvec({}) NOT NULL, "
                "PRIMARY KEY (workspace, id)) PARTITION BY HASH (id)"
            ).format(name, self.dimensions)
        )
        for n in range(partitions):
            part = sql.SQL("CREATE TABLE {} PARTITION OF {} FOR VALUES WITH (MODULUS {}, REMAINDER {})")
            partition = sql.Identifier(f"{table}_p{n}")
            self.connection.execute(part.format(partition, name, partitions, n))
            self.connection.execute(sql.SQL("ALTER TABLE {} ALTER v SET STORAGE PLAIN").format(partition))

    def _copied(self, table: str, partitions: int, rows: int) -> None:
        self._make(table, partitions)
        copy = sql.SQL("INSERT INTO {} SELECT * FROM vectors LIMIT {}").format(sql.Identifier(table), rows)
        self.connection.execute(copy)
        self.connection.execute(sql.SQL("VACUUM ANALYZE {}").format(sql.Identifier(table)))

    def _indexed(self, tables: Sequence[str], on: str, memory: str = "1GB") -> tuple[float, list[int]]:
        """Build an index on each of these tables, some at once; in how many seconds, and after how many rows a graph
        did not fit into memory any longer, where that was so."""
        fitted: list[int] = []

        def told(notice: psycopg.errors.Diagnostic) -> None:
            fitted.extend(map(int, re.findall(r"no longer fits .* after (\d+) tuples", notice.message_primary or "")))

        def build(table: str) -> None:
            with psycopg.connect(self.url, autocommit=True) as connection:
                connection.add_notice_handler(told)
                connection.execute("SELECT set_config('maintenance_work_mem', %s, false)", (memory,))
                made = f"CREATE INDEX ON {table} USING hnsw ({on}) WITH (m = 16, ef_construction = 128)"
                connection.execute(made.encode())

        began = time.perf_counter()
        with ThreadPoolExecutor(BUILT_AT_ONCE) as pool:
            list(pool.map(build, tables))
        return time.perf_counter() - began, fitted

    def _index_bytes(self, table: str) -> int:
        sizes = self.connection.execute(
            "SELECT sum(pg_relation_size(i.indexrelid))::bigint FROM pg_partition_tree(%s::regclass) t "
            "JOIN pg_index i ON i.indrelid = t.relid JOIN pg_class c ON c.oid = i.indexrelid "
            "JOIN pg_am a ON a.oid = c.relam WHERE t.isleaf AND a.amname = 'hnsw'",
            (table,),
        ).fetchone()
        assert sizes
        return int(sizes[0])

    def _nearest(self, table: str) -> str:
        return f"SELECT id FROM {table} WHERE workspace = 1 ORDER BY v <=> %(v)s LIMIT {LIMIT}"

    def _asked(self, query: str) -> tuple[list[set[UUID]], float]:
        found: list[set[UUID]] = []
        times: list[float] = []
        for question in self.questions:
            began = time.perf_counter()
            rows = self.connection.execute(query.encode(), {"v": question}).fetchall()
            times.append(1000 * (time.perf_counter() - began))
            found.append({id_ for (id_,) in rows})
        return found, median(times)

    def _measured(self, searches: Mapping[str, tuple[str, int]]) -> dict[str, dict[str, float]]:
        """For queries with their effort, recall beside the exact scan and the time of a question. They are asked in
        turns, as machines are noisy, and once before, so that the indexes are in memory."""
        found: dict[str, list[set[UUID]]] = {}
        times: dict[str, list[float]] = {name: [] for name in searches}
        for _ in range(1 + ROUNDS):
            for name, (query, effort) in searches.items():
                self.connection.execute("SELECT set_config('hnsw.ef_search', %s, false)", (str(effort),))
                found[name], ms = self._asked(query)
                times[name].append(ms)
        return {
            name: {
                "recall_at_10": round(
                    sum(len(one & right) for one, right in zip(found[name], self.exact, strict=True))
                    / sum(map(len, self.exact)),
                    4,
                ),
                "p50_ms": round(min(times[name][1:]), 2),
            }
            for name in searches
        }

    def partitions(self) -> dict[str, Any]:
        built: dict[str, dict[str, float]] = {}
        for number in (1, 2, 4, 8):
            table = f"in_{number}"
            self._copied(table, number, self.rows)
            seconds, outgrown = self._indexed([f"{table}_p{n}" for n in range(number)], "v halfvec_cosine_ops")
            assert not outgrown
            explain = f"EXPLAIN {self._nearest(table)}".encode()
            plan = self.connection.execute(explain, {"v": self.questions[0]}).fetchall()
            is_by_index = sum("_v_idx" in line for (line,) in plan) == number
            assert is_by_index or self.rows == FEW, "every partition is searched by its index"
            size = round(self._index_bytes(table) / self.rows)
            built[str(number)] = {"build_seconds": round(seconds, 1), "index_bytes_a_row": size}
        found = self._measured({number: (self._nearest(f"in_{number}"), EFFORT) for number in built})
        return {number: built[number] | found[number] for number in built} | {
            "exact_scan_p50_ms": round(self.exact_ms, 2)
        }

    def memory(self) -> dict[str, Any]:
        rows = self.rows // 5
        needed = rows * graph_bytes(self.dimensions)
        measured: dict[str, Any] = {"rows": rows, "graph_bytes_a_row": graph_bytes(self.dimensions)}
        for name, size in (("fits", needed), ("does_not_fit", int(SMALL * needed))):
            self._copied(name, 1, rows)
            seconds, fitted = self._indexed([f"{name}_p0"], "v halfvec_cosine_ops", f"{size // 1024}kB")
            measured[name] = {"megabytes": round(size / 2**20, 1), "build_seconds": round(seconds, 1), "fitted": fitted}
        return measured

    def quantised(self) -> dict[str, Any]:
        heap = self.connection.execute("SELECT pg_relation_size('vectors_p0')").fetchone()
        assert heap
        self._copied("bits", 1, self.rows)
        bits = f"(binary_quantize(v)::bit({self.dimensions}))"
        seconds, _ = self._indexed(["bits_p0"], f"{bits} bit_hamming_ops")
        measured: dict[str, Any] = {
            "table_bytes_a_row": round(heap[0] / self.rows),
            "bits": {
                "build_seconds": round(seconds, 1),
                "index_bytes_a_row": round(self._index_bytes("bits") / self.rows),
            },
        }
        candidates = {f"{times}x": times * LIMIT for times in CANDIDATES}
        searches = {
            name: (
                (
                    f"SELECT id FROM (SELECT id, v FROM bits WHERE workspace = 1 "
                    f"ORDER BY {bits} <~> binary_quantize(%(v)s)::bit({self.dimensions}) LIMIT {count}) AS c "
                    f"ORDER BY v <=> %(v)s LIMIT {LIMIT}"
                ),
                max(EFFORT, count),
            )
            for name, count in candidates.items()
        }
        found = self._measured({**searches, "half": (self._nearest("in_1"), EFFORT)})
        return measured | {"half": found.pop("half"), "bits": measured["bits"] | found}


async def _run(url: str, options: argparse.Namespace) -> dict[str, Any]:
    await migrate(url)
    rows, embedded = (FEW, SOME) if options.smoke else (ROWS, REAL)
    real, questions = await _real(embedded)
    bench = Bench(url, _blends(real, rows), questions)
    figures: dict[str, Any] = {"rows": rows, "dimensions": bench.dimensions, "embedded": embedded}
    for name in ("partitions", "memory", "quantised"):
        began = time.perf_counter()
        figures[name] = getattr(bench, name)()
        print(f"{name}: {time.perf_counter() - began:.0f} s", file=sys.stderr)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="a fiftieth of the size, to see that it runs")
    options = parser.parse_args()
    if not corpora.are_there(smoke=options.smoke):
        return
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as server:
        figures = asyncio.run(_run(server.url, options))
    if not options.smoke:
        RESULTS.write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
