"""What a question under access rights takes, beside the same question without rights in the same run.

    python benchmarks/rights.py                    # 200,000 chunks; writes results/rights.json
    python benchmarks/rights.py --chunks 150000    # another size, instead
    python benchmarks/rights.py --smoke            # 2,000 chunks; writes nothing

The passages are generated (see `generated.py`), with a triple each; vectors are bags of words in 32 dimensions. Each
document can be read by some of the groups `1 %`, `10 %` and `90 %`, which are named for their share of the documents.
The same questions are asked without rights and for each group, by methods that take turns. Recall is how many of the
ten passages that are nearest among the readable ones `naive` finds, by comparison with all of them. What is loaded
stays in `.rights/`; a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import corpora
import generated
import numpy as np
import psycopg
from asking import Target, about_passages, listed, p50, p95
from numpy.typing import NDArray
from served import served

from trueweave import AsyncTrueweave, Document, Settings
from trueweave.extend import Method
from trueweave.ingest.extract import preannotated
from trueweave.methods import Fuse, Naive, Weave
from trueweave.store.postgres.schema.migrate import migrate
from trueweave.store.postgres.vectors import vectors
from trueweave.testing import HashEmbedder

Figures = dict[str, Any]
Matrix = NDArray[np.float32]

KEPT = Path(__file__).parent / ".rights"
RESULTS = Path(__file__).parent / "results" / "rights.json"
CHUNKS, FEW = 200_000, 2_000
SHARES = {"1 %": 0.01, "10 %": 0.1, "90 %": 0.9}
METHODS: dict[str, Method] = {"naive": Naive(), "fuse": Fuse(), "weave": Weave()}
LIMIT = 10
MOST_TIMES, LEAST_RECALL = 2.0, 0.97  # the targets

_EMBEDDER = HashEmbedder(32, "rights")
_SERVER = {"shared_buffers": "2GB", "max_wal_size": "8GB", "maintenance_work_mem": "512MB", "synchronous_commit": "off"}
_QUESTIONS, _FEW_QUESTIONS = 40, 6
_EVERYTHING = "all"


def _documents(size: int) -> Iterator[Document]:
    """Documents of one chunk with a triple each, and their readers."""
    chance = np.random.default_rng(11).random(size)
    for n, line in enumerate(generated.lines(size)):
        row = json.loads(line)
        row["triples"] = row["triples"][:1]
        row["entities"] = list(dict.fromkeys(end for s, _, o in row["triples"] for end in (s, o)))
        groups = [name for name, share in SHARES.items() if chance[n] < share]
        yield preannotated.document({**row, "readers": groups or ["nobody"]}, f"generated/{n}")


class Bench:
    """The benchmark on one server."""

    def __init__(self, url: str, folder: Path, size: int, questions: int) -> None:
        self._url = url
        self._size = size
        self._asked = questions
        self._settings = Settings.model_validate(
            {"database_url": url, "workspace": f"rights-{size}", "project_folder": folder}
        )

    async def run(self) -> Figures:
        texts, readers = list[str](), list[tuple[str, ...]]()
        for document in _documents(self._size):
            texts.append(document.chunks[0].text)
            readers.append(document.readers or ())
        embedded = np.asarray(await _EMBEDDER.embed(texts, "document"))
        questions = about_passages(self._asked, list(islice(_documents(self._size), 1000)))
        passing = {name: np.asarray([name in groups for groups in readers]) for name in SHARES}
        passing[_EVERYTHING] = np.ones(self._size, bool)
        async with AsyncTrueweave.open(embedder=_EMBEDDER, settings=self._settings) as trueweave:
            await self._load(trueweave)
            acting = {_EVERYTHING: trueweave} | {name: trueweave.acting_as([name]) for name in SHARES}
            times = await self._timed(acting, questions)
            figures: Figures = {}
            for name, index in acting.items():
                figures[name] = {
                    "documents": int(passing[name].sum()),
                    "recall": await self._recall(index, questions, embedded[passing[name]]),
                    "methods": {
                        method: {
                            "p50_ms": p50(ms),
                            "p95_ms": p95(ms),
                            "times": round(p50(ms) / p50(times[_EVERYTHING][method]), 2),
                        }
                        for method, ms in times[name].items()
                    },
                }
                _tell(f"{name}: {json.dumps(figures[name])}")
        return figures

    async def _load(self, trueweave: AsyncTrueweave) -> None:
        present = await trueweave.count_documents()
        began, last = time.perf_counter(), 0.0
        done = 0

        def told(more: int) -> None:
            nonlocal done, last
            done += more
            if (now := time.perf_counter()) - last > 30:
                last = now
                _tell(f"{present + done} documents after {now - began:.0f} s")

        await trueweave.add_documents(islice(_documents(self._size), present, None), told)
        await vectors.move_to_own_table(trueweave.workspace, vectors.MOST_IN_COMMON)
        with psycopg.connect(self._url, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")
        _tell(f"loaded in {time.perf_counter() - began:.0f} s")

    async def _timed(
        self, acting: dict[str, AsyncTrueweave], questions: Sequence[str]
    ) -> dict[str, dict[str, list[float]]]:
        times = {name: {method: list[float]() for method in METHODS} for name in acting}
        gc.collect()
        gc.freeze()  # what this program holds itself must not be looked through while questions are answered
        for is_measured in (False, True):
            for question in questions:
                for method, chosen in METHODS.items():
                    for name, index in acting.items():
                        began = time.perf_counter()
                        await index.retrieve(question, chosen)
                        if is_measured:
                            times[name][method].append(1000 * (time.perf_counter() - began))
        return times

    async def _recall(self, index: AsyncTrueweave, questions: Sequence[str], readable: Matrix) -> float:
        """How many of the ten nearest were found; of several at the same distance, any will do."""
        hits = right = 0
        for question in questions:
            [wanted] = np.asarray(await _EMBEDDER.embed([question], "query"))
            best = -np.sort(-(readable @ wanted))[:LIMIT]
            found = (await index.retrieve(question, Naive(top_k=LIMIT))).passages
            scores = np.asarray(await _EMBEDDER.embed([one.text for one in found], "document")) @ wanted
            hits += min(int((scores >= best[-1] - 1e-3).sum()), len(best))  # stored in half precision
            right += len(best)
        return round(hits / right, 4)


def _tell(what: str) -> None:
    print(f"  {what}", file=sys.stderr, flush=True)


def _targets(figures: Figures) -> list[Target]:
    found = []
    for name in SHARES:
        for method, one in figures[name]["methods"].items():
            found.append(
                Target(f"{method} for {name} of the documents, times that without rights", MOST_TIMES, one["times"])
            )
        missed = round(1 - figures[name]["recall"], 4)
        found.append(Target(f"what naive misses of the nearest for {name}", round(1 - LEAST_RECALL, 4), missed))
    return found


async def run(url: str, folder: Path, size: int, questions: int) -> Figures:
    await migrate(url)
    load = round(os.getloadavg()[0], 1)
    readers = await Bench(url, folder, size, questions).run()
    targets = _targets(readers)
    for target in targets:
        print(target, file=sys.stderr)
    return {
        "cores": os.cpu_count(),
        "load_before": load,
        "chunks": size,
        "questions": questions,
        "readers": readers,
        "targets": listed(targets),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="a small size, to see that it runs; writes nothing")
    parser.add_argument("--chunks", type=int, default=CHUNKS, help="how many chunks there are")
    options = parser.parse_args()
    if not corpora.are_there(smoke=options.smoke):
        return
    with tempfile.TemporaryDirectory() as passing:
        folder = Path(passing) if options.smoke else KEPT
        with served(folder, _SERVER) as server:
            size, questions = (FEW, _FEW_QUESTIONS) if options.smoke else (options.chunks, _QUESTIONS)
            figures = asyncio.run(run(server.url, folder, size, questions))
    if not options.smoke:
        RESULTS.write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
