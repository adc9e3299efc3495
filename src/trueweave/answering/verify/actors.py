"""Whether a claim says of the right one that it did something."""

from __future__ import annotations

from collections.abc import Iterator

from trueweave.answering.verify import lexicon
from trueweave.answering.verify.case import Case, Problem
from trueweave.answering.verify.clauses import Clause
from trueweave.answering.verify.roles import Roles, is_verb, roles


def actors(case: Case) -> Iterator[Problem]:
    """What the passage says of one, said of another; or joined from two of its sentences."""
    if case.computed:
        return
    for clause in case.claim.clauses:
        other = case.matching(clause)
        verb = _shared_verb(clause, other)
        if verb is None:
            yield from _from_elsewhere(case, clause)
        else:
            yield from _exchanged(case, clause, other, verb)


def _shared_verb(clause: Clause, other: Clause) -> tuple[int, int] | None:
    """Where the first verb that two clauses share is in each."""
    for at, word in enumerate(clause.words):
        place = next((p for p, one in enumerate(other.words) if one.stem == word.stem), None)
        if place is None or other.words[place : place + 2][-1].text == "with":
            continue  # of two who settled with each other, either may come first
        same = word.lemma == other.words[place].lemma
        if is_verb(clause.words, at) or (same and is_verb(other.words, place)):
            return at, place
    return None


def _exchanged(case: Case, clause: Clause, other: Clause, verb: tuple[int, int]) -> Iterator[Problem]:
    mine, theirs = roles(clause.words, verb[0], clause.borrowed), roles(other.words, verb[1], other.borrowed)
    aside = theirs.actors | theirs.others | case.question.content | lexicon.GENERIC
    if theirs.actors and not mine.actors & theirs.actors:
        if swapped := mine.actors & theirs.others:
            yield Problem(f"by the passage it was not {_written(swapped, clause)} that did this")
        strange = (mine.actors & case.passage.content) - aside
        if strange and not theirs.actors & clause.content:
            yield Problem(f"the passage says this of something other than {_written(strange, clause)}")
    done_to = mine.subject & (theirs.others - theirs.subject) if mine.is_passive and theirs.is_passive else frozenset()
    if done_to and not mine.subject & theirs.subject:
        yield Problem(f"by the passage it was not {_written(done_to, clause)} to which this was done")
    yield from _of_another(case, clause, other, verb[1], mine)


def _of_another(case: Case, clause: Clause, other: Clause, verb: int, mine: Roles) -> Iterator[Problem]:
    """What was done to one, said of another that has a name."""
    named = {one.stem for one in clause.words if one.is_name}
    elsewhere = (mine.others & named & case.passage.content) - other.content - case.question.content
    if elsewhere and any(one.is_name and one.stem not in clause.content for one in other.words[verb + 1 :]):
        yield Problem(f"the passage does not say this of {_written(elsewhere, clause)}")


def _from_elsewhere(case: Case, clause: Clause) -> Iterator[Problem]:
    """What a claim says is done, said by the passage in a sentence other than the one that the claim rests on."""
    elsewhere = (clause.content & case.passage.content) - case.basis_content - case.question.content
    for at, word in enumerate(clause.words):
        if word.lemma in lexicon.COMMON_VERBS or word.stem in case.basis_content or word.stem in case.question.content:
            continue
        past = word.text.endswith("ed") or word.lemma != word.text.casefold()
        if past and is_verb(clause.words, at) and len(elsewhere) > 1 and word.stem in elsewhere:
            yield Problem(f"“{word.text}” is said in another sentence of the passage", contradicted=False)


def _written(stems: set[str] | frozenset[str], clause: Clause) -> str:
    return " ".join(word.text for word in clause.words if word.stem in stems)
