"""What ingest costs beyond what models cost: beside LightRAG with an instant model, and with small models for real.

    python benchmarks/ingest.py            # full size: a quarter of an hour; writes benchmarks/results/ingest.json
    python benchmarks/ingest.py --smoke    # a hundredth of the size, without LightRAG; writes nothing
    python benchmarks/ingest.py --only b,c
    python benchmarks/ingest.py --only a --size 0.1

The last line printed is one JSON object with all figures. Their meaning is told beside each part below. LightRAG is
installed from the network at the first run, into benchmarks/.peers.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from itertools import count
from pathlib import Path
from statistics import median

import corpora
import peer_lightrag
import reports
from peer_lightrag import Peer, PeerMissing
from served import served
from trueweave_run import Figures, Job, run
from watch import Relay, Server

from trueweave.store.postgres.schema.migrate import migrate

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "ingest.json"
COUNTED = 100  # documents in the run whose statements are counted


class Bench:
    """One server for all parts, with a new database for each run, and the size at which they run (1 = full)."""

    def __init__(self, server: Server, size: float, rounds: int, peer: Peer | None) -> None:
        self._server = server
        self._size = size
        self._rounds = rounds
        self._peer = peer
        self._numbers = count(1)

    def of(self, full: int, least: int) -> int:
        return max(least, int(full * self._size))

    # (a) Trueweave and LightRAG take turns, on the same documents, at the same instant model, with an embedding of the
    # same cost per text, each as it comes: Trueweave reads a chunk once, LightRAG asks the model twice for each (it
    # gleans once). Trueweave with two processes is one worker for each core, which LightRAG cannot have. In
    # `trueweave_gleaning` Trueweave asks as often as LightRAG does.
    # Both must find the graph that is in the reports; a relation to and fro is two for Trueweave and one for LightRAG.
    # LightRAG sums up descriptions sooner than Trueweave does, and asks its model a third more for that.
    #
    # Trueweave does all that it does for a paid model: queue, cache, budget with a cap, limits, settling, summaries.
    # The embedder counts as one in this process, as an ONNX model does. Each has its own default concurrency. CPU is in
    # milliseconds a chunk, of the client (all its processes together) and of all of PostgreSQL; memory is the client's.
    # Commits are all transactions, also those that only read; `writes` are those that wrote. `stages` are from one
    # more run, slowed down a little by the stopwatch.
    def a_peer(self) -> Figures:
        shapes = {"one_chunk": (self.of(1000, 20), 1), "twenty_chunks": (self.of(50, 2), 20)}
        if self._rounds == 1:  # a smoke run: one of them shows that it runs
            del shapes["one_chunk"]
        return {name: self._beside_peer(*shape) for name, shape in shapes.items()}

    def _beside_peer(self, documents: int, chunks_each: int) -> Figures:
        ways = {
            "trueweave": (1, 1),
            "trueweave_two_processes": (1, 2),
            "trueweave_gleaning": (2, 1),
            "trueweave_gleaning_two_processes": (2, 2),
        }
        runs: dict[str, list[Figures]] = {way: [] for way in ways}
        theirs: list[Figures] = []
        for round_ in range(self._rounds):
            for way, (gleaning, processes) in ways.items():
                runs[way].append(self._trueweave(Job("", documents, chunks_each, gleaning), processes))
            if self._peer and round_ < self._rounds - 1:  # so Trueweave comes before and after
                theirs.append(self._lightrag(self._peer, documents, chunks_each))
        figures: Figures = {"documents": documents, "chunks_each": chunks_each}
        figures |= {way: _middle(made) for way, made in runs.items()}
        figures["trueweave"] |= self._count_trueweave(documents, chunks_each) | {
            "stages": self._stages(documents, chunks_each)
        }
        if self._peer:
            figures["lightrag"] = _middle(theirs) | self._count_lightrag(self._peer, documents, chunks_each)
            rate = figures["lightrag"]["chunks_per_second"]
            figures["ratio"] = {way: round(figures[way]["chunks_per_second"] / rate, 2) for way in ways}
        return figures

    # (b) Real passages, spaCy and MiniLM on this machine. The stages are milliseconds of CPU a chunk: what they leave
    # of the client's is the queue, the event loop and the connections.
    def b_nlp(self) -> Figures:
        return self._passages("nlp", self.of(500, 10))

    # (c) More of the same passages without any model: capitalised phrases, no vectors.
    def c_capitals(self) -> Figures:
        return self._passages("capitals", self.of(2000, 20))

    def _passages(self, extractor: str, documents: int) -> Figures:
        watched = self._trueweave(Job("", documents, extractor=extractor, watched=True))
        runs = [self._trueweave(Job("", documents, extractor=extractor)) for _ in range(self._rounds - 1)] or [watched]
        middle = _middle(runs)
        loading = watched["stages"].get("loading spaCy", 0.0)
        per_core = [made["chunks"] / (made["cpu"] - loading) for made in runs]
        return {
            "documents": documents,
            **middle,
            "chunks_per_second_of_client_cpu": round(median(per_core), 1),
            "seconds_to_load_spacy": round(loading, 2),
            "stages": _by_stage(watched),
        }

    # --- single runs ----------------------------------------------------------------------------------

    def _trueweave(self, job: Job, processes: int = 1) -> Figures:
        with self._server.database(f"trueweave_{next(self._numbers)}") as url:
            asyncio.run(migrate(url))
            before = self._server.work(url)
            figures = run(Job(**{**vars(job), "url": url}), processes)
            done = self._server.work(url).since(before)
        figures |= {"documents": job.documents, "server_cpu": done.cpu, "commits": done.commits, "writes": done.writes}
        _tell(f"trueweave, {job.extractor}, processes: {processes}, calls a chunk: {job.gleaning}", figures)
        return figures

    def _lightrag(self, peer: Peer, documents: int, chunks_each: int) -> Figures:
        with self._server.database("lightrag") as url:
            before = self._server.work(url)
            said = peer_lightrag.run(peer, url, documents, chunks_each)
            done = self._server.work(url).since(before)
        graph, calls = said["graph"], said["calls"]
        entities, _, pairs = reports.graph(documents * chunks_each)
        if (graph["nodes"], graph["edges"]) != (entities, pairs):
            raise peer_lightrag.PeerFailed(f"the graph should have {entities} nodes and {pairs} edges: {graph}")
        figures: Figures = {
            "documents": documents,
            "chunks": documents * chunks_each,
            "seconds": said["index_s"],
            "cpu": said["cpu_s"],
            "peak_mb": said["peak_rss_mb"],
            "graph": {"entities": graph["nodes"], "relations": graph["edges"]},
            "calls": {"extract": calls["extract"], "glean": calls["glean"], "summarise": calls["summary"]},
            "server_cpu": done.cpu,
            "commits": done.commits,
            "writes": done.writes,
        }
        _tell("lightrag", figures)
        return figures

    def _stages(self, documents: int, chunks_each: int) -> Figures:
        return _by_stage(self._trueweave(Job("", documents, chunks_each, 1, watched=True)))

    def _count_trueweave(self, documents: int, chunks_each: int) -> Figures:
        few = min(COUNTED, documents)
        with self._server.database("trueweave_counted") as url:
            asyncio.run(migrate(url))
            relay = Relay(url)
            with relay.open() as through:
                run(Job(through, few, chunks_each, 1))
        return _each(relay.counts, few)

    def _count_lightrag(self, peer: Peer, documents: int, chunks_each: int) -> Figures:
        """What inserting took: all that was asked, less what a run asks that only puts the driver's questions."""
        few = min(COUNTED, documents)
        with self._server.database("lightrag_counted") as url:
            counts: list[dict[str, int]] = []
            for insert in (True, False):
                relay = Relay(url)
                with relay.open() as through:
                    peer_lightrag.run(peer, through, few, chunks_each, insert=insert)
                counts.append(relay.counts)
        both, asking = counts
        return _each({name: both[name] - asking[name] for name in both}, few)


