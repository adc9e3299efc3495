"""Confidence intervals of means, by bootstrap.

Questions are resampled with replacement, many times, and the middle 95 % of the means are the interval. The seed is
fixed, so that a report is always the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from trueweave.core.bench import Interval

RESAMPLES = 2000
_SEED = 20240607
_AT_ONCE = 100  # resamples; all of them would take gigabytes for a large set


def interval(values: Sequence[float]) -> Interval:
    """The mean of one number per question, with its interval."""
    if not values:
        return Interval(0.0, 0.0, 0.0)
    numbers = np.asarray(values, dtype=np.float64)
    low, high = np.percentile(_means(numbers), (2.5, 97.5))
    return Interval(float(numbers.mean()), float(low), float(high))


def difference(a: Sequence[float], b: Sequence[float]) -> Interval:
    """The mean difference between a and b, question by question, with its interval.

    The same questions are drawn for both, so how hard a question is for both does not count.
    """
    return interval([x - y for x, y in zip(a, b, strict=True)])


def _means(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    chance = np.random.default_rng(_SEED)
    size = len(numbers)
    some = [numbers[chance.integers(0, size, (_AT_ONCE, size))].mean(axis=1) for _ in range(RESAMPLES // _AT_ONCE)]
    return np.concatenate(some)
