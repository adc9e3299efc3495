"""How fast one workspace settles when one, two or four processes settle it at once.

    python benchmarks/settling.py            # a few minutes; writes benchmarks/results/settling.json
    python benchmarks/settling.py --documents 400
    python benchmarks/settling.py --smoke    # a hundred documents; writes nothing

Real passages share names, as documents of one workspace do; in the other corpus no two documents share one. `model_ms`
is how long the embedding model takes for a batch. `beside.py` runs it on another commit too.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import count, pairwise, product
from pathlib import Path
from typing import Any

import corpora
from served import served

from trueweave import AsyncTrueweave, Chunk, Document, Link, Mention
from trueweave.core.graph import Metric
from trueweave.core.model_calls import TextRole
from trueweave.extend import Database, Vectors
from trueweave.graph.contribution import contribution
from trueweave.index.settle import settle
from trueweave.store.postgres.record import record
from trueweave.store.postgres.schema.migrate import migrate
from trueweave.testing import HashEmbedder

RESULTS = Path(__file__).parent / "results" / "settling.json"
Figures = dict[str, Any]


@dataclass
class SlowEmbedder:
    """A hash embedder that takes its time for each call, as a model on another machine does."""

    seconds: float
    model: str = "testing/hash"
    dimensions: int = 64
    metric: Metric = "cosine"

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        await asyncio.sleep(self.seconds)
        return await HashEmbedder(self.dimensions).embed(texts, role)


def measure(url: str, documents: list[Document], numbers: count[int], *, smoke: bool) -> Figures:
    """Documents per second, by the time that the model takes and the number of settlers."""
    figures: Figures = {"documents": len(documents)}
    for milliseconds, settlers in [(0, 2)] if smoke else product((0, 200), (1, 2, 4)):
        name = f"settling {next(numbers)}"
        asyncio.run(_store(url, name, documents))
        with ProcessPoolExecutor(settlers, multiprocessing.get_context("spawn")) as pool:
            list(pool.map(_warm, range(settlers)))
            began = time.perf_counter()
            list(pool.map(_settle, [url] * settlers, [name] * settlers, [milliseconds / 1000] * settlers))
            seconds = time.perf_counter() - began
        rate = round(len(documents) / seconds, 1)
        figures.setdefault(f"model_ms_{milliseconds}", {})[f"settlers_{settlers}"] = rate
        print(f"  {milliseconds} ms, {settlers} settlers: {rate} documents per second", flush=True)
    return figures


async def _store(url: str, name: str, documents: list[Document]) -> None:
    async with Database(url) as database:
        trueweave = await AsyncTrueweave.enter(database, name, HashEmbedder())
        for at in range(0, len(documents), 200):
            await record.store(trueweave.workspace, [contribution(d) for d in documents[at : at + 200]])


def _warm(_: int) -> None:
    time.sleep(0.5)  # so that each process gets one


def _settle(url: str, name: str, seconds: float) -> int:
    return asyncio.run(_settled(url, name, seconds))


async def _settled(url: str, name: str, seconds: float) -> int:
    async with Database(url) as database:
        workspace = await database.find_workspace(name, make=False)
        assert workspace
        return (await settle(workspace, SlowEmbedder(seconds))).documents


def _apart(documents: int) -> list[Document]:
    """As many documents, of ten names each, that have no name in common."""
    made: list[Document] = []
    for n in range(documents):
        names = [f"Name {n:x} of {m}" for m in range(10)]
        links = tuple(Link(a, b, "is beside") for a, b in pairwise(names))
        made.append(Document(f"{n}", (Chunk(f"text {n}", mentions=tuple(map(Mention, names)), links=links),)))
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="a hundred documents, to see that it runs")
    parser.add_argument("--documents", type=int, help="how many, of each corpus; nothing is written then")
    options = parser.parse_args()
    if not corpora.are_there(smoke=options.smoke):
        return
    shared = corpora.musique_train100()[: 100 if options.smoke else options.documents]
    with tempfile.TemporaryDirectory() as root, served(Path(root)) as server:
        asyncio.run(migrate(server.url))
        numbers = count()
        figures: Figures = {}
        for corpus, documents in (("shared_names", shared), ("no_shared_names", _apart(len(shared)))):
            print(corpus, flush=True)
            figures[corpus] = measure(server.url, documents, numbers, smoke=options.smoke)
    if not options.smoke and not options.documents:
        RESULTS.write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
