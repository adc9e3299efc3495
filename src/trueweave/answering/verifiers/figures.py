"""Whether the numbers of a claim are those of its passage: with the same unit, for the same thing, in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import combinations, pairwise

from trueweave.answering.verifiers import lexicon, quantities
from trueweave.answering.verifiers.case import Case, Problem, Statements
from trueweave.answering.verifiers.clauses import Clause, Word
from trueweave.answering.verifiers.quantities import Quantity
from trueweave.answering.verifiers.roles import is_verb

_ABOUT = lexicon.word_set("about the some nearly almost all over")
_CUTS = lexicon.word_set("and or but while whereas than versus")


def unknown(case: Case) -> Iterator[Problem]:
    """A number that is not in the basis of the claim and does not follow from it."""
    before = [one for sentence in case.basis for one in Statements(sentence.before).quantities if one.noun]
    known = [*case.basis_quantities, *case.question.quantities]
    if "same" in case.basis_lemmas:  # as in "in the same year"
        known += [one for one in case.passage.quantities if one.kind == "year"]
    values = {one.value for one in known} | quantities.shares(case.basis_lemmas)
    for one in case.claim.quantities:
        spelt = not case.claim.words[one.place].is_number
        if one.value in values or (spelt and one.value <= 2):
            continue
        if quantities.converted(one, known) or any((one.value, one.noun) == (two.value, two.noun) for two in before):
            continue
        if not quantities.roughly(one, known) and not quantities.computed(
            one, case.given, case.claim.content | case.basis_content
        ):
            yield Problem(f"{_written(one, case.claim.words)} is not in the passage")


def units(case: Case) -> Iterator[Problem]:
    for one in case.claim.quantities:
        same = [other for other in case.basis_quantities if other.value == one.value]
        years = [other for other in case.basis_quantities if other.kind == "year"]
        if not same or (one.kind == "time" and quantities.computed(one, years, case.claim.content)):
            continue
        written = _written(one, case.claim.words)
        if (
            one.unit
            and one.value
            and all((other.unit and other.unit != one.unit) or (not other.unit and other.noun) for other in same)
        ):
            yield Problem(f"the passage does not give {written} in this unit")
        elif one.kind == "percent" and one.value and all(other.kind != "percent" for other in same):
            yield Problem(f"{written} is not a percentage in the passage")
        elif one.period and all(_is_for_another(one.period, other.period, case) for other in same):
            yield Problem(f"the passage does not say {written} a {one.period}")
        elif one.bound and all(other.bound and other.bound != one.bound for other in same):
            yield Problem(f"in the passage {written} is a limit in the other direction")


def _is_for_another(mine: str, theirs: str, case: Case) -> bool:
    return mine != theirs and (bool(theirs) or not _says(case, mine))


def _says(case: Case, period: str) -> bool:
    before = frozenset[str]().union(*(Statements(one.before).lemmas for one in case.basis))
    return bool({period, f"{period}ly"} & (case.basis_lemmas | before))


def groups(case: Case) -> Iterator[Problem]:
    """A number that the passage gives for something else."""
    if case.computed or all(_is_gapped(clause, case.matching(clause)) for clause in case.claim.clauses):
        return
    segments = [segment for sentence in case.basis for segment in _segments(sentence.words)]
    counted = {one.noun: one.value for sentence in case.basis for one in sentence.quantities if one.noun}
    for mine in _segments(case.claim.words):
        own = quantities.quantities(mine)
        for one in own:
            if one.noun in counted and counted[one.noun] != one.value and _is_counted_otherwise(one, case):
                yield Problem(f"in the passage {_written(one, mine)} does not count {_counted(one, mine)}")
            yield from _of_another(one, mine, segments)
        yield from _paired_otherwise(own, mine, segments)


def _counted(one: Quantity, found: Sequence[Word]) -> str:
    return next((word.text for word in found[one.end :] if word.stem == one.noun), "this")


def _is_gapped(clause: Clause, other: Clause) -> bool:
    """Whether all of a clause is in one without a verb: "and the highest, 241 metres, in 2013"."""
    return not other.has_verb and clause.has_verb and clause.content <= other.content


def _is_counted_otherwise(one: Quantity, case: Case) -> bool:
    same = [other for other in case.basis_quantities if other.value == one.value]
    said = (other for other in case.claim.quantities if other.value == one.value)  # including the bound before it
    known = case.basis_quantities
    is_rough = any(quantities.roughly(other, known) or quantities.converted(other, known) for other in said)
    return all(other.noun and other.noun != one.noun for other in same) and not is_rough


def _of_another(one: Quantity, mine: Sequence[Word], segments: Sequence[Sequence[Word]]) -> Iterator[Problem]:
    own: set[str] = set()
    near: set[str] = set()
    rivals: set[str] = set()
    for segment in segments:
        found = quantities.quantities(segment)
        same = [other for other in found if other.value == one.value]
        if same:
            own |= _described(segment)
            near |= _described(segment[max(0, same[0].place - 8) : same[0].end + 6])
        elif any(other.kind == one.kind or other.is_bare for other in found):
            rivals |= _described(segment)
    said = _described(mine)
    strange = (said & rivals) - own
    if near and strange and (near - rivals) - said - {_plain(one)}:
        yield Problem(f"the passage gives {_written(one, mine)} for something else")


def _paired_otherwise(
    own: Sequence[Quantity], mine: Sequence[Word], segments: Sequence[Sequence[Word]]
) -> Iterator[Problem]:
    """Two numbers in one segment, each of which the passage puts together with another."""
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
    """A number as these words write it, as in "9.9 million" and "minus 31"; 1 for the "a" of "within a week"."""
    if found[one.place].lemma in ("a", "an"):
        return "1"
    start = one.place - 1 if one.value < 0 else one.place
    return " ".join(word.text for word in found[start : one.end])


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
    return _with_subjects([part for part in parts if part])


def _with_subjects(parts: Sequence[list[Word]]) -> list[list[Word]]:
    """The parts, where one with only a number, or with "those of", is completed by the words before it: "lost most, 6
    %"."""
    made: list[list[Word]] = []
    for part in parts:
        spoken = [word for word in part if word.is_content and word.lemma not in lexicon.UNITS]
        if made and not spoken and sum(word.is_number for word in part) == 1:
            made[-1] += part
        elif made and part[0].lemma in ("those", "that"):
            made.append([*_without(made[-1], part[1].lemma if len(part) > 1 else ""), *part])
        else:
            made.append(part)
    return made


