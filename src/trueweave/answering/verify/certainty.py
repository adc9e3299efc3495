"""Whether a claim says more than its passage: of all instead of some, as a fact instead of a guess, or with a cause."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from trueweave.answering.verify import lexicon
from trueweave.answering.verify.case import Case, Problem
from trueweave.answering.verify.clauses import Clause, Word


def quantifiers(case: Case) -> Iterator[Problem]:
    said = case.claim.lemmas & lexicon.UNIVERSAL
    excepted = case.basis_lower & lexicon.EXCEPTIONS and not case.claim.lower & lexicon.EXCEPTIONS
    if said and (not case.basis_lower & lexicon.AS_UNIVERSAL or excepted) and not case.claim.lower & lexicon.NEGATORS:
        yield Problem(f"the passage does not say “{min(said)}”", contradicted=bool(case.basis_lemmas & lexicon.PARTIAL))
    if "only" in case.claim.lower and not case.basis_lower & {"only", "alone", "sole", "none", "no", "one"}:
        yield Problem("the passage does not say “only”", contradicted=False)


def modality(case: Case) -> Iterator[Problem]:
    """What is allowed, required, possible, believed or to come, said in another of these ways or as a fact."""
    for clause in case.claim.clauses:
        other = case.matching(clause)
        shared = clause.content & other.content
        if shared:
            yield from _duties(clause, other)
        if len(shared) > 1 and 2 * len(shared) >= len(clause.content):
            yield from _facts(case, clause, other)


def _duties(clause: Clause, other: Clause) -> Iterator[Problem]:
    mine, theirs = frozenset(clause.lemmas), frozenset(other.lemmas)
    if clause.is_negated:  # what may not be and what must not be are the same
        return
    if mine & lexicon.MUST and theirs & lexicon.MAY and not (theirs & lexicon.MUST or mine & lexicon.MAY):
        yield Problem("it makes a duty of what the passage allows")
    if (
        mine & lexicon.MAY
        and theirs & lexicon.MUST
        and not (theirs & lexicon.MAY or mine & lexicon.MUST or other.is_negated)
    ):
        yield Problem("it makes an option of what the passage requires")


def _facts(case: Case, clause: Clause, other: Clause) -> Iterator[Problem]:
    mine, theirs = frozenset(clause.lemmas), frozenset(other.lemmas)
    certain = case.claim.lemmas & lexicon.CERTAIN - theirs
    hedges = lexicon.HEDGES | lexicon.MAY | (lexicon.FUTURE if theirs & lexicon.FUTURE else frozenset())
    is_hedged = case.claim.lemmas & hedges or _is_to_be(clause)
    if theirs & lexicon.WEAKENING and (certain or not (is_hedged or other.is_negated)):
        yield Problem("it states as a fact what the passage gives as possible, planned or believed", contradicted=False)
    past = any(word.text.casefold() in lexicon.PAST_BE or word.text.endswith("ed") for word in clause.words)
    if "will" in theirs and past and not mine & (lexicon.FUTURE | lexicon.HEDGES):
        yield Problem("the passage speaks of the future")


def _is_to_be(clause: Clause) -> bool:
    return any(pair == ("to", "be") for pair in zip(clause.lemmas, clause.lemmas[1:], strict=False))


def causes(case: Case) -> Iterator[Problem]:
    said = {word.lemma for word, after in pairwise((*case.claim.words, _END)) if _gives_cause(word, after)}
    if not said:
        return
    if not case.basis_lemmas & lexicon.GIVING_CAUSES:
        yield Problem("the passage gives no cause", contradicted=False)
        return
    reason = _after(case.claim.words, said)
    if reason and not reason & case.basis_content:
        yield Problem("the passage gives another cause")


_END = Word(".", ".", -1)


def _gives_cause(word: Word, after: Word) -> bool:
    if word.lemma in ("due", "owe", "thank"):
        return after.lemma == "to"
    return word.lemma in lexicon.CAUSES


def _after(found: Sequence[Word], cues: set[str]) -> set[str]:
    giving = [place for place, word in enumerate(found) if word.lemma in cues & lexicon.BEFORE_CAUSES]
    at = giving[0] if giving else None
    return set() if at is None else {word.stem for word in found[at + 1 :] if word.is_content}
