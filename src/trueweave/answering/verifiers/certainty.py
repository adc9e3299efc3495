"""Whether a claim says more than its passage: all instead of some, a fact instead of a guess, or a cause."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from trueweave.answering.verifiers import lexicon
from trueweave.answering.verifiers.case import Case, Problem, Statements
from trueweave.answering.verifiers.clauses import Clause, Word
from trueweave.text.lemmas import IRREGULAR

_END = Word(".", ".", -1)
_AHEAD = lexicon.FUTURE | lexicon.word_set("mean aim wish would")
_ORDINALS = lexicon.word_set("other second third fourth fifth tenth few")


def quantifiers(case: Case) -> Iterator[Problem]:
    said = _universal(case.claim.words)
    excepted = any(map(_excepts, case.basis)) and not _excepts(case.claim)
    if said and (not any(map(_says_universal, case.basis)) or excepted) and not case.claim.lower & lexicon.NEGATORS:
        yield Problem(f"the passage does not say “{min(said)}”")
    if (ranked := _superlatives(case.claim.words)) & _ranked(case):
        yield Problem(f"the passage does not say that it is the {min(ranked)}")
    if "only" in case.claim.lower and not case.basis_lower & {"only", "alone", "sole", "none", "no", "one"}:
        yield Problem("the passage does not say “only”")


def _excepts(sentence: Statements) -> bool:
    lemmas = [word.lemma for word in sentence.words]
    return "except" in lemmas or ("all", "but") in pairwise(lemmas)


def _superlatives(found: Sequence[Word]) -> set[str]:
    """The superlatives in a sentence without an ordinal number before them: best, but not second best."""
    return {
        word.text.casefold()
        for before, word in pairwise((_END, *found))
        if before.lemma not in _ORDINALS and (word.text.endswith("est") or word.lemma in ("best", "most", "worst"))
    }


def _ranked(case: Case) -> set[str]:
    """The superlatives that the basis has only after an ordinal number."""
    every = {word.text.casefold() for sentence in case.basis for word in sentence.words}
    return every - {one for sentence in case.basis for one in _superlatives(sentence.words)}


def _universal(found: Sequence[Word]) -> set[str]:
    """The words of a sentence that refer to all of something; not "in all" and "every second"."""
    return {
        word.lemma
        for before, word, after in zip((_END, *found), found, (*found[1:], _END), strict=False)
        if word.lemma in lexicon.UNIVERSAL
        and not (word.lemma == "all" and before.lemma in ("in", "at", "above", "after") and not after.is_content)
        and not (word.lemma == "every" and (after.lemma in _ORDINALS | lexicon.NUMERALS or after.is_number))
    }


def _says_universal(sentence: Statements) -> bool:
    others = sentence.lower & (lexicon.AS_UNIVERSAL - lexicon.UNIVERSAL)
    return bool(others or _universal(sentence.words))


def modality(case: Case) -> Iterator[Problem]:
    """Problems where the claim states as a fact what is possible, believed or in the future."""
    for clause in case.claim.clauses:
        other = case.matching(clause)
        shared = clause.content & other.content
        if len(shared) > 1 and 2 * len(shared) >= len(clause.content):
            yield from _facts(case, clause, other)


def _facts(case: Case, clause: Clause, other: Clause) -> Iterator[Problem]:
    mine, theirs = frozenset(clause.lemmas), frozenset(other.lemmas)
    certain = case.claim.lemmas & lexicon.CERTAIN - theirs
    hedges = lexicon.HEDGES | lexicon.MAY | lexicon.MUST | (lexicon.FUTURE if theirs & _AHEAD else frozenset())
    is_hedged = case.claim.lemmas & hedges or _is_to_be(clause)
    if theirs & lexicon.WEAKENING and (certain or not (is_hedged or other.is_negated)):
        yield Problem("it states as a fact what the passage gives as possible, planned or believed")
    past = any(_is_past(clause.words, at) for at in range(len(clause.words)))
    if "will" in theirs and past and not mine & (lexicon.FUTURE | lexicon.HEDGES):
        yield Problem("the passage speaks of the future")


def _is_past(found: Sequence[Word], at: int) -> bool:
    lower = found[at].text.casefold()
    return lower in lexicon.PAST_BE or lower.endswith("ed") or (lower in IRREGULAR and lower != found[at].lemma)


def _is_to_be(clause: Clause) -> bool:
    return any(pair == ("to", "be") for pair in zip(clause.lemmas, clause.lemmas[1:], strict=False))


def causes(case: Case) -> Iterator[Problem]:
    said = {word.lemma for word, after in pairwise((*case.claim.words, _END)) if _gives_cause(word, after)}
    if not said:
        return
    if not case.basis_lemmas & lexicon.GIVING_CAUSES:
        yield Problem("the passage gives no cause")
        return
    reason = _after(case.claim.words, said)
    if reason and not reason & (case.basis_content | lexicon.related(case.basis_lemmas)):
        yield Problem("the passage gives another cause")
    elif any(_is_reversed(case.claim, sentence) for sentence in case.basis):
        yield Problem("the passage has cause and effect the other way round")


def _is_reversed(claim: Statements, sentence: Statements) -> bool:
    """Whether the effect in the claim is the cause in the passage, and vice versa."""
    mine, theirs = _effect_and_cause(claim.words), _effect_and_cause(sentence.words)
    if mine is None or theirs is None:
        return False
    crossed = len(mine[0] & theirs[1]), len(mine[1] & theirs[0])
    straight = len(mine[0] & theirs[0]) + len(mine[1] & theirs[1])
    return all(crossed) and sum(crossed) > straight


_BEFORE_CAUSE = lexicon.word_set("because as since after due owing")
_AFTER_CAUSE = lexicon.word_set("so therefore cause")


def _effect_and_cause(found: Sequence[Word]) -> tuple[frozenset[str], frozenset[str]] | None:
    for at, word in enumerate(found):
        if not at and word.lemma in _BEFORE_CAUSE:
            comma = next((place for place, one in enumerate(found) if one.text == ","), None)
            return None if comma is None else (_spoken(found[comma:]), _spoken(found[:comma]))
        if word.lemma in _BEFORE_CAUSE:
            return _spoken(found[:at]), _spoken(found[at + 1 :])
        if at and word.lemma in _AFTER_CAUSE:
            return _spoken(found[at + 1 :]), _spoken(found[:at])
    return None


def _spoken(found: Sequence[Word]) -> frozenset[str]:
    return frozenset(word.stem for word in found if word.is_content)


def _gives_cause(word: Word, after: Word) -> bool:
    if word.lemma in ("due", "owe", "thank"):
        return after.lemma == "to"
    return word.lemma in lexicon.CAUSES


def _after(found: Sequence[Word], cues: set[str]) -> set[str]:
    giving = [
        place
        for place, (word, after) in enumerate(pairwise((*found, _END)))
        if word.lemma in cues & lexicon.BEFORE_CAUSES or (word.lemma == "cause" and after.lemma == "by")
    ]
    at = giving[0] if giving else None
    return set() if at is None else {word.stem for word in found[at + 1 :] if word.is_content}
