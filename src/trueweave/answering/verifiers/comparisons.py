"""Whether a claim that compares two things has them the right way round."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from trueweave.answering.verifiers import lexicon, quantities
from trueweave.answering.verifiers.case import Case, Problem, Statements
from trueweave.answering.verifiers.clauses import Word
from trueweave.answering.verifiers.times import MONTHS, WEEKDAYS

_ENDS = frozenset(";:,—–()") | lexicon.word_set("but while whereas although though because since")
_SIDES = lexicon.word_set("ahead north south east west")  # followed by "of"
_REACH = 6  # words between "longer" and "than"
_FACTORS = lexicon.word_set("twice time half double triple")
_NO_COMPARISON = lexicon.word_set("other rather either whether former later after over under number never")
_DATES = MONTHS | WEEKDAYS
_IN_ANY_RESPECT = lexicon.word_set("more less few fewer")
_MORE = lexicon.word_set("more high large big great long heavy tall old fast deep wide strong")
_LESS = lexicon.SMALL


@dataclass(frozen=True)
class ComparisonClaim:
    """What is compared with what, and in what respect: `word` is true of `left` rather than of `right`."""

    word: str
    left: frozenset[str]
    right: frozenset[str]


def comparisons(statements: Statements) -> list[ComparisonClaim]:
    """The comparisons in a sentence: A is longer than B, A is north of B, A is twice as long as B."""
    found = statements.words
    made = []
    for at, word in enumerate(found):
        if word.lemma == "than" and not _is_amount(found, at + 1) and (degree := _degree(found, at)) is not None:
            made.append(_between(found, degree, at, _dimension(found, degree)))
        elif (
            word.lemma == "behind"
            or _is_when(found, at)
            or (word.lemma in _SIDES and found[at + 1 : at + 2] and found[at + 1].lemma == "of")
        ):
            made.append(_between(found, at, at, word.lemma))
        elif word.lemma == "prefer" and (to := _preferred_to(found, at)):
            made.append(ComparisonClaim("more", _stems(found[at + 1 : to]), _stems(found[to + 1 :])))
        elif word.lemma == "as" and (first := _first_as(found, at)) is not None:
            made.append(_between(found, first, at, "less" if found[first].lemma == "half" else "more"))
    return [one for one in made if one.left and one.right]


def compared(case: Case) -> Iterator[Problem]:
    """A comparison that the passage makes the other way round, or whose numbers there say the opposite."""
    for mine in comparisons(case.claim):
        if mine.word not in ("before", "after") and agreement(mine, case) is False:
            yield Problem("the passage compares these the other way round")


def confirmed(case: Case) -> bool:
    """Whether the passage makes a comparison of the claim, or its converse with the opposite word."""
    if any(clause.is_negated for clause in (*case.claim.clauses, *case.shown)):
        return False
    return any(agreement(one, case) for one in comparisons(case.claim))


def agreement(mine: ComparisonClaim, case: Case) -> bool | None:
    """Whether a passage makes a comparison (True) or its opposite (False); None if it makes neither."""
    for other in (one for sentence in case.basis for one in comparisons(sentence)):
        if (turned := _is_turned(mine, other)) is not None and (
            opposite := _is_opposite(mine.word, other.word)
        ) is not None:
            return turned == opposite
    return _by_numbers(mine, case)


def _degree(found: Sequence[Word], than: int) -> int | None:
    """The position of the comparative before a "than"."""
    for at in range(than - 1, max(-1, than - 1 - _REACH), -1):
        word = found[at]
        if word.text in _ENDS:
            return None
        if word.lemma in _NO_COMPARISON:
            continue
        if word.lemma in ("more", "less", "fewer") or word.text.casefold().endswith("er"):
            return at
    return None


def _preferred_to(found: Sequence[Word], at: int) -> int | None:
    return next((place for place in range(at + 2, len(found)) if found[place].lemma == "to"), None)


def _is_when(found: Sequence[Word], at: int) -> bool:
    """Whether "before" or "after" at this position puts two named things in order."""
    following = found[at + 1 : at + 2]
    return (
        found[at].lemma in ("before", "after")
        and bool(following)
        and following[0].text.casefold() not in _DATES
        and following[0].is_name
        and at > 1
    )


def _is_amount(found: Sequence[Word], at: int) -> bool:
    return at < len(found) and (
        found[at].is_number or found[at].text.casefold() in lexicon.NUMERALS or found[at].lemma in _FACTORS
    )


def _dimension(found: Sequence[Word], at: int) -> str:
    word = lexicon.base(found[at].lemma)
    following = found[at + 1] if at + 1 < len(found) else None
    if word == "more" and _stems(found[:at]) and following is not None and following.lemma in lexicon.OPPOSITES:
        return following.lemma
    return word


def _first_as(found: Sequence[Word], at: int) -> int | None:
    """The position where "twice as long as" begins, if the "as" at this position ends it."""
    for first in range(at - 1, max(0, at - 4), -1):
        if found[first].lemma == "as" and found[first - 1].lemma in _FACTORS:
            return first - 1
    return None


def _between(found: Sequence[Word], degree: int, than: int, word: str) -> ComparisonClaim:
    between = _stems(found[degree + 1 : than])  # as in "more men than women"
    left = _stems(reversed(found[:degree]))
    left = left | between if found[than].lemma == "than" else left or between
    right = _stems(found[than + 1 :])
    return ComparisonClaim(word, left - right, right - left)


def _stems(found: Iterator[Word] | Sequence[Word]) -> frozenset[str]:
    taken = []
    for word in found:
        if word.text.casefold() in _ENDS:
            break
        if word.is_content or word.is_number:
            taken.append(word.text if word.is_number else word.stem)
    return frozenset(taken)


def _is_turned(mine: ComparisonClaim, other: ComparisonClaim) -> bool | None:
    """Whether left and right are exchanged between the two; None if they compare different things."""
    crossed = [mine.left & other.right, mine.right & other.left]
    straight = mine.left & other.left or mine.right & other.right
    if all(crossed) or (any(crossed) and not straight):
        return True
    return None if any(crossed) or not straight else False


def _is_opposite(one: str, other: str) -> bool | None:
    """Whether two comparatives point in opposite directions; None if they concern different respects."""
    if one == other:
        return False
    if other in lexicon.OPPOSITES.get(one, ()):
        return True
    return (one in _LESS) != (other in _LESS) if {one, other} & _IN_ANY_RESPECT else None


def _by_numbers(mine: ComparisonClaim, case: Case) -> bool | None:
    """Whether the numbers in the passage for the two things support a comparison; None if there are none."""
    if mine.word not in _MORE | _LESS:
        return None
    names = {word.stem for word in case.claim.words if word.is_name}
    left, right = mine.left & names, mine.right & names
    if not left or not right:
        return None
    respect = case.claim.content - names
    verdicts = {
        (one > other) == (mine.word in _MORE)
        for kind, one in _numbers(left, right, respect, case)
        for same, other in _numbers(right, left, respect, case)
        if (kind == same or not (kind and same)) and one != other
    }
    return verdicts.pop() if len(verdicts) == 1 else None


def _numbers(of: frozenset[str], but: frozenset[str], respect: frozenset[str], case: Case) -> list[tuple[str, Decimal]]:
    """The numbers, with what they measure, in clauses about `of` in this respect that do not mention `but`."""
    return [
        (one.kind or one.noun, one.value)
        for clause in case.passage_clauses
        if clause.content & of and clause.content & respect and not clause.content & but
        for one in quantities.quantities(clause.words)
        if one.kind != "year"
    ]
