"""Whether a claim with nearly all words of a sentence, in its order, has replaced or left out one of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trueweave.answering.verifiers import lexicon
from trueweave.answering.verifiers.alignment import NEGATORS, Token
from trueweave.answering.verifiers.case import Case, Problem
from trueweave.answering.verifiers.clauses import Word, denials
from trueweave.answering.verifiers.roles import is_plain_verb

_BE = lexicon.word_set("is are was were be been being")
_PRONOUNS = lexicon.word_set("it he she they him her them his its their who which")


def literal(case: Case) -> Iterator[Problem]:
    yield from _without(case)
    aligned = case.alignment
    if not aligned.is_literal or case.computed:
        return
    if aligned.missing:
        yield from _replaced(case, aligned.missing[0])
    yield from _denied(case)
    yield from _qualified(case)


def _without(case: Case) -> Iterator[Problem]:
    """A "without" in the claim before something that the passage requires: without a permit, where it says "only
    if"."""
    claim = case.claim.words
    for at, word in enumerate(claim):
        after = [one for one in claim[at + 1 : at + 4] if one.is_content] if word.lemma == "without" else []
        basis = [one for sentence in case.basis for one in sentence.words]
        if after and after[0].stem in case.basis_content and not denials(basis) and not denials(claim[:at]):
            yield Problem(f"the passage does not say “without {after[0].text}”")


def _replaced(case: Case, at: int) -> Iterator[Problem]:
    """A word of the passage in place of another: the insurer, where it says the customer."""
    own, gap = case.alignment.mine[at], case.alignment.gap(at)
    if own.quantity or own.is_negator or not gap or any(one.is_negator for one in gap):
        return
    opposites = lexicon.OPPOSITES.get(lexicon.base(own.word.lemma), frozenset())
    if own.word.stem not in case.passage.content and opposites.isdisjoint(lexicon.base(o.word.lemma) for o in gap):
        return
    theirs = [one for one in gap if not one.quantity and _is_same_sort(case, own, one)]
    if theirs and not (_PRONOUNS & case.alignment.between(at) or _is_said_elsewhere(case, own, theirs[-1])):
        yield Problem(f"the passage says “{theirs[-1].word.text}”, not “{own.word.text}”")


def _is_said_elsewhere(case: Case, own: Token, instead: Token) -> bool:
    """Whether the clause with the word of the claim is about the same thing: "joined the board but left it in 2019"."""
    beside = frozenset[str]().union(*(one.content for one in case.shown if instead.word in one.words))
    for clause in case.shown:
        spoken = frozenset(word.text if word.is_number else word.stem for word in clause.words)
        if own.word.stem in spoken and instead.word not in clause.words:
            said = case.claim.content | {word.text for word in case.claim.words if word.is_number}
            if (spoken & said) - beside - {own.word.stem} or _PRONOUNS & {word.lemma for word in clause.words}:
                return True
    return False


def _is_same_sort(case: Case, own: Token, other: Token) -> bool:
    if lexicon.base(other.word.lemma) in lexicon.OPPOSITES.get(lexicon.base(own.word.lemma), frozenset()):
        return True
    if _acts(case.claim.words, own.at) or _acts(case.alignment.sentence, other.at):
        return False
    return (own.word.stem in case.names) == (other.word.stem in case.names)


def _denied(case: Case) -> Iterator[Problem]:
    """A negation that only one of the two has."""
    aligned = case.alignment
    basis = aligned.sentence
    ranks = any(word.lemma in ("first", "last") or word.text.endswith("est") for word in basis)
    added = any(aligned.mine[at].is_negator for at in aligned.missing)
    if added and not denials(basis) and not ranks:
        yield Problem("the passage says it without the negation")
    left_out = any(one.is_negator for one in aligned.extra)
    if left_out and not aligned.missing and not denials(case.claim.words):
        yield Problem("the passage denies it")


def _acts(found: Sequence[Word], at: int) -> bool:
    """Whether the word at this position is a verb, and not a participle before a noun: the fixed shifts."""
    following = found[at + 1 : at + 2]
    belongs = at > 0 and not found[at - 1].is_content and bool(following) and following[0].is_content
    return is_plain_verb(found, at) and not (belongs and found[at - 1].text.casefold() not in _BE)


def _qualified(case: Case) -> Iterator[Problem]:
    """Something that the passage allows and the claim requires, or vice versa."""
    words = case.claim.lemmas
    if case.claim.lower & NEGATORS:  # "may not" and "must not" mean the same
        return
    for mine, theirs, reason in (
        (lexicon.MUST, lexicon.MAY, "it makes a duty of what the passage allows"),
        (lexicon.MAY, lexicon.MUST, "it makes an option of what the passage requires"),
    ):
        if words & mine and case.basis_lemmas & theirs and not (words & theirs or case.basis_lemmas & mine):
            yield Problem(reason)
