"""What questions cost: beside bare SQL, beside LightRAG's modes, in statements, and as the index grows.

    python benchmarks/query.py            # full size: about twenty minutes; writes benchmarks/results/query.json
    python benchmarks/query.py --smoke    # a few hundred chunks, without LightRAG; writes nothing
    python benchmarks/query.py --only b   # or d, which brings a and c as well
    python benchmarks/query.py --size 0.1

The last line printed is one JSON object with all figures. Their meaning is told beside each part below. Every target is
listed with what was measured, whether it is met or not.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from itertools import islice, pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import bare
import corpora
import peer_lightrag
import psycopg
import trueweave_run
from asking import InstantModel, KnownVectors, Target, about_passages, about_reports, listed, p50, p95
from peer_lightrag import Peer, PeerFailed, PeerMissing
from reports import ReportEmbedder
from served import served
from watch import Relay, Server

from trueweave import AsyncTrueweave, Document, Evidence, Settings
from trueweave.extend import Embedder, Method
from trueweave.methods import Fuse, Global, Guess, Hybrid, Keyword, Local, Naive, Subgraph
from trueweave.store.postgres.schema.migrate import migrate
from trueweave.store.postgres.vectors import vectors
from trueweave.testing import HashEmbedder

Figures = dict[str, Any]

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "query.json"

OF_BARE, OF_PEER, STATEMENTS, GROWTH = 1.3, 0.25, 6, 1.5  # the targets

METHODS: dict[str, Method] = {
    "naive": Naive(),
    "keyword": Keyword(),
    "fuse": Fuse(),
    "local": Local(),
    "global": Global(),
    "hybrid": Hybrid(),
    "subgraph": Subgraph(similarity_threshold=None),
    "guess": Guess(),
}
INSTANT = InstantModel()
MODES = ("local", "global", "hybrid")
_GROWING = HashEmbedder(64, "growing")  # as many dimensions as can be indexed in the time there is
_WIDE = HashEmbedder(384, "wide")  # as many as small models have
_COUNTED = 5  # questions whose statements are counted
_WARM = 6  # questions before those that are measured
_BLOCK = 10  # questions in a row to one of two systems


class Bench:
    """One server for all parts, the size at which they run (1 = full), and how many questions they put."""

    def __init__(self, server: Server, size: float, questions: int, peer: Peer | None) -> None:
        self._server = server
        self._size = size
        self._questions = questions
        self._peer = peer
        self.targets: list[Target] = []

    def of(self, full: int, least: int) -> int:
        return max(least, int(full * self._size))

    # (b) Trueweave and LightRAG answer the same questions on the same 1,000 reports, each in a database of its own on
    # the same server, block by block in turn. Both are asked for the context that a model would be shown, both have the
    # same keywords from a model that takes no time, an embedding of the same cost, and their own defaults for the rest.
    # Neither keeps replies.
    def b_peer(self) -> Figures:
        documents = self.of(1000, 20)
        with self._server.database("trueweave_reports") as ours, self._server.database("lightrag") as theirs:
            asyncio.run(migrate(ours))
            started = time.perf_counter()
            trueweave_run.run(trueweave_run.Job(ours, documents, 1))
            _tell(f"trueweave has {documents} reports after {time.perf_counter() - started:.0f} s")
            if self._peer is None:
                return asyncio.run(self._beside(ours, documents, None))
            started = time.perf_counter()
            peer_lightrag.run(self._peer, theirs, documents, 1)
            _tell(f"lightrag has them after {time.perf_counter() - started:.0f} s")
            with peer_lightrag.questions(self._peer, theirs) as peer:
                return asyncio.run(self._beside(ours, documents, peer))

    async def _beside(self, url: str, documents: int, peer: peer_lightrag.Questions | None) -> Figures:
        questions = about_reports(_WARM + self._questions, documents)
        ours: defaultdict[str, list[tuple[float, int]]] = defaultdict(list)
        theirs: defaultdict[str, list[tuple[float, int]]] = defaultdict(list)
        async with _opened(url, ReportEmbedder(), "default") as trueweave:
            for first in (0, *range(_WARM, len(questions), _BLOCK)):
                block = questions[first : first + (_BLOCK if first else _WARM)]
                for mode in MODES:
                    mine = [await _context(trueweave, question, mode) for question in block]
                    asked = await asyncio.to_thread(peer.ask, mode, block) if peer else None
                    if first:
                        ours[mode] += mine
                        theirs[mode] += zip(*asked, strict=True) if asked else ()
        figures: Figures = {"documents": documents, "questions": self._questions}
        for mode in MODES:
            figures[mode] = {"trueweave": _context_figures(ours[mode])}
            if peer:
                figures[mode]["lightrag"] = other = _context_figures(theirs[mode])
                ratio = round(figures[mode]["trueweave"]["p50_ms"] / other["p50_ms"], 3)
                figures[mode]["ratio"] = ratio
                self.targets.append(Target(f"{mode}, of LightRAG's time", OF_PEER, ratio))
            _tell(f"{mode}: {json.dumps(figures[mode])}")
        if not peer:
            figures["note"] = "LightRAG was left out"
        return figures

    # (d) One workspace that grows tenfold, twice, with the same mixture of passages and about the same density of
    # relations at each size. The questions are the same at each size, and about passages that are there at each. The
    # methods take turns at every question. What autovacuum would do within minutes is done right after loading, so that
    # it does not run meanwhile. `found` is the mean of how many rows the statements of a question brought, `steps` are
    # the medians of how long those of each kind took all together.
    # (a) At each size: naive, as anybody asks, beside one statement on one table with the same chunks and vectors. They
    # take turns question by question. Vectors of questions are there beforehand. Vectors of few dimensions are soon
    # compared, so that what Trueweave adds to it shows; the smallest size is tried with as many as models have, too.
    # (c) At each size: the statements of a question as the trace counts them, and as a relay before the server does.
    # `first` is for the first question of a process, which asks where the vectors are and binds its connections.
    def d_growth(self) -> Figures:
        sizes = [self.of(full, least) for full, least in ((2000, 100), (20_000, 200), (200_000, 400))]
        with self._server.database("trueweave_growing") as url:
            asyncio.run(migrate(url))
            return asyncio.run(self._grow(url, sizes))

    async def _grow(self, url: str, sizes: Sequence[int]) -> Figures:
        documents = corpora.mixture(min(1.0, 10 * self._size))
        beginning = list(islice(documents, sizes[0]))
        questions = about_passages(_WARM + self._questions, beginning)
        await self._load(url, _WIDE, beginning, sizes[0])
        wide = await self._beside_bare(url, _WIDE, questions)
        by_size: dict[str, Figures] = {}
        for number, size in enumerate(sizes):
            more = beginning if number == 0 else list(islice(documents, size - sizes[number - 1]))
            loaded = await self._load(url, _GROWING, more, size)
            by_size[str(size)] = {"loaded": loaded, **await self._at(url, questions)}
        figures: Figures = {part: {size: at[part] for size, at in by_size.items()} for part in ("a", "c", "d")}
        figures["d"] = {
            "loaded": {size: at["loaded"] for size, at in by_size.items()},
            "questions": self._questions,
            **figures["d"],
            "growth": self._growth(figures["d"]),
        }
        figures["a"][f"{sizes[0]} of {_WIDE.dimensions} dimensions"] = wide
        for size, at in figures["a"].items():
            self.targets.append(Target(f"naive at {size} chunks, of bare SQL's time", OF_BARE, at["ratio"]))
        for name in METHODS:
            most = max(max(at[name]["trace"], at[name]["server"]) for at in figures["c"].values())
            self.targets.append(Target(f"{name}, statements a question", STATEMENTS, most))
        return figures

    def _growth(self, by_size: dict[str, Figures]) -> Figures:
        growth: Figures = {}
        for name in METHODS:
            times = [(size, at[name]["p50_ms"]) for size, at in by_size.items()]
            growth[name] = {f"{a}-{b}": round(after / before, 2) for (a, before), (b, after) in pairwise(times)}
            for step, factor in growth[name].items():
                self.targets.append(Target(f"{name}, growth of p50 over {step} chunks", GROWTH, factor))
        return growth

    async def _load(self, url: str, embedder: HashEmbedder, documents: Sequence[Document], size: int) -> Figures:
        started = time.perf_counter()
        async with _opened(url, embedder, embedder.name) as trueweave:
            await trueweave.add_documents(documents, _ticker(started))
            seconds = time.perf_counter() - started
            status = await trueweave.status()
        if status.chunks != size:
            raise RuntimeError(f"there should be {size} chunks: {status}")
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")
            connection.execute("CHECKPOINT")
        figures = {"entities": status.entities, "relations": status.relations, "seconds": round(seconds, 1)}
        figures["documents_per_second"] = round(len(documents) / seconds)
        _tell(f"{size} chunks: {json.dumps(figures)}")
        return figures

    async def _at(self, url: str, questions: Sequence[str]) -> Figures:
        async with _opened(url, _GROWING, _GROWING.name) as trueweave:
            methods = await self._methods(trueweave, questions)
        beside = await self._beside_bare(url, _GROWING, questions)
        return {"a": beside, "c": await self._count(url, questions), "d": methods}

    async def _methods(self, trueweave: AsyncTrueweave, questions: Sequence[str]) -> Figures:
        asked: dict[str, list[tuple[float, Evidence]]] = {name: [] for name in METHODS}
        for number, question in enumerate(questions[: _WARM + self._questions]):
            for name, method in METHODS.items():
                started = time.perf_counter()
                evidence = await trueweave.retrieve(question, method)
                if number >= _WARM:
                    asked[name].append((1000 * (time.perf_counter() - started), evidence))
        figures = {name: _method_figures(some) for name, some in asked.items()}
        for name, one in figures.items():
            slowest = ", ".join(f"{what} {ms}" for what, ms in islice(one["steps"].items(), 3))
            _tell(f"  {name:8} p50 {one['p50_ms']:8.2f} ms  p95 {one['p95_ms']:8.2f} ms  ({slowest})")
        return figures

    async def _beside_bare(self, url: str, embedder: HashEmbedder, questions: Sequence[str]) -> Figures:
        embedded = dict(zip(questions, await embedder.embed(questions, "query"), strict=True))
        known = KnownVectors(embedder.model, embedder.dimensions, embedder.metric, embedded)
        ours: list[float] = []
        theirs: list[float] = []
        async with (
            _opened(url, known, embedder.name, llm=None) as trueweave,
            bare.chunks(url, trueweave.workspace.id, f"vector_{await _space(trueweave)}_chunk") as chunks,
        ):
            for round_ in range(3):
                for number, question in enumerate(questions):
                    for turn in (0, 1) if number % 2 else (1, 0):
                        started = time.perf_counter()
                        if turn:
                            evidence = await trueweave.retrieve(question, "naive")
                        else:
                            rows = await chunks.nearest(vectors.half(embedded[question]))
                        if round_ or number >= _WARM:
                            (ours if turn else theirs).append(1000 * (time.perf_counter() - started))
                    _check_same(evidence, rows)
        figures = {
            "index": "hnsw" if chunks.has_hnsw else "none",
            "questions": len(ours),
            "trueweave": {"p50_ms": p50(ours), "p95_ms": p95(ours)},
            "bare": {"p50_ms": p50(theirs), "p95_ms": p95(theirs)},
            "ratio": round(p50(ours) / p50(theirs), 2),
        }
        _tell(f"  naive beside bare SQL: {json.dumps(figures)}")
        return figures

    async def _count(self, url: str, questions: Sequence[str]) -> Figures:
        relay = Relay(url)
        figures: Figures = {}
        with relay.open() as through:
            for name, method in METHODS.items():
                async with _opened(through, _GROWING, _GROWING.name) as trueweave:
                    counts = [await _statements(relay, trueweave, q, method) for q in questions[: _WARM + _COUNTED]]
                traced, seen = zip(*counts[_WARM:], strict=True)
                figures[name] = {"trace": max(traced), "server": max(seen), "first": counts[0][1]}
                if traced != seen:
                    _tell(f"  {name}: the trace counts {traced}, the server sees {seen}")
        _tell(f"  statements: {json.dumps(figures)}")
        return figures


@asynccontextmanager
async def _opened(
    url: str, embedder: Embedder, workspace: str, llm: InstantModel | None = INSTANT
) -> AsyncIterator[AsyncTrueweave]:
    """A workspace as anybody opens it, with settings that name no model."""
    settings = Settings.model_validate({"database_url": url, "workspace": workspace, "graph_vectors": True})
    async with AsyncTrueweave.open(embedder=embedder, llm=llm, settings=settings) as trueweave:
        yield trueweave


async def _space(trueweave: AsyncTrueweave) -> int:
    async with trueweave.workspace.transaction() as tx:
        space = await vectors.space(tx)
    assert space
    return space.id


async def _context(trueweave: AsyncTrueweave, question: str, method: str) -> tuple[float, int]:
    started = time.perf_counter()
    answer = await trueweave.ask(question, method, context_only=True)
    return 1000 * (time.perf_counter() - started), len(answer.context)


def _context_figures(asked: Sequence[tuple[float, int]]) -> Figures:
    milliseconds, characters = zip(*asked, strict=True)
    return {
        "p50_ms": p50(milliseconds),
        "p95_ms": p95(milliseconds),
        "context_characters": round(fmean(characters)),
    }


def _method_figures(asked: Sequence[tuple[float, Evidence]]) -> Figures:
    steps: defaultdict[str, list[float]] = defaultdict(list)
    found: list[int] = []
    for _, evidence in asked:
        each: defaultdict[str, float] = defaultdict(float)
        for step in evidence.trace.steps:
            each[step.what] += 1000 * step.seconds
        for what, ms in each.items():
            steps[what].append(ms)
        found.append(sum(step.found for step in evidence.trace.steps if step.statements))
    milliseconds = [ms for ms, _ in asked]
    slowest = sorted(((what, p50(ms)) for what, ms in steps.items()), key=lambda one: -one[1])
    return {
        "p50_ms": p50(milliseconds),
        "p95_ms": p95(milliseconds),
        "found": round(fmean(found)),
        "passages": round(fmean(len(evidence.passages) for _, evidence in asked), 1),
        "steps": {what: ms for what, ms in slowest if ms},
    }


def _check_same(evidence: Evidence, rows: Sequence[tuple[Any, ...]]) -> None:
    """The comparison holds only if both find passages that are as near."""
    mine, other = [round(passage.score, 3) for passage in evidence.passages], [round(1 - row[5], 3) for row in rows]
    if len(mine) != len(other) or mine[0] < other[-1] or other[0] < mine[-1]:
        raise RuntimeError(f"naive found {mine}, and bare SQL {other}")


async def _statements(relay: Relay, trueweave: AsyncTrueweave, question: str, method: Method) -> tuple[int, int]:
    before = relay.counts["statements"]
    evidence = await trueweave.retrieve(question, method)
    return evidence.trace.statements, relay.counts["statements"] - before


def _ticker(started: float) -> Callable[[int], None]:
    """Tells a waiting person how far it got, every 20,000 documents."""
    done = 0

    def tick(more: int) -> None:
        nonlocal done
        if done // 20_000 != (done + more) // 20_000:
            rate = (done + more) / (time.perf_counter() - started)
            _tell(f"  {done + more} more documents, {rate:.0f} a second")
        done += more

    return tick


def _tell(what: str) -> None:
    print(f"  {what}", file=sys.stderr, flush=True)


def run_parts(bench: Bench, only: str) -> Figures:
    figures: Figures = {}
    for name, part in {"b": bench.b_peer, "d": bench.d_growth}.items():
        if only and not set(only) & ({"b"} if name == "b" else {"a", "c", "d"}):
            continue
        if name == "d" and (problem := corpora.missing()):
            print(f"(a, c, d) skipped: {problem}", file=sys.stderr)
            continue
        print(f"({'b' if name == 'b' else 'a, c, d'}) {part.__name__}", file=sys.stderr)
        started = time.perf_counter()
        try:
            figures |= {"b": part()} if name == "b" else part()
        except PeerFailed as failed:  # which is no reason to measure nothing else
            figures["b"] = {"note": str(failed)}
            print(f"  not measured: {failed}", file=sys.stderr)
        print(f"  took {time.perf_counter() - started:.0f} s", file=sys.stderr)
    figures["targets"] = listed(bench.targets)
    return dict(sorted(figures.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="a few hundred chunks, to see that it runs")
    parser.add_argument("--only", default="", help="parts to run, as in b; results are not written then")
    parser.add_argument("--size", type=float, default=1.0, help="a share of the full size; below 1, nothing is written")
    options = parser.parse_args()
    is_full = not options.smoke and not options.only and options.size == 1
    peer: Peer | None = None
    if options.smoke:
        print("LightRAG is left out of a smoke run: it would come from the network", file=sys.stderr)
    elif not options.only or "b" in options.only:
        try:
            peer = peer_lightrag.prepare(HERE / ".peers" / "lightrag")
        except PeerMissing as missing:
            print(f"LightRAG is left out, and the targets of (b) are not measured: {missing}", file=sys.stderr)
    if is_full and (problem := corpora.missing()):
        sys.exit(problem)
    with tempfile.TemporaryDirectory() as root, served(Path(root)) as server:
        watched = Server(server.url, server.directory)
        size, questions = (0.002, 10) if options.smoke else (options.size, 60)
        bench = Bench(watched, size, questions, peer)
        figures = run_parts(bench, options.only)
    for target in bench.targets:
        print(target, file=sys.stderr)
    if not is_full:
        print("not the full size: the targets are not judged by this", file=sys.stderr)
    elif "ratio" in figures["b"].get("hybrid", {}):
        RESULTS.write_text(json.dumps(figures, indent=1) + "\n")
    else:
        print("nothing is written, as LightRAG was not measured", file=sys.stderr)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