def _middle(runs: list[Figures]) -> Figures:
    """The figures of several equal runs: their medians, and the range of the rates."""
    rates = [one["chunks"] / one["seconds"] for one in runs]
    chunks, documents = runs[0]["chunks"], runs[0]["documents"]

    def per(name: str, among: int, factor: int = 1) -> float:
        return float(round(factor * median(one[name] for one in runs) / among, 2))

    return {
        "chunks_per_second": round(median(rates), 1),
        "range": [round(min(rates), 1), round(max(rates), 1)],
        "client_cpu_ms_per_chunk": per("cpu", chunks, 1000),
        "server_cpu_ms_per_chunk": per("server_cpu", chunks, 1000),
        "client_peak_mb": round(median(one["peak_mb"] for one in runs)),
        "graph": {"chunks": chunks, **runs[-1]["graph"]},
        "calls": runs[-1]["calls"],
        "commits_per_document": per("commits", documents),
        "writes_per_document": per("writes", documents),
    }


def _by_stage(watched: Figures) -> Figures:
    """Milliseconds of the client's CPU a chunk, the most first."""
    stages = dict(watched["stages"])
    loading = stages.pop("loading spaCy", 0.0)
    stages["all else"] = watched["cpu"] - loading - sum(stages.values())
    return {
        stage: round(1000 * seconds / watched["chunks"], 3)
        for stage, seconds in sorted(stages.items(), key=lambda one: -one[1])
    }


