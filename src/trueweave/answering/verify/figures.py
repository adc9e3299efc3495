"""Whether the numbers of a claim are those of its passage: with the same unit, for the same thing, in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from trueweave.answering.verify import lexicon, quantities
from trueweave.answering.verify.case import Case, Problem
from trueweave.answering.verify.clauses import Word
from trueweave.answering.verify.quantities import Quantity

_CUTS = lexicon.word_set("and or but while whereas than versus")


def unknown(case: Case) -> Iterator[Problem]:
    """A number that neither stands in what the claim rests on nor follows from it."""
    known = [*case.basis_quantities, *case.question.quantities]
    values = {one.value for one in known}
    for one in case.claim.quantities:
        spelt = not case.claim.words[one.place].is_number
        if one.value in values or (spelt and one.value <= 2):
            continue
        if not quantities.roughly(one, known) and not quantities.computed(
            one, case.basis_quantities, case.claim.content
        ):
            yield Problem(f"{_written(one, case.claim.words)} is not in the passage", contradicted=False)


def units(case: Case) -> Iterator[Problem]:
    for one in case.claim.quantities:
        same = [other for other in case.basis_quantities if other.value == one.value]
        if not same:
            continue
        written = _written(one, case.claim.words)
        if one.unit and all(
            (other.unit and other.unit != one.unit) or (not other.unit and other.noun) for other in same
        ):
            yield Problem(f"{written} is in {one.unit} here, and in the passage it is not")
        elif one.kind == "percent" and all(other.kind != "percent" for other in same):
            yield Problem(f"{written} is not a percentage in the passage")
        elif one.period and all(other.period != one.period for other in same) and not _says(case, one.period):
            yield Problem(f"the passage does not say {written} a {one.period}")
        elif one.bound and all(other.bound and other.bound != one.bound for other in same):
            yield Problem(f"the passage bounds {written} from the other side")


def _says(case: Case, period: str) -> bool:
    return period in case.basis_lemmas or f"{period}ly" in case.basis_lemmas


def groups(case: Case) -> Iterator[Problem]:
    """A number that the passage gives for one thing, said of another."""
    if case.computed:
        return
    segments = [segment for sentence in case.basis for segment in _segments(sentence.words)]
    counted = {one.noun: one.value for sentence in case.basis for one in sentence.quantities if one.noun}
    for mine in _segments(case.claim.words):
        own = quantities.quantities(mine)
        for one in own:
            if one.noun in counted and counted[one.noun] != one.value and _is_counted_otherwise(one, case):
                yield Problem(f"in the passage {_written(one, mine)} does not count “{one.noun}…”")
            yield from _of_another(one, mine, segments)
        yield from _paired_otherwise(own, mine, segments)


def _is_counted_otherwise(one: Quantity, case: Case) -> bool:
    same = [other for other in case.basis_quantities if other.value == one.value]
    return all(other.noun and other.noun != one.noun for other in same) and not quantities.roughly(
        one, case.basis_quantities
    )


def _of_another(one: Quantity, mine: Sequence[Word], segments: Sequence[Sequence[Word]]) -> Iterator[Problem]:
    own: set[str] = set()
    near: set[str] = set()
    rivals: set[str] = set()
    for segment in segments:
        found = quantities.quantities(segment)
        same = [other for other in found if other.value == one.value]
        if same:
            own |= _described(segment)
            near |= _described(segment[max(0, same[0].place - 5) : same[0].end + 6])
        elif any(other.kind == one.kind or other.is_bare for other in found):
            rivals |= _described(segment)
    said = _described(mine)
    strange = (said & rivals) - own
    if near and strange and (near - rivals) - said - {_plain(one)}:
        yield Problem(f"the passage gives {_written(one, mine)} for something else")


def _paired_otherwise(
    own: Sequence[Quantity], mine: Sequence[Word], segments: Sequence[Sequence[Word]]
) -> Iterator[Problem]:
    """Two numbers put together, each of which the passage puts together with another."""
    pairs = [{other.value for other in quantities.quantities(segment)} for segment in segments]
    for one, other in combinations(own, 2):
        with_one = [pair for pair in pairs if one.value in pair]
        with_other = [pair for pair in pairs if other.value in pair]
        apart = with_one and with_other and not any(other.value in pair for pair in with_one)
        if apart and all(len(pair) > 1 for pair in (*with_one, *with_other)):
            both = f"{_written(one, mine)} and {_written(other, mine)}"
            yield Problem(f"the passage does not put {both} together")


def _described(segment: Sequence[Word]) -> set[str]:
    found = quantities.quantities(segment)
    spoken = {word.stem for word in segment if word.is_content and word.lemma not in lexicon.UNITS}
    return spoken | {_plain(one) for one in found}


def _written(one: Quantity, found: Sequence[Word]) -> str:
    """A number as these words write it, as in "9.9 million"."""
    return " ".join(word.text for word in found[one.place : one.end])


def _plain(one: Quantity) -> str:
    return f"{one.value.normalize():f}"


def _segments(found: Sequence[Word]) -> list[list[Word]]:
    """The parts of a sentence between commas and the like."""
    parts: list[list[Word]] = [[]]
    for word in found:
        if word.text in ",;:()—–" or word.text.casefold() in _CUTS:
            parts.append([])
        else:
            parts[-1].append(word)
    return [part for part in parts if part]


def order(case: Case) -> Iterator[Problem]:
    """From 5 to 12 is not from 12 to 5."""
    for low, high in _ranges(case.claim.words):
        if any((high, low) == other for sentence in case.basis for other in _ranges(sentence.words)):
            yield Problem(f"the passage goes from {high} to {low}, not from {low} to {high}")


def _ranges(found: Sequence[Word]) -> Iterator[tuple[str, str]]:
    for at in range(len(found) - 3):
        if (
            found[at].lemma == "from"
            and found[at + 1].is_number
            and found[at + 2].lemma == "to"
            and found[at + 3].is_number
        ):
            yield found[at + 1].text, found[at + 3].text
