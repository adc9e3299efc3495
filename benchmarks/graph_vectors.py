"""Ingest with and without vectors of entities and relations, and making them afterwards.

    python benchmarks/graph_vectors.py            # minutes; writes results/graph_vectors.json
    python benchmarks/graph_vectors.py --smoke    # a few passages; writes nothing

Real passages, names by spaCy, an embedding model on this machine, one process. Chunks per second of this process's
CPU time, with spaCy and the model loaded; what PostgreSQL takes is not counted. Both ways run in turn. See ADR 0058.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from contextlib import aclosing
from itertools import islice
from pathlib import Path
from statistics import median
from uuid import uuid4

import parts
import quality_sets as sets
from counting import CountingEmbedder
from jars import BGE
from minilm import minilm
from parts import Figures

from trueweave import AsyncTrueweave, Settings, Source
from trueweave.extend import Database

KEPT = Path(__file__).parent / ".graph_vectors"
RESULTS = Path(__file__).parent / "results" / "graph_vectors.json"
SET = "musique_train100"
_PASSAGES = 150
_ROUNDS = 2
_MODELS = {
    "bge-small-en-v1.5": BGE.open,
    "all-MiniLM-L6-v2, 8 bits": minilm,
}


async def measured(database: Database, model: str, *, smoke: bool) -> Figures:
    """The figures of one embedding model."""
    passages = sets.found(SET).passages or ()
    sources = [Source(one.id, one.whole, one.title) for one in islice(passages, 1 + (10 if smoke else _PASSAGES))]
    embedder = CountingEmbedder(await _MODELS[model]())
    ways: dict[str, list[Figures]] = {"chunks_only": [], "with_entities_and_relations": []}
    for _ in range(1 if smoke else _ROUNDS):
        for way, found in ways.items():
            found.append(await _ingest(database, embedder, sources, graph=way != "chunks_only"))
    return {"passages": len(sources) - 1, **{way: _middle(found) for way, found in ways.items()}}


async def _ingest(database: Database, embedder: CountingEmbedder, sources: Sequence[Source], *, graph: bool) -> Figures:
    settings = Settings(extractor="nlp", pipeline=sets.PIPELINE, graph_vectors=graph)
    entered = await AsyncTrueweave.enter(database, f"graph vectors {uuid4()}", embedder, settings=settings)
    async with aclosing(entered) as trueweave:
        await trueweave.add(sources[0])  # loads spaCy and the model
        first, before = (await trueweave.status()).chunks, embedder.texts
        began, cpu = time.perf_counter(), time.process_time()
        await trueweave.add(*sources[1:])
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        texts, status = embedder.texts - before, await trueweave.status()
        assert (status.documents, status.graph_vectors) == (len(sources), "kept" if graph else "none")
        chunks = status.chunks - first
        figures: Figures = {
            "chunks_per_second_of_cpu": chunks / cpu,
            "chunks_per_second": chunks / seconds,
            "texts_a_chunk": texts / chunks,
        }
        if not graph:
            cpu = time.process_time()
            await trueweave.vectors.make()
            figures["cpu_seconds_to_make_them_a_chunk"] = (time.process_time() - cpu) / status.chunks
        await trueweave.maintenance.drop()
    return figures


def _middle(found: Sequence[Figures]) -> Figures:
    return {name: round(median(one[name] for one in found), 3) for name in found[0]}


async def run(url: str, folder: Path, options: argparse.Namespace) -> Figures:
    async with Database(url) as database:
        named = [(name, lambda name=name: measured(database, name, smoke=options.smoke)) for name in _MODELS]
        return await parts.carried_out(named, options.only)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts.main(parser, run, KEPT, RESULTS)


if __name__ == "__main__":
    main()