def _without(found: Sequence[Word], preposition: str) -> Iterator[Word]:
    """These words without their numbers and without the phrase after a preposition: "Nurses slept" from "Nurses on
    nights slept"."""
    behind = False
    for at, word in enumerate(found):
        if word.lemma == preposition:
            behind = True
        elif behind and (not word.is_content or is_verb(found, at)):
            behind = False
        if not behind and not word.is_number:
            yield word


def parts(case: Case) -> Iterator[Problem]:
    """The whole in place of the part: all 96 hangers, where the passage says 14 of the 96."""
    if case.computed:
        return
    wholes = {whole: part for sentence in case.basis for part, whole in _parts(sentence)}
    claimed = {one.value for one in case.claim.quantities}
    own = {whole for _, whole in _parts(case.claim)}
    yield from _of_them(case, claimed)
    for one in case.claim.quantities:
        if one.value in wholes and wholes[one.value] not in claimed and one.value not in own and _acts(case):
            yield Problem(f"the passage says {wholes[one.value]:f} of {one.value:f}")


def _of_them(case: Case, claimed: set[Decimal]) -> Iterator[Problem]:
    """Something that is true only of some: "212 recipes, 70 of them for fish" are not 212 for fish."""
    for sentence in case.basis:
        for whole, part in pairwise(sentence.quantities):
            after = sentence.words[part.end : part.end + 6]
            if [word.lemma for word in after[:2]] not in [
                ["of", "them"],
                ["of", "these"],
                ["of", "which"],
                ["of", "whom"],
            ]:
                continue
            said = {word.stem for word in after if word.is_content}
            if whole.value in claimed and part.value not in claimed and said & case.claim.content:
                yield Problem(f"the passage says this of {_plain(part)} of them")


def _parts(statements: Statements) -> Iterator[tuple[Decimal, Decimal]]:
    """Each "14 of the 96" or "of 96 hangers 14" in a sentence, as (part, whole)."""
    found, said = statements.words, statements.quantities
    for one, other in pairwise(said):
        between = {word.lemma for word in found[one.end : other.place]}
        before = found[one.place - 1].lemma if one.place else ""
        if "of" in between and between <= {"of", "the", "its", "out", "his", "her", "their", "all"}:
            yield one.value, other.value
        elif before == "of" or (before in _ABOUT and one.place > 1 and found[one.place - 2].lemma == "of"):
            smaller = one.noun and other.kind == one.kind and other.value < one.value
            yield from [(other.value, one.value)] if smaller else []


def _acts(case: Case) -> bool:
    """Whether the claim says, like the passage, that something was done, and not only how many there are."""
    found = case.claim.words
    return any(word.stem in case.basis_content and is_verb(found, at) for at, word in enumerate(found))
