"""Recall at 5 of several methods on the same questions, beside that of `fuse`."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import mean

from parts import Figures

from trueweave import AsyncTrueweave
from trueweave.bench.experiment import Experiment
from trueweave.bench.measures import Measure
from trueweave.bench.types import Dataset
from trueweave.core.bootstrap import difference
from trueweave.extend import Method

MEASURE = Measure("recall", 5)


async def beside_fuse(trueweave: AsyncTrueweave, dataset: Dataset, methods: Mapping[str, Method]) -> Figures:
    """For each method, recall at 5 in per cent, and how far it is ahead of the one called `fuse`, with the interval."""
    ran = await Experiment(trueweave, dataset, methods, [MEASURE]).run(None)
    ranked = {(one.method, one.question): one.ranked for one in ran.outcomes}
    values = {
        method: [MEASURE.of(ranked[method, one.id], one.supporting) for one in dataset.questions] for method in methods
    }
    figures: Figures = {}
    for method, of_it in values.items():
        ahead = difference(of_it, values["fuse"])
        figures[method] = {
            "recall@5": round(100 * mean(of_it), 1),
            "ahead_of_fuse": [round(100 * value, 1) for value in (ahead.mean, ahead.low, ahead.high)],
        }
    return figures
