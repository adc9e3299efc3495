"""What grows with the index, and how much: loading, storing, asking, adding, from 2,000 chunks tenfold by tenfold.

    python benchmarks/growth.py                  # up to 2,000,000 chunks: hours; writes results/growth.json
    python benchmarks/growth.py --sizes 200000   # these sizes; the results of others stay
    python benchmarks/growth.py --ask --sizes …  # the questions again, of large sizes that are loaded already
    python benchmarks/growth.py --smoke          # 200 and 2,000 chunks; writes nothing

Each size is a workspace of its own, loaded in bulk on a Ray of this machine from generated passages (see
`generated.py`), of which every size is a beginning of the next. Vectors are those of `HashEmbedder` with 64 dimensions:
bags of words, as many as can be indexed in the time there is. The same questions are put at each size, about passages
that are in all of them, once to warm up and then as they are measured; methods take turns at every question. A language
model that knows the form of the questions takes no time. Methods that need reports or entailment are left out. What is
loaded stays in `.growth/`.

Recall is how many of the ten nearest chunks are found, by comparison with a search of all vectors: among all documents,
among a tenth and among a hundredth of them. After that, documents are added online, which tells what one more
costs. `bytes` is what the database grew by while the workspace was loaded, for each chunk.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise
from math import log10
from pathlib import Path
from typing import Any

import corpora
import generated
import psycopg
import ray
from asking import InstantModel, Target, about_passages, listed, p50, p95
from pgvector.psycopg import register_vector
from query import METHODS as SHORT
from served import served
from stopwatch import Stages

from trueweave import AsyncTrueweave, Document, Filter, Settings
from trueweave.extend import Method
from trueweave.ingest.extract import preannotated
from trueweave.methods import HippoRag, LinearRag, Mix, Naive, Walk, Weave
from trueweave.store.postgres.schema.migrate import migrate
from trueweave.store.postgres.vectors import vectors
from trueweave.testing import HashEmbedder

Figures = dict[str, Any]

KEPT = Path(__file__).parent / ".growth"
RESULTS = Path(__file__).parent / "results" / "growth.json"
OF_QUESTIONS, OF_INGEST = 1.5, 1.2  # the targets: how much more at ten times the size
SIZES = (2_000, 20_000, 200_000, 2_000_000)
SMALL = (200, 2_000)
METHODS: dict[str, Method] = {
    **SHORT, "mix": Mix(), "walk": Walk(), "weave": Weave(), "hipporag": HippoRag(), "linearrag": LinearRag(),
}  # fmt: skip
FILTERS: dict[str, list[int]] = {"all": [], "10%": list(range(10)), "1%": [7]}

_EMBEDDER = HashEmbedder(64, "growing")
_SERVER = {"shared_buffers": "4GB", "max_wal_size": "8GB", "maintenance_work_mem": "1GB"}
_QUESTIONS, _SEARCHES = 40, 30
_ADDED = 1_000
_IN_A_FILE = 50_000


class Bench:
    """The benchmark on one server."""

    def __init__(self, url: str, folder: Path, *, questions: int, added: int) -> None:
        self._url = url
        self._folder = folder
        self._questions = questions
        self._added = added

    async def at(self, size: int, beginning: Sequence[Document], before: Figures | None) -> Figures:
        """All figures of one size. With those of `before` it is loaded already, and only asked."""
        if before is None:
            await self._drop(size)
        figures = dict(before) if before else await self._loaded(size)
        questions = about_passages(self._questions, beginning)
        async with self._opened(size) as trueweave:
            figures["methods"] = await self._asked(trueweave, questions)
            if before is None:
                figures["recall_at_10"] = await self._recall(trueweave, questions[:_SEARCHES])
                figures["online_seconds_per_1000"] = await self._online(trueweave)
        return figures

    async def _drop(self, size: int) -> None:
        async with self._opened(size) as trueweave:
            await trueweave.maintenance.drop()

    async def _loaded(self, size: int) -> Figures:
        """Load a workspace of a size in bulk."""
        source = self._folder / f"source-{size}"
        source.mkdir(exist_ok=True)
        for first in range(0, size, _IN_A_FILE):
            with (source / f"{first:08}.jsonl").open("w") as out:
                out.writelines(generated.lines(min(_IN_A_FILE, size - first), first))
        before, clock = self._size(), Stages()
        async with self._opened(size) as trueweave:
            await trueweave.maintenance.bulk_load([str(source)], self._folder / f"spool-{size}", progress=clock.told)
        stages = clock.ended()
        seconds = sum(stages.values())
        with psycopg.connect(self._url, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")
            connection.execute("CHECKPOINT")
        async with self._opened(size) as trueweave:
            status = await trueweave.status()
        assert status.chunks == size, status
        for folder in (source, self._folder / f"spool-{size}"):
            shutil.rmtree(folder)
        figures: Figures = {
            "chunks": size,
            "entities": status.entities,
            "relations": status.relations,
            "bulk_seconds": round(seconds, 1),
            "bulk_seconds_per_1000": round(1000 * (seconds - stages["Starting"]) / size, 3),
            "stages": {stage: round(took, 1) for stage, took in stages.items()},
            "bytes_per_chunk": round((self._size() - before) / size),
        }
        _tell(json.dumps(figures))
        return figures

    async def _asked(self, trueweave: AsyncTrueweave, questions: Sequence[str]) -> Figures:
        times: dict[str, list[float]] = {name: [] for name in METHODS}
        gc.collect()
        gc.freeze()  # what this program holds itself must not be looked through while questions are answered
        for is_measured in (False, True):
            for question in questions:
                for name, method in METHODS.items():
                    began = time.perf_counter()
                    await trueweave.retrieve(question, method)
                    if is_measured:
                        times[name].append(1000 * (time.perf_counter() - began))
        figures = {name: {"p50_ms": p50(ms), "p95_ms": p95(ms)} for name, ms in times.items()}
        _tell(", ".join(f"{name} {one['p50_ms']:.1f}" for name, one in figures.items()))
        return figures

    async def _recall(self, trueweave: AsyncTrueweave, questions: Sequence[str]) -> Figures:
        embedded = [vectors.half(one) for one in await _EMBEDDER.embed(questions, "query")]
        figures: Figures = {}
        for name, lots in FILTERS.items():
            truth = self._exact(trueweave.workspace.id, embedded, lots)
            chosen = Filter(metadata={"lot": lots}) if lots else Filter()
            found: list[list[float]] = []
            times: list[float] = []
            for question in questions:
                began = time.perf_counter()
                evidence = await trueweave.retrieve(question, Naive(top_k=10), filter=chosen)
                times.append(1000 * (time.perf_counter() - began))
                found.append([1 - passage.score for passage in evidence.passages])
            figures[name] = {"recall": round(_recall(found, truth), 4), "p50_ms": p50(times)}
        _tell(json.dumps(figures))
        return figures

    def _exact(self, workspace: int, queries: Sequence[Any], lots: Sequence[int]) -> list[list[float]]:
        """The distances of the ten nearest chunks of each query, by a search of all."""
        condition = "WHERE (d.metadata -> 'lot')::int = ANY(%(lots)s)" if lots else ""
        with psycopg.connect(self._url, autocommit=True) as connection:
            register_vector(connection)
            connection.execute("SET search_path = trueweave, public; SET enable_indexscan = off; SET jit = off")
            connection.execute(f"SET trueweave.workspace = {workspace}".encode())
            [table] = connection.execute(
                "SELECT name FROM own_table WHERE workspace = %s AND kind = 'chunk' AND state = 'current'", (workspace,)
            ).fetchone() or [""]
            connection.execute(
                f"""CREATE TEMP TABLE searched AS SELECT v.id, v.v FROM {table} v
                JOIN chunk c ON c.workspace = {workspace} AND c.id = v.id
                JOIN document d ON d.workspace = {workspace} AND d.id = c.document {condition}""".encode(),
                {"lots": list(lots)},
            )
            nearest = b"SELECT v <=> %s AS distance FROM searched ORDER BY distance LIMIT 10"
            return [[row[0] for row in connection.execute(nearest, (query,)).fetchall()] for query in queries]

    async def _online(self, trueweave: AsyncTrueweave) -> float:
        """Seconds to add a thousand passages more that are in no size."""
        more = _documents(generated.lines(2 * self._added, first=2 * SIZES[-1]))
        await trueweave.add_documents(more[: self._added])  # warm
        began = time.perf_counter()
        await trueweave.add_documents(more[self._added :])
        return round(1000 * (time.perf_counter() - began) / self._added, 3)

    @asynccontextmanager
    async def _opened(self, size: int) -> AsyncIterator[AsyncTrueweave]:
        settings = Settings.model_validate(
            {
                "database_url": self._url,
                "workspace": f"growth-{size}",
                "project_folder": self._folder,
                "graph_vectors": True,
            }
        )
        async with AsyncTrueweave.open(embedder=_EMBEDDER, llm=InstantModel(), settings=settings) as trueweave:
            yield trueweave

    def _size(self) -> int:
        with psycopg.connect(self._url) as connection:
            row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
        return int(row[0]) if row else 0


def _recall(found: Sequence[Sequence[float]], truth: Sequence[Sequence[float]]) -> float:
    """How many of the ten nearest were found; of several at the same distance, any will do."""
    hits = sum(sum(d <= right[-1] + 1e-4 for d in mine) for mine, right in zip(found, truth, strict=True) if right)
    return hits / sum(map(len, truth))


def _documents(lines: Iterable[str]) -> list[Document]:
    return [preannotated.document(row, f"generated/{row['id']}") for row in map(json.loads, lines)]


def _growth(by_size: dict[str, Figures], targets: list[Target]) -> Figures:
    """How much each figure grows from size to size, for each time that the size is ten times as large; with the
    targets."""
    growth: Figures = {}
    for (a, before), (b, after) in pairwise(by_size.items()):
        step, tenfolds = f"{a}-{b}", log10(int(b) / int(a))

        def times(ours: float, theirs: float, tenfolds: float = tenfolds) -> float:
            return round(float((ours / theirs) ** (1 / tenfolds)), 2)

        questions = {
            name: times(after["methods"][name]["p50_ms"], before["methods"][name]["p50_ms"]) for name in METHODS
        }
        ingest = {
            name: times(after[name], before[name]) for name in ("bulk_seconds_per_1000", "online_seconds_per_1000")
        }
        growth[step] = {"questions": questions, **ingest}
        targets += [Target(f"{name}, p50 from {step} chunks", OF_QUESTIONS, x) for name, x in questions.items()]
        targets += [Target(f"{name} from {step} chunks", OF_INGEST, x) for name, x in ingest.items()]
    return growth


def _tell(what: str) -> None:
    print(f"  {what}", file=sys.stderr, flush=True)


async def run(url: str, folder: Path, sizes: Sequence[int], before: Figures, *, ask: bool, smoke: bool) -> Figures:
    """The figures of these sizes beside those of others; they are written after each."""
    await migrate(url)
    if not ask:
        ray.init(log_to_driver=False, include_dashboard=False)  # once for all sizes: starting it is not measured
    beginning = _documents(generated.lines(min(1000, sizes[0])))
    bench = Bench(url, folder, questions=6 if smoke else _QUESTIONS, added=100 if smoke else _ADDED)
    by_size: dict[str, Figures] = dict(before)
    figures: Figures = {}
    for size in sizes:
        _tell(f"{size} chunks")
        load = round(os.getloadavg()[0], 1)
        loaded = by_size[str(size)] if ask else None
        by_size[str(size)] = {**await bench.at(size, beginning, loaded), "load_before": load}
        targets: list[Target] = []
        ordered = dict(sorted(by_size.items(), key=lambda one: int(one[0])))
        figures = {"cores": os.cpu_count(), "sizes": ordered, "growth": _growth(ordered, targets)}
        figures["targets"] = listed(targets)
        if not smoke:
            RESULTS.write_text(json.dumps(figures, indent=1) + "\n")
    if not ask:
        ray.shutdown()
    for target in targets:
        print(target, file=sys.stderr)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="two small sizes, to see that it runs; writes nothing")
    parser.add_argument("--sizes", default="", help="sizes to measure, as in 2000,20000; the results of others stay")
    parser.add_argument("--ask", action="store_true", help="put the questions again, at the sizes of the results")
    options = parser.parse_args()
    if not corpora.are_there(smoke=options.smoke):
        return
    given = [int(size) for size in options.sizes.split(",") if size]
    kept = json.loads(RESULTS.read_text())["sizes"] if RESULTS.exists() and not options.smoke else {}
    sizes = SMALL if options.smoke else given or ([int(size) for size in kept] if options.ask else SIZES)
    before = kept if given or options.ask else {}
    with tempfile.TemporaryDirectory() as passing:
        folder = Path(passing) if options.smoke else KEPT
        with served(folder, _SERVER) as server:
            figures = asyncio.run(run(server.url, folder, sizes, before, ask=options.ask, smoke=options.smoke))
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
