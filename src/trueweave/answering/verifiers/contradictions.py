"""Whether a claim is a sentence of its passage with one thing changed: only then does the passage contradict it.

The words of the claim must occur in one sentence of the passage, in the same order, except for one change: another
number with the same unit, another name, the opposite of a word, a negation added or removed, or two names exchanged. A
paraphrase has other words or another order, and rules that compare words may misread it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from trueweave.answering.verifiers import lexicon
from trueweave.answering.verifiers.alignment import Alignment, Token
from trueweave.answering.verifiers.case import Case, Statements
from trueweave.answering.verifiers.clauses import denials
from trueweave.answering.verifiers.quantities import Quantity, roughly

_CONDITIONS = lexicon.word_set("only unless until except if without but than once")
_LEAST_PAIRS = 2


def contradiction(case: Case) -> str:
    """What the passage says in place of one thing in the claim; empty if more than one thing differs, or nothing."""
    aligned = case.alignment
    if case.computed or len(aligned.pairs) < _LEAST_PAIRS:
        return ""
    if not aligned.missing:
        return _denied(case, aligned)
    own = [aligned.mine[at] for at in aligned.missing]
    gaps = [aligned.gap(at) for at in aligned.missing]
    if len(own) == 1:
        return _replaced(case, own[0], gaps[0])
    return _exchanged(case, own, gaps) if len(own) == 2 else ""


def _replaced(case: Case, own: Token, gap: Sequence[Token]) -> str:
    if own.is_negator:
        return _not_denied(case)
    if own.quantity:
        return _other_number(case, own.quantity, gap)
    if own.word.stem in case.passage.content - case.names or len(gap) != 1 or gap[0].quantity:
        return ""
    said, instead = own.word, gap[0].word
    is_graded = said.text[-2:] in ("er", "st")
    opposite = lexicon.base(instead.lemma) in lexicon.OPPOSITES.get(lexicon.base(said.lemma), frozenset())
    opposite = opposite and not (is_graded and said.text[-2:] != instead.text[-2:]) and not _compares_otherwise(case)
    named = case.names.issuperset((said.stem, instead.stem)) and said.stem not in case.basis_content
    return f"the passage says “{instead.text}”, not “{said.text}”" if opposite or named else ""


def _other_number(case: Case, own: Quantity, gap: Sequence[Token]) -> str:
    others = [one.quantity for one in gap if one.quantity]
    known = [*case.passage.quantities, *case.question.quantities]
    if len(others) != 1 or own.value in {one.value for one in known} or roughly(own, known) or others[0].is_rough:
        return ""
    other = others[0]
    if (own.unit, own.noun, own.bound, own.period) != (other.unit, other.noun, other.bound, other.period):
        return ""
    return f"the passage says {other.value:f}, not {own.value:f}"


def _denied(case: Case, aligned: Alignment) -> str:
    """The reason, if the passage has all words of the claim and a negation among them."""
    is_plain = len(aligned.pairs) > _LEAST_PAIRS and not denials(case.claim.words) and not _is_conditional(case)
    return "the passage denies it" if is_plain and denials([one.word for one in aligned.extra]) == 1 else ""


def _not_denied(case: Case) -> str:
    """The reason, if the claim denies what the passage says in the same words."""
    basis = [word for sentence in case.basis for word in sentence.words]
    ranks = any(word.lemma in ("first", "last") or word.text.endswith("est") for word in basis)
    is_plain = denials(case.claim.words) == 1 and not denials(basis) and not ranks and not _is_conditional(case)
    is_long = len(case.alignment.pairs) > _LEAST_PAIRS
    return "the passage says it without the negation" if is_plain and is_long else ""


def _is_conditional(case: Case) -> bool:
    return bool(_CONDITIONS & (case.claim.lower | case.basis_lower))


def _compares_otherwise(case: Case) -> bool:
    return ("than" in case.claim.lower) != ("than" in case.basis_lower)


def _exchanged(case: Case, own: Sequence[Token], gaps: Sequence[Sequence[Token]]) -> str:
    """The reason, if two names of the passage have changed places and nothing else has changed."""
    stems = [one.word.stem for one in own]
    if not case.names.issuperset(stems) or [len(gap) for gap in gaps] != [1, 1]:
        return ""
    crossed = [gap[0].word.stem for gap in gaps] == stems[::-1]
    same_voice = _is_passive(case.claim) == any(map(_is_passive, case.basis))
    return "in the passage it is the other way round" if crossed and same_voice else ""


def _is_passive(statements: Statements) -> bool:
    return any(one.text.endswith(("ed", "en")) and other.text == "by" for one, other in pairwise(statements.words))
