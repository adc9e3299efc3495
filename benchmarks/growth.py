"""What grows with the index, and how much: loading, storing, asking, adding, from 2,000 chunks tenfold by tenfold.

    python benchmarks/growth.py                    # up to 2,000,000 chunks: hours; writes results/growth.json
    python benchmarks/growth.py --largest 200000   # up to so many
    python benchmarks/growth.py --smoke            # 200 and 2,000 chunks; writes nothing

Each size is a workspace of its own, loaded in bulk on a Ray of this machine from generated passages (see
`generated.py`), of which every size is a beginning of the next. Vectors are those of `HashEmbedder` with 64 dimensions:
bags of words, as many as can be indexed in the time there is. The same questions are put at each size, about passages
that are in all of them, once to warm up and then as they are measured; methods take turns at every question. A language
model that knows the form of the questions takes no time. Methods that need reports or entailment are left out.

Recall is how many of the ten nearest chunks are found, by comparison with a search of all vectors: among all documents,
among a tenth and among a hundredth of them. After that, documents are added online, which tells what one more
costs. `bytes` is what the database grew by while the workspace was loaded, for each chunk.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import sys
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from itertools import islice, pairwise
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

from trueweave import AsyncTrueweave
from trueweave.config import Settings
from trueweave.evidence import Filter
from trueweave.extract import preannotated
from trueweave.methods import HippoRag, LinearRag, Mix, Naive, Walk, Weave
from trueweave.query_context import Method
from trueweave.store.postgres import vectors
from trueweave.store.postgres.migrate import migrate
from trueweave.store.postgres.vectors import Space
from trueweave.testing import HashEmbedder
from trueweave.types import Document

Figures = dict[str, Any]

KEPT = Path(__file__).parent / ".growth"
RESULTS = Path(__file__).parent / "results" / "growth.json"
OF_QUESTIONS, OF_INGEST = 1.5, 1.2  # the targets: how much more at ten times the size
LARGEST = 2_000_000
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

    async def at(self, size: int, beginning: Sequence[Document]) -> Figures:
        """All figures of one size."""
        figures = await self._loaded(size)
        questions = about_passages(self._questions, beginning)
        async with self._opened(size) as trueweave:
            figures["methods"] = await self._asked(trueweave, questions)
            figures["recall_at_10"] = await self._recall(trueweave, questions[:_SEARCHES])
            figures["online_seconds_per_1000"] = await self._online(trueweave)
        return figures

    async def _loaded(self, size: int) -> Figures:
        """Load a workspace of a size in bulk."""
        source = self._folder / f"source-{size}"
        shutil.rmtree(source, ignore_errors=True)
        source.mkdir()
        for first in range(0, size, _IN_A_FILE):
            with (source / f"{first:08}.jsonl").open("w") as out:
                out.writelines(generated.lines(min(_IN_A_FILE, size - first), first))
        before, clock = self._size(), Stages()
        async with self._opened(size) as trueweave:
            await trueweave.maintenance.bulk_load([str(source)], self._folder / f"spool-{size}", told=clock.told)
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
        async with trueweave.workspace.transaction() as tx:
            space = await vectors.space(tx)
        assert space
        embedded = [vectors.half(one) for one in await _EMBEDDER.embed(questions, "query")]
        figures: Figures = {}
        for name, lots in FILTERS.items():
            truth = self._exact(trueweave.workspace.id, space, embedded, lots)
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

    def _exact(self, workspace: int, space: Space, queries: Sequence[Any], lots: Sequence[int]) -> list[list[float]]:
        """The distances of the ten nearest chunks of each query, by a search of all."""
        condition = "WHERE (d.metadata -> 'lot')::int = ANY(%(lots)s)" if lots else ""
        with psycopg.connect(self._url, autocommit=True) as connection:
            register_vector(connection)
            connection.execute("SET search_path = trueweave, public; SET enable_indexscan = off; SET jit = off")
            connection.execute(f"SET trueweave.workspace = {workspace}".encode())
            connection.execute(
                f"""CREATE TEMP TABLE searched AS SELECT v.id, v.v FROM vector_{space.id}_chunk_{workspace} v
                JOIN chunk c ON c.workspace = {workspace} AND c.id = v.id
                JOIN document d ON d.workspace = {workspace} AND d.id = c.document {condition}""".encode(),
                {"lots": list(lots)},
            )
            nearest = b"SELECT v <=> %s AS distance FROM searched ORDER BY distance LIMIT 10"
            return [[row[0] for row in connection.execute(nearest, (query,)).fetchall()] for query in queries]

    async def _online(self, trueweave: AsyncTrueweave) -> float:
        """Seconds to add a thousand passages more that are in no size."""
        more = _documents(generated.lines(2 * self._added, first=2 * LARGEST))
        await trueweave.add_documents(more[: self._added])  # warm
        began = time.perf_counter()
        await trueweave.add_documents(more[self._added :])
        return round(1000 * (time.perf_counter() - began) / self._added, 3)

    @asynccontextmanager
    async def _opened(self, size: int) -> AsyncIterator[AsyncTrueweave]:
        settings = Settings.model_validate(
            {"database_url": self._url, "workspace": f"growth-{size}", "project_folder": self._folder}
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
    """How much each figure grows from size to size, with the targets."""
    growth: Figures = {}
    for (a, before), (b, after) in pairwise(by_size.items()):
        step = f"{a}-{b}"
        questions = {
            name: round(after["methods"][name]["p50_ms"] / before["methods"][name]["p50_ms"], 2) for name in METHODS
        }
        ingest = {
            name: round(after[name] / before[name], 2) for name in ("bulk_seconds_per_1000", "online_seconds_per_1000")
        }
        growth[step] = {"questions": questions, **ingest}
        targets += [Target(f"{name}, p50 from {step} chunks", OF_QUESTIONS, x) for name, x in questions.items()]
        targets += [Target(f"{name} from {step} chunks", OF_INGEST, x) for name, x in ingest.items()]
    return growth


def _tell(what: str) -> None:
    print(f"  {what}", file=sys.stderr, flush=True)


async def run(url: str, folder: Path, sizes: Sequence[int], *, smoke: bool) -> Figures:
    ray.init(log_to_driver=False, include_dashboard=False)  # once for all sizes: starting it is not measured
    await migrate(url)
    beginning = _documents(islice(generated.lines(1000), 1000 if sizes[0] >= 1000 else sizes[0]))
    bench = Bench(url, folder, questions=6 if smoke else _QUESTIONS, added=100 if smoke else _ADDED)
    by_size: dict[str, Figures] = {}
    for size in sizes:
        _tell(f"{size} chunks")
        by_size[str(size)] = await bench.at(size, beginning)
    ray.shutdown()
    targets: list[Target] = []
    figures = {"sizes": by_size, "growth": _growth(by_size, targets), "targets": listed(targets)}
    for target in targets:
        print(target, file=sys.stderr)
    return figures | {"cores": os.cpu_count(), "load_before": round(os.getloadavg()[0], 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="two small sizes, to see that it runs; writes nothing")
    parser.add_argument("--largest", type=int, default=LARGEST, help="the largest size; it counts as one more step")
    options = parser.parse_args()
    if not corpora.are_there(smoke=options.smoke):
        return
    tenfold = [200, 2_000] if options.smoke else [2_000, 20_000, 200_000, LARGEST]
    sizes = [size for size in tenfold if size < options.largest] + ([] if options.smoke else [options.largest])
    shutil.rmtree(KEPT, ignore_errors=True)
    KEPT.mkdir()
    try:
        with served(KEPT, _SERVER) as server:
            figures = asyncio.run(run(server.url, KEPT, sizes, smoke=options.smoke))
    finally:
        shutil.rmtree(KEPT)
    if not options.smoke:
        RESULTS.write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
