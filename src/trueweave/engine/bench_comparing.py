"""Compares two methods question by question, with a paired interval and a sentence that says what it means."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from uuid import UUID

from trueweave.core.bench import BenchComparison, BenchSide, ComparedQuestion, FoundBy, Interval
from trueweave.core.bootstrap import difference, interval
from trueweave.store.postgres.record.bench_runs import QuestionScore

_FEW = 30  # questions; with fewer, only large differences show

Side = tuple[UUID, str, Sequence[QuestionScore]]


def compared(a: Side, b: Side, measure: str, found_by: FoundBy | None, after: int, limit: int) -> BenchComparison:
    """The comparison of two sides on the questions that both have."""
    others = {one.asked: one for one in b[2]}
    pairs = [(one, others[one.asked]) for one in a[2] if one.asked in others]
    both = [_question(one, other) for one, other in pairs]
    scores_a, scores_b = [one.a for one in both], [one.b for one in both]
    apart = difference(scores_a, scores_b)
    counts: Counter[FoundBy] = Counter(one.found_by for one in both)
    listed = [one for one in both if one.n_a > after and found_by in (None, one.found_by)]
    return BenchComparison(
        BenchSide(a[0], a[1], interval(scores_a)),
        BenchSide(b[0], b[1], interval(scores_b)),
        measure,
        apart,
        verdict(measure, apart, len(both)),
        {one: counts[one] for one in ("a", "b", "both", "neither")},
        len(a[2]) + len(b[2]) - 2 * len(both),
        tuple(listed[:limit]),
    )


def _question(a: QuestionScore, b: QuestionScore) -> ComparedQuestion:
    found_by: FoundBy = "a" if a.score > b.score else "b" if b.score > a.score else "both" if a.score else "neither"
    return ComparedQuestion(a.n, b.n, a.question, a.kind, a.score, b.score, found_by)


def verdict(measure: str, apart: Interval, questions: int) -> str:
    """What a difference means, in one or two sentences."""
    if not questions:
        return "The two runs have no question in common, so they cannot be compared."
    points = abs(100 * apart.mean)
    low, high = (f"{100 * bound:+.1f}" for bound in (apart.low, apart.high))
    span = f"95 % interval {low} to {high}".replace("+0.0", "0.0").replace("-0.0", "0.0")
    few = "" if questions >= _FEW else " With so few questions, only large differences show."
    on = f"on {questions:,} question{'' if questions == 1 else 's'}"
    if not apart.mean and not apart.low and not apart.high:
        return f"A and B score the same by {measure} {on}.{few}"
    if not apart.mean:
        return f"A and B score the same by {measure} {on}, but on different questions ({span}).{few}"
    better, worse = ("A", "B") if apart.mean > 0 else ("B", "A")
    unlikely = "chance is unlikely to explain it" if apart.excludes_zero else "this may be chance"
    unit = "point" if f"{points:.1f}" == "1.0" else "points"
    return f"{better} scores {points:.1f} {unit} more than {worse} by {measure} {on}; {unlikely} ({span}).{few}"
