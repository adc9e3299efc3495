"""The result of a benchmark in a few sentences."""

from __future__ import annotations

from collections.abc import Iterator

from trueweave.bench.measures import EVIDENCE_WITHIN
from trueweave.bench.results import Results
from trueweave.core.money import money

_NUMBERS = ("no", "first", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def verdict(found: Results) -> str:
    """The best method, how much it finds of what it should, and how the second best compares. Of several indexes also
    whether the graph helps, and at what cost."""
    return " ".join((_best(found), *_graph(found), *_cost(found)))


def _graph(found: Results) -> Iterator[str]:
    """Whether the best method that uses the graph finds more than the best that does not, and what a question takes."""
    if gain := found.graph:
        low, high = (_signed(round(100 * bound)) for bound in (gain.interval.low, gain.interval.high))
        using, without = found.method(gain.using), found.method(gain.without)
        is_ahead = gain.interval.mean > 0
        helps = (
            "The graph does not help on these questions"
            if not is_ahead
            else "The graph helps on these questions"
            if gain.interval.excludes_zero
            else "These questions do not show that the graph helps"
        )
        times = f"{1000 * using.p50:,.0f} ms a question instead of {1000 * without.p50:,.0f}"
        points = f"{abs(100 * gain.interval.mean):.1f} points {'more' if is_ahead else 'less'}"
        yield (
            f"{helps}: {using.name} finds {points} than "
            f"{without.name}, the best without it (95 % interval {low} to {high}), and takes {times}."
        )


def _cost(found: Results) -> Iterator[str]:
    """What the index of the best method took."""
    if found.indexes:
        index = found.index_of(found.best(found.leading).name)
        price = "an unknown price" if index.price is None else money(index.price, found.currency) if index.price else ""
        took = [f"{index.seconds:,.1f} s", *([price] if price else []), f"{index.size / 1e6:,.1f} MB"]
        yield f"The index of the best takes {', '.join(took[:-1])} to build and {took[-1]} of rows and vectors."


def _best(found: Results) -> str:
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
