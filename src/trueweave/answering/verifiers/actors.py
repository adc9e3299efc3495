"""Whether a claim says that the right person or thing did something."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from trueweave.answering.verifiers import lexicon
from trueweave.answering.verifiers.case import Case, Problem, opposites
from trueweave.answering.verifiers.clauses import Clause, Word
from trueweave.answering.verifiers.comparisons import confirmed
from trueweave.answering.verifiers.roles import Roles, is_plain_verb, is_verb, roles, slots


def actors(case: Case) -> Iterator[Problem]:
    """Problems where the passage says something of one actor and the claim says it of another."""
    if case.computed or case.is_paraphrase or confirmed(case):
        return
    for clause in case.claim.clauses:
        other, verb = _same_verb(case, clause)
        if verb is not None:
            yield from _exchanged(case, clause, other, verb)
        yield from _crossed(case, clause, other)


def _same_verb(case: Case, clause: Clause) -> tuple[Clause, tuple[int, int] | None]:
    """The clause of the passage most like one of the claim that has its verb, or else simply the one most like it."""
    nearest = case.matching(clause)
    for other in (nearest, *case.shown):
        verb = _shared_verb(clause, other)
        if verb is not None and is_plain_verb(clause.words, verb[0]) and is_plain_verb(other.words, verb[1]):
            return other, verb
    return nearest, _shared_verb(clause, nearest)


def _crossed(case: Case, clause: Clause, other: Clause) -> Iterator[Problem]:
    """Two names that have changed places: the takeover of A by B, and of B by A."""
    if opposites(clause, other):  # north of and south of
        return
    mine, theirs = slots(clause, case.names), slots(other, case.names)
    for one, another in combinations(sorted(mine.keys() & theirs.keys()), 2):
        crossed = mine[one] == theirs[another] and mine[another] == theirs[one]
        if crossed and mine[one] != mine[another] and "?" not in (mine[one], mine[another]):
            yield Problem("in the passage it is the other way round")


def _shared_verb(clause: Clause, other: Clause) -> tuple[int, int] | None:
    """The positions in both clauses of a verb that they share: the first that is surely a verb, or else the first that
    may be."""
    shared = list(_shared_verbs(clause, other))
    plain = (pair for pair in shared if is_plain_verb(clause.words, pair[0]))
    return next(plain, shared[0] if shared else None)


def _shared_verbs(clause: Clause, other: Clause) -> Iterator[tuple[int, int]]:
    for at, word in enumerate(clause.words):
        place = next((p for p, one in enumerate(other.words) if one.stem == word.stem), None)
        if place is None or other.words[place : place + 2][-1].text == "with":
            continue  # of two parties who settled with each other, either may come first
        same = word.lemma == other.words[place].lemma and not _is_counted(clause.words, at)
        if is_verb(clause.words, at) or (same and is_verb(other.words, place)):
            yield at, place


def _is_counted(found: Sequence[Word], at: int) -> bool:
    """Whether a word is a noun because a number or an article precedes it: 11 votes."""
    return at > 0 and (found[at - 1].is_number or found[at - 1].text.casefold() in ("the", "a", "an"))


def _does(case: Case, verb: str, actors: frozenset[str]) -> bool:
    """Whether any clause of the basis says that one of these does this."""
    for clause in case.shown:
        gapped = not clause.has_verb and any(word.stem == verb for word in clause.borrowed)
        if gapped and any(word.stem in actors for word in clause.words):
            return True
        at = next((place for place, word in enumerate(clause.words) if word.stem == verb), None)
        if at is not None and roles(clause.words, at, clause.borrowed).actors & actors:
            return True
    return False


def _exchanged(case: Case, clause: Clause, other: Clause, verb: tuple[int, int]) -> Iterator[Problem]:
    mine, theirs = roles(clause.words, verb[0], clause.borrowed), roles(other.words, verb[1], other.borrowed)
    does = _does(case, clause.words[verb[0]].stem, mine.actors)
    if theirs.actors and not mine.actors & theirs.actors and not does:
        yield from _by_another(case, clause, mine.actors, theirs)
    if mine.is_passive and theirs.is_passive and not mine.subject & theirs.subject:
        if done_to := mine.subject & (theirs.others - theirs.subject):
            yield Problem(f"the passage does not say that this was done to {_written(done_to, clause)}")
        if strange := _apart(mine.subject, theirs.subject, case):
            yield Problem(f"the passage says this of something other than {_written(strange, clause)}")
    if not (does or theirs.actors or mine.is_passive or theirs.is_passive):  # the passage has a pronoun as the actor
        places = slots(other, mine.actors & case.names)
        if swapped := frozenset(stem for stem, slot in places.items() if slot not in ("", "?")):
            yield Problem(f"the passage does not say that {_written(swapped, clause)} did this")
    yield from _of_another(case, clause, other, verb[1], mine)


def _by_another(case: Case, clause: Clause, actors: frozenset[str], theirs: Roles) -> Iterator[Problem]:
    """Problems where the claim gives another actor than the passage."""
    if swapped := actors & theirs.others:
        yield Problem(f"the passage does not say that {_written(swapped, clause)} did this")
    known = theirs.actors | theirs.others | case.question.content | lexicon.GENERIC
    strange = (actors & case.passage.content) - known
    if strange and not theirs.actors & clause.content:
        yield Problem(f"the passage says this of something other than {_written(strange, clause)}")
    others = actors & case.names & case.passage.content
    if others and theirs.actors & case.names & clause.content:
        yield Problem(f"the passage does not say that {_written(others, clause)} did this")
    if not theirs.actors & clause.content and (apart := _apart(actors, theirs.actors, case)):
        yield Problem(f"the passage says this of something other than {_written(apart, clause)}")


def _apart(mine: frozenset[str], theirs: frozenset[str], case: Case) -> frozenset[str]:
    """The words of `mine` if they mean something other than `theirs`: a sentence of the passage, or the question, has
    both."""
    either = mine - theirs - lexicon.GENERIC
    if not either or not theirs - mine:
        return frozenset()
    for sentence in (*case.passage_sentences, case.question):
        if either <= sentence.content and theirs & sentence.content:
            return either
    return frozenset()


def _of_another(case: Case, clause: Clause, other: Clause, verb: int, mine: Roles) -> Iterator[Problem]:
    """Problems where the claim names another object of the action than the passage."""
    named = {one.stem for one in clause.words if one.is_name}
    elsewhere = (mine.others & named & case.passage.content) - other.content - case.question.content
    if elsewhere and any(one.is_name and one.stem not in clause.content for one in other.words[verb + 1 :]):
        yield Problem(f"the passage does not say this of {_written(elsewhere, clause)}")


def _written(stems: set[str] | frozenset[str], clause: Clause) -> str:
    return " ".join(word.text for word in clause.words if word.stem in stems)
