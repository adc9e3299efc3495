"""Whether a claim puts something at the time that its passage gives for it."""

from __future__ import annotations

from collections.abc import Iterator

from trueweave.answering.verify import lexicon, quantities
from trueweave.answering.verify.case import Case, Problem
from trueweave.answering.verify.clauses import Clause

MONTHS = lexicon.word_set("january february march april may june july august september october november december")
WEEKDAYS = lexicon.word_set("monday tuesday wednesday thursday friday saturday sunday")


def times(case: Case) -> Iterator[Problem]:
    """A month, a weekday or a year that the passage gives for something else."""
    if case.computed:
        return
    for clause in case.claim.clauses:
        other = case.matching(clause)
        for of_kind in (_months, _weekdays, _years):
            mine, theirs = of_kind(clause), of_kind(other)
            if theirs and (strange := mine - theirs - of_kind(Clause(tuple(case.question.words)))):
                yield Problem(f"the passage does not say this of {min(strange).capitalize()}")


def _months(clause: Clause) -> frozenset[str]:
    return frozenset(word.text.casefold() for word in clause.words if word.text[0].isupper()) & MONTHS


def _weekdays(clause: Clause) -> frozenset[str]:
    return frozenset(word.text.casefold() for word in clause.words) & WEEKDAYS


def _years(clause: Clause) -> frozenset[str]:
    found = quantities.quantities((*clause.borrowed, *clause.words))
    return frozenset(f"{one.value:f}" for one in found if one.kind == "year" and not one.noun)
