"""What each method finds: on public sets beside its peers, without titles, in prose, and as a corpus grows.

    python benchmarks/quality.py --peers        # full size: hours; writes benchmarks/results/quality.json
    python benchmarks/quality.py --smoke        # a few questions on a small set; writes nothing
    python benchmarks/quality.py --only sets,cost

The last line printed is one JSON object with all figures. Their meaning is told beside each part below. What has been
loaded and embedded stays in benchmarks/.quality, so that a second run takes a part of the time.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean
from typing import Any

import parts
import peer_lightrag
import peer_retrieval
import quality_sets as sets
import rebuilt
from quality_sets import Extraction, Shelf

from trueweave import AsyncTrueweave, Usage
from trueweave.bench import datasets
from trueweave.bench.experiment import Experiment, deep_enough
from trueweave.bench.measures import Measure, recall
from trueweave.bench.outcomes import Outcome
from trueweave.bench.types import Dataset
from trueweave.core.bench import Interval
from trueweave.core.bootstrap import difference, interval
from trueweave.extend import Database, Method
from trueweave.methods import Auto, Fuse, Global, Hybrid, Keyword, Local, Mix, Naive, Weave
from trueweave.retrieval.methods import registry

Figures = dict[str, Any]
HERE = Path(__file__).parent
RESULTS = HERE / "results" / "quality.json"
KEPT = HERE / ".quality"
PEERS = HERE / ".peers" / "lightrag"
REFERENCE = Path(os.environ.get("TRUEWEAVE_REFERENCE", HERE.parents[1] / "shared" / "prototype" / "results"))
LIGHTRAG: tuple[tuple[str, peer_retrieval.Found, int], ...] = (
    ("hotpotqa_train100", "capitals", 0),
    ("musique_train100", "capitals", 0),
    ("musique_train100", "given", 0),
    ("twowiki", "capitals", 0),
    ("musique", "capitals", 3000),
    ("hotpotqa", "capitals", 3000),
)
UNTITLED = ("twowiki", *sets.TUNED_ON)
DEPTHS = (2, 5, 10)
PEERS_ASKED = 300  # questions where LightRAG is asked
ASKED = 150  # questions of a large set, where all methods are asked
CHUNK = 256  # tokens of long texts, which is as much as MiniLM reads
OURS = "weave"


class Bench:
    """What is loaded, and the size at which the parts run."""

    def __init__(self, shelf: Shelf, folder: Path, *, smoke: bool, peers: bool, some: Sequence[str] = ()) -> None:
        self._shelf = shelf
        self._folder = folder
        self._smoke = smoke
        self._peers = peers
        self._some = some

    # Which share of the supporting passages each method has among its first 2, 5 and 10, in per cent with 95 %
    # intervals; and how much less than weave that is at 5, question by question.
    # Of the large sets 150 questions, from all over. Methods that need a language model are left out.
    async def sets(self) -> Figures:
        wanted: list[tuple[str, Extraction]] = [("hotpotqa_train100", "capitals")]
        if not self._smoke:
            wanted += [("musique_train100", "capitals"), ("musique_train100", "given")]
            wanted += [(name, "nlp") for name in sets.TUNED_ON]
            wanted += [(name, "capitals") for name in sets.TESTED]
        figures: Figures = {}
        for name, extraction in wanted:
            dataset = sets.propagate(self._found(name), ASKED)
            async with self._shelf.loaded(dataset, extraction) as trueweave:
                graph = await rebuilt.graph_of(trueweave)
                methods = {one: registry.make(one) for one in registry.names() if one != "auto"}
                methods |= {one: method for one, method in rebuilt.methods(graph).items() if "tuned" in one}
                methods = {one: deep_enough(method, max(DEPTHS)) for one, method in methods.items()}
                asked = await self._asked(trueweave, dataset, methods, f"{name} {extraction}")
            figures[f"{name} {extraction}"] = asked.figures()
            print(f"  {name} {extraction}: {json.dumps(figures[f'{name} {extraction}'])}", file=sys.stderr)
        return figures

    # Weave beside the reference that it was specified by, and plain fusion: all questions of the test sets.
    async def reference(self) -> Figures:
        figures: Figures = {}
        for name in ("hotpotqa_train100",) if self._smoke else sets.TESTED:
            dataset = self._found(name)
            asked = Asked(dataset, [], {})
            async with self._shelf.loaded(dataset, "capitals") as trueweave:
                for method, made in _plain().items():
                    found = {one.id: await trueweave.retrieve(one.text, made) for one in dataset.questions}
                    asked.add(method, {id_: [p.uri for p in one.passages] for id_, one in found.items()})
            figures[name] = asked.figures() | asked.beside_reference(name)
        return figures

    # LightRAG's own modes beside ours of the same names, weave, plain fusion and words alone, over the same passages
    # with the same names: the first 300 questions (of musique these take two hops). Of the two larger sets, which it
    # takes long to index, there are 3,000 passages and those that support the questions.
    async def lightrag(self) -> Figures:
        if not self._peers:
            return {}
        figures: Figures = {}
        peer, folder = peer_lightrag.prepare(PEERS), self._folder / "lightrag"
        for name, extraction, passages in LIGHTRAG:
            if self._some and f"{name} {extraction}" not in self._some:
                continue
            dataset = self._found(name, PEERS_ASKED)
            if passages:
                dataset = replace(sets.cut(dataset, PEERS_ASKED, passages), name=f"{name} cut")
            async with self._shelf.loaded(dataset, extraction) as trueweave:
                methods = _plain() | _modes()
                asked = await self._asked(trueweave, dataset, methods, f"lightrag {dataset.name} {extraction}")
            ranked = await asyncio.to_thread(peer_retrieval.ranked, dataset, extraction, folder, peer)
            for mode, found in ranked.items():
                asked.add(f"LightRAG {mode}", found)
            ahead = {mode: asked.ahead(mode, f"LightRAG {mode}") for mode in ("naive", *_modes())}
            figures[f"{dataset.name} {extraction}"] = asked.figures() | {"ahead_of_lightrag_at_5": ahead}
        return figures

    def _found(self, name: str, questions: int | None = None) -> Dataset:
        dataset = sets.found(name)
        return sets.cut(dataset, 5, 10) if self._smoke else datasets.limited(dataset, questions)

    # The same without a title anywhere.
    async def untitled(self) -> Figures:
        figures: Figures = {}
        for name in ("hotpotqa_train100",) if self._smoke else UNTITLED:
            dataset = sets.untitled(self._found(name))
            async with self._shelf.loaded(dataset, "names") as trueweave:
                asked = await self._asked(trueweave, dataset, _plain(), dataset.name)
            figures[name] = asked.figures()
        return figures

    # GraphRAG-Bench's novels and its texts for patients, whose questions come with evidence in words of its own: which
    # share of these words is in the first 6,000 characters that a method finds.
    async def prose(self) -> Figures:
        figures: Figures = {}
        for name in ("graphragbench_medical",) if self._smoke else ("graphragbench_medical", "graphragbench_novel"):
            dataset = sets.cut(sets.found(name), 5, 5) if self._smoke else sets.propagate(sets.found(name), 500)
            async with self._shelf.loaded(dataset, "capitals", CHUNK) as trueweave:
                methods = _plain() | {"auto": deep_enough(Auto(), max(DEPTHS))}
                asked = await self._asked(trueweave, dataset, methods, name)
                figures[name] = asked.evidence() | {"chunks": (await trueweave.status()).chunks}
        return figures

    # Weave, plain fusion and vectors alone as the corpus grows: 2 thousand passages, 12 thousand, all three test
    # corpora in one, and these among 200 thousand others. The last two are asked the same questions.
    async def cost(self) -> Figures:
        figures: Figures = {}
        each = [self._found(name, 100) for name in self._cost_sets()]
        together = sets.merged("together", each)
        growing: list[tuple[Dataset, Extraction]] = [(self._found(sets.TUNED_ON[0]), "capitals")]
        growing += [(each[0], "capitals"), (together, "names")]
        for dataset, extraction in growing:
            async with self._shelf.loaded(dataset, extraction) as trueweave:
                figures |= await self._cost(trueweave, dataset)
        among = replace(together, name="together among others")  # apart, as a second run must find both as they were
        async with self._shelf.among_others(among, "names", 20 if self._smoke else None) as trueweave:
            return figures | await self._cost(trueweave, among)

    async def _cost(self, trueweave: AsyncTrueweave, dataset: Dataset) -> Figures:
        asked = await self._asked(trueweave, dataset, _plain(), f"cost {dataset.name}")
        figures = {"set": dataset.name, **asked.figures(), "by_set": asked.by_kind(5), "costs": asked.costs()}
        return {f"{(await trueweave.status()).documents}_passages": figures}

    def _cost_sets(self) -> Sequence[str]:
        return ("hotpotqa_train100",) if self._smoke else tuple(sets.TESTED)

    async def _asked(
        self, trueweave: AsyncTrueweave, dataset: Dataset, methods: Mapping[str, Method], name: str
    ) -> Asked:
        measures = [Measure("recall", k) for k in DEPTHS]
        experiment = Experiment(trueweave, dataset, methods, measures, insist=False)
        file = self._folder / "outcomes" / f"{name}.jsonl"
        if file.exists():  # what has been asked before, of the same methods and documents, is not asked again
            file.replace(file.with_name(f"{file.name}.part"))
        ran = await experiment.run(file)
        return Asked(dataset, list(ran.outcomes), dict(ran.left_out))


def _plain() -> dict[str, Method]:
    """Words alone, vectors alone, the usual fusion, and ours."""
    named: dict[str, Method] = {"keyword": Keyword(), "naive": Naive(), "fuse": Fuse(), OURS: Weave()}
    return {name: deep_enough(method, max(DEPTHS)) for name, method in named.items()}


def _modes() -> dict[str, Method]:
    """The methods that LightRAG has modes of the same names for, besides naive."""
    named: dict[str, Method] = {"local": Local(), "global": Global(), "hybrid": Hybrid(), "mix": Mix()}
    return {name: deep_enough(method, max(DEPTHS)) for name, method in named.items()}


@dataclass
class Asked:
    """What came of asking every question of a set by every method."""

    dataset: Dataset
    outcomes: list[Outcome]
    left_out: dict[str, str]

    def add(self, method: str, ranked: Mapping[str, Sequence[str]]) -> None:
        """What another program found, by the ids of questions."""
        for question in self.dataset.questions:
            found = tuple((id_, 0.0) for id_ in ranked[question.id])
            self.outcomes.append(Outcome("", question.id, method, found, 0.0, 0, Usage()))

    def values(self, method: str, k: int) -> list[float]:
        """Recall at k for each question, in the order of the set."""
        found = {one.question: one.ranked for one in self.outcomes if one.method == method}
        return [recall(found[one.id], one.supporting, k) for one in self.dataset.questions]

    def figures(self) -> Figures:
        """For each method the share that it finds, and how far it is behind ours."""
        methods = dict.fromkeys(one.method for one in self.outcomes)
        ours, kinds = self.values(OURS, 5), self.by_kind(5)
        return {
            "questions": len(self.dataset.questions),
            "methods": {name: self._method(name, ours) for name in methods},
            "by_kind": {name: kinds[name] for name in ("fuse", OURS)},
            "left_out": self.left_out,
        }

    def _method(self, name: str, ours: Sequence[float]) -> Figures:
        figures: Figures = {f"recall@{k}": _percent(interval(self.values(name, k))) for k in DEPTHS}
        if name != OURS:
            figures["weave_ahead_at_5"] = _percent(difference(ours, self.values(name, 5)))
        return figures

    def ahead(self, method: str, other: str) -> list[float]:
        """How far a method is ahead of another at 5, question by question."""
        return _percent(difference(self.values(method, 5), self.values(other, 5)))

    def costs(self) -> Figures:
        """For each method what a question takes."""
        shown: Figures = {}
        for name in dict.fromkeys(one.method for one in self.outcomes):
            found = [one for one in self.outcomes if one.method == name]
            seconds, nodes = sorted(one.seconds for one in found), sorted(one.nodes for one in found)
            shown[name] = {
                "p50_ms": round(1000 * seconds[len(seconds) // 2], 1),
                "p95_ms": round(1000 * seconds[int(0.95 * len(seconds))], 1),
                "statements": round(mean(one.statements for one in found), 1),
                "nodes": round(mean(nodes)),
                "nodes_p99": nodes[int(0.99 * len(nodes))],
            }
        return shown

    def evidence(self) -> Figures:
        """For each method how much of the evidence it finds, and how far it is behind ours."""
        found: dict[str, list[float]] = {}
        for one in self.outcomes:
            found.setdefault(one.method, []).append(one.evidence or 0.0)
        methods: dict[str, Figures] = {name: {"evidence": _percent(interval(each))} for name, each in found.items()}
        for name in methods.keys() - {OURS}:
            methods[name]["weave_ahead"] = _percent(difference(found[OURS], found[name]))
        return {"questions": len(self.dataset.questions), "methods": methods}

    def by_kind(self, k: int) -> Figures:
        """Recall at k of each method for each kind of question."""
        kinds = Counter(one.kind for one in self.dataset.questions)
        shown: Figures = {}
        for name in dict.fromkeys(one.method for one in self.outcomes):
            values = list(zip(self.values(name, k), self.dataset.questions, strict=True))
            shown[name] = {
                f"{kind} ({number})": round(100 * mean(value for value, one in values if one.kind == kind), 1)
                for kind, number in sorted(kinds.items())
            }
        return shown

    def beside_reference(self, name: str) -> Figures:
        """How far ours is ahead of the reference that the method was specified by, on the same questions."""
        file = REFERENCE / f"{name}.jsonl.gz"
        if not file.is_file():
            return {}
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            rows = {row["id"]: row["ranked"]["weave"] for row in map(json.loads, lines)}
        if missing := [one.id for one in self.dataset.questions if one.id not in rows]:
            raise KeyError(f"{file} has no row for {missing[0]}")
        theirs = {k: [recall(rows[one.id], one.supporting, k) for one in self.dataset.questions] for k in DEPTHS}
        return {
            "reference": {f"recall@{k}": round(100 * mean(theirs[k]), 1) for k in DEPTHS},
            "ahead_of_reference": {
                f"recall@{k}": _percent(difference(self.values(OURS, k), theirs[k])) for k in DEPTHS
            },
        }


def _percent(one: Interval) -> list[float]:
    """Mean, and between which values it lies."""
    return [round(100 * value, 1) for value in (one.mean, one.low, one.high)]


async def run(url: str, folder: Path, options: argparse.Namespace) -> Figures:
    async with Database(url) as database, sets.opened(database, folder) as shelf:
        some = [one for one in options.of.split(",") if one]
        bench = Bench(shelf, folder, smoke=options.smoke, peers=options.peers, some=some)
        named = (
            ("sets", bench.sets),
            ("reference", bench.reference),
            ("lightrag", bench.lightrag),
            ("untitled", bench.untitled),
            ("prose", bench.prose),
            ("cost", bench.cost),
        )
        figures = await parts.carried_out(named, options.only)
    before = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if some and before:  # the others stay
        figures["lightrag"] = before["lightrag"] | figures["lightrag"]
    today = datetime.now(UTC).date().isoformat()
    figures["measured"] = before.get("measured", {}) | dict.fromkeys(figures, today)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", action="store_true", help="LightRAG too; it is installed if it is not there")
    parser.add_argument(
        "--of", default="", help='sets of the part lightrag, as in "twowiki capitals"; the figures of the others stay'
    )
    parts.main(parser, run, KEPT, RESULTS)


if __name__ == "__main__":
    main()
