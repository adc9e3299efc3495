"""The result of a benchmark in one sentence."""

from __future__ import annotations

from trueweave.bench.measures import EVIDENCE_WITHIN
from trueweave.bench.results import Results

_NUMBERS = ("no", "first", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def verdict(found: Results) -> str:
    """The best method, how much it finds of what it should, and how the second best compares."""
    best = found.best(found.leading)
    where = "On your questions" if found.own else f"On {found.dataset}"
    first = f"{where}, {best.name} {_finds(found, best.scores[found.leading].mean)}"
    others = sorted((one for one in found.methods if one is not best), key=lambda one: -one.scores[found.leading].mean)
    if not others:
        return f"{first}."
    next_best = others[0]
    compared = found.difference(found.leading, next_best.name)
    assert compared, "every method but the best is compared with it"
    low, high = (round(100 * bound) for bound in (compared.interval.low, compared.interval.high))
    span = f"95 % interval {_signed(low)} to {_signed(high)}"
    points = round(-100 * compared.interval.mean)
    if not points and not compared.significant:
        return f"{first}; {next_best.name} finds as much ({span})."
    less = "less than a point less" if points < 1 else "1 point less" if points == 1 else f"{points} points less"
    chance = "" if compared.significant else ", which may be chance"
    return f"{first}; {next_best.name} finds {less}{chance} ({span})."


def _finds(found: Results, mean: float) -> str:
    what, _, depth = found.leading.partition("@")
    if what == "evidence":
        return f"finds {100 * mean:.0f} % of the words of the evidence in its first {EVIDENCE_WITHIN:,} characters"
    if what != "recall":
        return f"scores {mean:.2f} by {found.leading}"
    k = int(depth)
    first = "in first place" if k == 1 else f"in its first {_NUMBERS[k] if k < len(_NUMBERS) else k}"
    return f"finds {100 * mean:.0f} % of the supporting {found.ranked} {first}"


def _signed(points: int) -> str:
    return f"+{points}" if points > 0 else str(points)
