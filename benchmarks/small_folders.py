"""What each method finds in small folders of documents, such as one project's notes: `folders/` has eight of them.

    python benchmarks/small_folders.py            # full size: minutes; writes benchmarks/results/small_folders.json
    python benchmarks/small_folders.py --smoke    # two folders, five questions each, by MiniLM; writes nothing
    python benchmarks/small_folders.py --only minilm

Full size needs the models that `make models` fetches. The last line printed is one JSON object with all figures, in
per cent. Methods and defaults may be tuned on the half of the folders that is called tuned; the other is only measured.
"""

from __future__ import annotations

import argparse
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any
from uuid import uuid4

import parts
from jars import BGE
from minilm import minilm

from trueweave import AsyncTrueweave, Settings
from trueweave.bench import datasets, vectors
from trueweave.bench.experiment import Experiment, deep_enough
from trueweave.bench.measures import Measure
from trueweave.bench.outcomes import Outcome
from trueweave.bench.types import Dataset
from trueweave.core.bench import Interval
from trueweave.core.bootstrap import difference
from trueweave.extend import Database, Embedder
from trueweave.models import catalogue
from trueweave.retrieval.methods import registry

Figures = dict[str, Any]
Scores = Mapping[str, Mapping[str, Sequence[float]]]
"""By method and measure, one number for each question."""

HERE = Path(__file__).parent
FOLDERS = HERE / "folders"
RESULTS = HERE / "results" / "small_folders.json"
KEPT = HERE / ".small_folders"
TUNED = ("film_store", "contracts", "papers", "tickets")
HELD_BACK = ("recipes", "mails", "wiki", "register")
SMOKE = ("film_store", "recipes")
METHODS = ("keyword", "naive", "fuse", "walk", "weave", "auto")
RIVALS = ("fuse", "keyword", "weave")  # auto chooses among these
DEPTH = 10
MEASURES = (*(Measure("recall", k) for k in (1, 3, 5)), Measure("mrr", DEPTH))
COMPARED = (Measure("recall", 5), Measure("mrr", DEPTH))


@dataclass(frozen=True)
class Measured:
    """What came of the questions of some folders."""

    documents: int
    chunks: int
    scores: Scores

    @classmethod
    def together(cls, each: Sequence[Measured]) -> Measured:
        """The same for all questions of these folders."""
        scores = {
            method: {name: [value for one in each for value in one.scores[method][name]] for name in measures}
            for method, measures in each[0].scores.items()
        }
        return cls(sum(one.documents for one in each), sum(one.chunks for one in each), scores)

    def figures(self) -> Figures:
        """Each method's means, and how far auto is ahead of the best of those that it chooses from."""
        means = {
            method: {name: _percent(mean(values)) for name, values in measures.items()}
            for method, measures in self.scores.items()
        }
        figures: Figures = {
            "documents": self.documents,
            "chunks": self.chunks,
            "questions": len(self.scores["auto"][COMPARED[0].name]),
            "methods": means,
        }
        for measure in COMPARED:
            best = max(RIVALS, key=lambda one: mean(self.scores[one][measure.name]))
            ahead = difference(self.scores["auto"][measure.name], self.scores[best][measure.name])
            figures[f"auto_ahead_at_{measure.name}"] = {"of": best, "by": _interval(ahead)}
        return figures


class Bench:
    """A database, and the size at which the parts run."""

    def __init__(self, database: Database, kept: Path, *, smoke: bool) -> None:
        self._database = database
        self._vectors = kept / "vectors.sqlite"
        self._folders = SMOKE if smoke else (*TUNED, *HELD_BACK)
        self._questions = 5 if smoke else None

    # What is found in each folder and in each half.
    async def folders(self, opened: Callable[[], Awaitable[Embedder]]) -> Figures:
        async with vectors.kept(await opened(), self._vectors) as embedder:
            each = {name: await self._measured(name, embedder) for name in self._folders}
        halves = {
            half: Measured.together([each[name] for name in names if name in each]).figures()
            for half, names in (("tuned", TUNED), ("held_back", HELD_BACK))
        }
        return {"halves": halves, "folders": {name: one.figures() for name, one in each.items()}}

    async def _measured(self, folder: str, embedder: Embedder) -> Measured:
        """Add a folder as users do, with default settings, and ask its questions by each method."""
        trueweave = await AsyncTrueweave.enter(self._database, f"{folder} {uuid4()}", embedder, settings=Settings())
        async with aclosing(trueweave):
            try:
                await trueweave.add(FOLDERS / folder / "documents")
                dataset = asked(folder, self._questions)
                methods = {name: deep_enough(registry.make(name), DEPTH) for name in METHODS}
                ran = await Experiment(trueweave, dataset, methods, MEASURES).run(None)
                status = await trueweave.status()
            finally:
                await trueweave.maintenance.drop()
        return Measured(status.documents, status.chunks, _scores(dataset, ran.outcomes))


def asked(folder: str, questions: int | None = None) -> Dataset:
    """The questions of a folder, with the uris that its documents get from their paths."""
    documents = (FOLDERS / folder / "documents").resolve()
    dataset = datasets.limited(datasets.find(str(FOLDERS / folder / "questions.jsonl")), questions)
    at_paths = [
        replace(one, supporting={str(documents / name): grade for name, grade in one.supporting.items()})
        for one in dataset.questions
    ]
    return replace(dataset, name=folder, questions=tuple(at_paths))


def _scores(dataset: Dataset, outcomes: Sequence[Outcome]) -> Scores:
    ranked = {(one.method, one.question): one.ranked for one in outcomes}
    return {
        method: {
            measure.name: [measure.of(ranked[method, one.id], one.supporting) for one in dataset.questions]
            for measure in MEASURES
        }
        for method in METHODS
    }


def _percent(value: float) -> float:
    return round(100 * value, 1)


def _interval(found: Interval) -> list[float]:
    return [_percent(found.mean), _percent(found.low), _percent(found.high)]


async def default() -> Embedder:
    """The embedder that `trueweave init` proposes, with its prefixes."""
    return await BGE.open(catalogue.named(BGE.known_as).prefixes)


async def run(url: str, kept: Path, options: argparse.Namespace) -> Figures:
    async with Database(url) as database:
        bench = Bench(database, kept, smoke=options.smoke)
        models: dict[str, Callable[[], Awaitable[Embedder]]] = {"all-MiniLM-L6-v2-int8": minilm}
        if not options.smoke:
            models[BGE.known_as] = default
        each = [(name, partial(bench.folders, opened)) for name, opened in models.items()]
        return await parts.carried_out(each, options.only)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts.main(parser, run, KEPT, RESULTS, needs_data=False)


if __name__ == "__main__":
    main()