def _each(counts: dict[str, int], documents: int) -> Figures:
    return {f"{name}_per_document": round(number / documents, 2) for name, number in counts.items()}


def _tell(what: str, figures: Figures) -> None:
    rate = figures["chunks"] / figures["seconds"]
    cpu = 1000 * figures["cpu"] / figures["chunks"]
    print(f"  {what}: {rate:.1f} chunks/s, {cpu:.1f} ms CPU a chunk", file=sys.stderr)


def run_parts(bench: Bench, only: str) -> Figures:
    figures: Figures = {}
    for name, part in {"a": bench.a_peer, "b": bench.b_nlp, "c": bench.c_capitals}.items():
        if only and name not in only:
            continue
        if name != "a" and (problem := corpora.missing()):
            print(f"({name}) skipped: {problem}", file=sys.stderr)
            continue
        print(f"({name}) {part.__name__}", file=sys.stderr)
        started = time.perf_counter()
        figures[name] = part()
        print(f"  took {time.perf_counter() - started:.0f} s: {json.dumps(figures[name])}", file=sys.stderr)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smoke", action="store_true", help="a hundredth of the size, to see that it runs")
    parser.add_argument("--only", default="", help="parts to run, as in a,c; the others' results stay")
    parser.add_argument("--size", type=float, default=1.0, help="a share of the full size; below 1, nothing is written")
    options = parser.parse_args()
    is_full = not options.smoke and options.size == 1
    peer: Peer | None = None
    if options.smoke:
        print("LightRAG is left out of a smoke run: it would come from the network", file=sys.stderr)
    elif not options.only or "a" in options.only:
        try:
            peer = peer_lightrag.prepare(HERE / ".peers" / "lightrag")
        except PeerMissing as missing:
            sys.exit(str(missing))
    if is_full and options.only != "a" and (problem := corpora.missing()):
        sys.exit(problem)
    with tempfile.TemporaryDirectory() as root, served(Path(root)) as server:
        watched = Server(server.url, server.directory)
        bench = Bench(watched, 0.01 if options.smoke else options.size, 1 if options.smoke else 2, peer)
        figures = run_parts(bench, options.only)
    if is_full:
        before = json.loads(RESULTS.read_text()) if options.only and RESULTS.exists() else {}
        RESULTS.write_text(json.dumps(before | figures, indent=1) + "\n")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
