"""What `weave`, plain fusion, vectors and words find with the embedding models that users have.

    python benchmarks/embedders.py            # full size: two hours; writes benchmarks/results/embedders.json
    python benchmarks/embedders.py --smoke    # a few passages by MiniLM; writes nothing
    python benchmarks/embedders.py --only "bge-small-en-v1.5 train"

Full size needs the models that `make models` fetches. All questions of each set are asked. The sets named `train` are
those that weights were chosen on; the weights are the same for all models. The last line printed is one JSON object.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

import parts
import quality_sets as sets
from jars import ARCTIC_INT8, BGE_INT8, JarModel

from trueweave import AsyncTrueweave
from trueweave.bench.experiment import deep_enough
from trueweave.bench.measures import recall
from trueweave.bench.types import Dataset, Question
from trueweave.core.bench import Interval
from trueweave.core.bootstrap import difference, interval
from trueweave.extend import Database, Method
from trueweave.methods import Fuse, Keyword, Naive, Weave

Figures = dict[str, Any]
RESULTS = Path(__file__).parent / "results" / "embedders.json"
KEPT = Path(__file__).parent / ".quality"
DEPTHS = (2, 5, 10)
METHODS: dict[str, Method] = {"keyword": Keyword(), "naive": Naive(), "fuse": Fuse(), "weave": Weave()}
MODELS: dict[str, JarModel | None] = {
    "bge-small-en-v1.5": BGE_INT8,
    "all-MiniLM-L6-v2": None,
    "snowflake-arctic-embed-s": ARCTIC_INT8,
}
SETS: dict[str, Sequence[str]] = {"train": sets.TUNED_ON, "test": tuple(sets.TESTED)}


async def part(database: Database, folder: Path, jar: JarModel | None, names: Sequence[str], *, smoke: bool) -> Figures:
    """For each set, recall by each method, and how far weave is ahead of each other one."""
    figures: Figures = {}
    async with sets.opened(database, folder, jar) as shelf:
        for name in names:
            dataset = sets.cut(sets.found(name), 5, 10) if smoke else sets.found(name)
            async with shelf.loaded(dataset, "full names") as trueweave:
                ranked = {method: await _ranked(trueweave, dataset, made) for method, made in METHODS.items()}
            figures[name] = _figures(dataset, ranked)
    return figures


async def _ranked(trueweave: AsyncTrueweave, dataset: Dataset, method: Method) -> list[list[str]]:
    deep = deep_enough(method, max(DEPTHS))
    found = [await trueweave.retrieve(question.text, deep) for question in dataset.questions]
    return [[passage.uri for passage in evidence.passages] for evidence in found]


def _figures(dataset: Dataset, ranked: dict[str, list[list[str]]]) -> Figures:
    questions = dataset.questions
    shown: Figures = {"questions": len(questions)}
    for method, each in ranked.items():
        shown[method] = {f"recall@{k}": _percent(interval(_recalls(questions, each, k))) for k in DEPTHS}
        if method != "weave":
            ahead = difference(_recalls(questions, ranked["weave"], 5), _recalls(questions, each, 5))
            shown[method]["weave_ahead_at_5"] = _percent(ahead)
    at_5 = _recalls(questions, ranked["weave"], 5)
    shown["weave"]["by_kind"] = {
        f"{kind} ({number})": round(100 * mean(v for v, q in zip(at_5, questions, strict=True) if q.kind == kind), 1)
        for kind, number in sorted(Counter(question.kind for question in questions).items())
    }
    return shown


def _recalls(questions: Sequence[Question], ranked: Sequence[Sequence[str]], k: int) -> list[float]:
    return [recall(found, one.supporting, k) for found, one in zip(ranked, questions, strict=True)]


def _percent(one: Interval) -> list[float]:
    """Mean, and between which values it lies."""
    return [round(100 * value, 1) for value in (one.mean, one.low, one.high)]


async def run(url: str, folder: Path, options: argparse.Namespace) -> Figures:
    models = {"all-MiniLM-L6-v2": None} if options.smoke else MODELS
    asked = {"train": sets.TUNED_ON[1:]} if options.smoke else SETS
    async with Database(url) as database:
        each = [
            (f"{model} {which}", partial(part, database, folder, jar, names, smoke=options.smoke))
            for which, names in asked.items()
            for model, jar in models.items()
        ]
        return await parts.carried_out(each, options.only)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts.main(parser, run, KEPT, RESULTS)


if __name__ == "__main__":
    main()
