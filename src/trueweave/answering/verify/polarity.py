"""Whether a claim says that something is so which its passage denies, or the opposite of what it says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trueweave.answering.verify import lexicon
from trueweave.answering.verify.case import Case, Problem, is_name, likeness, opposites
from trueweave.answering.verify.clauses import Clause, denials, faint_denials
from trueweave.answering.verify.roles import is_verb

_LEAST_SHARED = 2  # words, for a denial to be of the same thing
_CLOSE = 0.4  # clauses that are nearly as like a claim as another: the claim may be about either


def polarity(case: Case) -> Iterator[Problem]:
    if case.computed:
        return
    for clause in case.claim.clauses:
        best = likeness(clause, case.matching(clause)) if case.shown else 0.0
        rivals = [other for other in case.shown if likeness(clause, other) > best - _CLOSE]
        found = [_turned(case, clause, other) for other in rivals]
        if found and None not in found:
            yield from (one for one in found[:1] if one)
        else:
            yield from _denied_elsewhere(case, clause, rivals)


def _turned(case: Case, clause: Clause, other: Clause) -> Problem | None:
    """Whether a clause of the passage denies what the claim says, or says the opposite."""
    turned = [pair for pair in opposites(clause, other) if not _is_converse(pair, clause, other)]
    shared = {stem for stem in clause.content & other.content if not is_name(stem, clause)}
    enough = _LEAST_SHARED if denials(clause.words) else min(_LEAST_SHARED, len(clause.content) - 1)
    if (len(shared) < enough and not turned) or not (shared or turned) or _compares_with_superlative(clause, case):
        return None
    turning = frozenset(word for pair in turned for word in pair)
    kin = turning | _kin(clause, other)
    if (denials(clause.words, kin) + denials(other.words, kin) + len(_independent(turned))) % 2 == 0:
        return None
    if turned:
        said, instead = turned[0]
        return Problem(f"it says “{said}” where the passage says “{instead}”")
    if faint_denials(clause.words, kin) or faint_denials(other.words, kin):
        return None
    return Problem("it says that something is so which the passage denies, or the other way round")


def _kin(one: Clause, other: Clause) -> frozenset[str]:
    """Words of denial that both clauses have in some form: fail and failure."""
    mine = {lemma[:4] for lemma in one.lemmas if len(lemma) > 3}
    theirs = {lemma[:4] for lemma in other.lemmas if len(lemma) > 3}
    return frozenset(word for word in (*one.lemmas, *other.lemmas) if word[:4] in mine & theirs and len(word) > 3)


def _is_converse(pair: tuple[str, str], clause: Clause, other: Clause) -> bool:
    """Whether the two are the two sides of one event, seen from either side: A beat B, B lost to A."""
    if not lexicon.CONVERSES.issuperset(pair):
        return False
    first = next((word.stem for word in clause.words if word.is_name), "")
    return bool(first) and first != next((word.stem for word in other.words if word.is_name), "")


def _denied_elsewhere(case: Case, clause: Clause, near: Sequence[Clause]) -> Iterator[Problem]:
    """What a claim says is done, and the passage speaks of only to deny it."""
    if clause.is_negated:
        return
    for at, word in enumerate(clause.words):
        holding = [other for other in case.shown if word.stem in other.content]
        if is_verb(clause.words, at) and holding and all(o.is_negated and o not in near for o in holding):
            yield Problem(f"the passage denies “{word.text}”")


def _independent(turned: Sequence[tuple[str, str]]) -> set[str]:
    """Opposites that are not two names for the same turn."""
    return {instead for _, instead in turned}


def _compares_with_superlative(clause: Clause, case: Case) -> bool:
    """Whether a claim says of the youngest champion that no champion was younger."""
    compares = clause.is_negated and any(word.text.endswith("er") or word.text in ("so", "as") for word in clause.words)
    return compares and any(word.endswith("est") or word in ("most", "least") for word in case.basis_lower)
