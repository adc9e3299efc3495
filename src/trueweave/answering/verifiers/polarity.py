"""Whether a claim affirms what its passage denies, or says the opposite of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trueweave.answering.verifiers import lexicon
from trueweave.answering.verifiers.case import Case, Problem, is_name, likeness, opposites
from trueweave.answering.verifiers.clauses import Clause, denials, faint_denials
from trueweave.answering.verifiers.comparisons import confirmed
from trueweave.answering.verifiers.roles import is_verb
from trueweave.text.words import STEM

_LEAST_SHARED = 2  # words that must be shared for a denial to concern the same thing
_NEEDED = lexicon.word_set("need require only condition necessary mandatory")
_EXCEPTED = lexicon.word_set("unless without until except")
_IN_TIME = lexicon.word_set("before after earlier later early late")
_CLOSE = 0.4  # clauses nearly as similar to the claim as the best one: the claim may be about any of them


def polarity(case: Case) -> Iterator[Problem]:
    if case.computed or case.is_paraphrase or confirmed(case):
        return
    for clause in case.claim.clauses:
        best = likeness(clause, case.matching(clause)) if case.shown else 0.0
        rivals = [other for other in case.shown if likeness(clause, other) > best - _CLOSE]
        found = [_turned(case, clause, other) for other in rivals]
        if _denies_the_same(clause, case):
            continue
        if found and None not in found:
            yield from (one for one in found[:1] if one)
        else:
            yield from _denied_elsewhere(case, clause, rivals)


def _denies_the_same(clause: Clause, case: Case) -> bool:
    """Whether a claim denies something, and a clause of the passage also denies something in the same words."""
    denied = _denied(clause) if clause.is_negated else frozenset()
    return any(other.is_negated and denied & other.content for other in case.shown)


def _has_negator(clause: Clause) -> bool:
    return any(word.text.casefold() in lexicon.NEGATORS for word in clause.words)


def _denied(clause: Clause) -> frozenset[str]:
    """The content words after a negation."""
    at = next((place for place, word in enumerate(clause.words) if word.text.casefold() in lexicon.NEGATORS), None)
    return frozenset() if at is None else frozenset(word.stem for word in clause.words[at + 1 :] if word.is_content)


def _turned(case: Case, clause: Clause, other: Clause) -> Problem | None:
    """The problem, if a clause of the passage denies what the claim says, or says the opposite."""
    turned = [pair for pair in opposites(clause, other) if _is_turn(case, pair, clause, other)]
    shared = {stem for stem in clause.content & other.content if not is_name(stem, clause)}
    enough = _LEAST_SHARED if denials(clause.words) else min(_LEAST_SHARED, len(clause.content) - 1)
    if shared and not clause.is_negated and (_denied(other) & clause.content or not _has_negator(other)):
        shared |= clause.content & other.content  # including names: this very word is denied
    if (len(shared) < enough and not turned) or not (shared or turned) or _compares_with_superlative(clause, case):
        return None
    if clause.is_negated and _only_another(clause, other):
        return None
    if _since(case, clause, other) or _since(case, other, clause) or _requires(case, clause):
        return None
    turning = frozenset(word for pair in turned for word in pair)
    kin = turning | _kin(clause, other)
    if (denials(clause.words, kin) + denials(other.words, kin) + len(_independent(turned))) % 2 == 0:
        return None
    if turned:
        said, instead = turned[0]
        return Problem(f"the passage says “{instead}”, and this sentence “{said}”")
    if faint_denials(clause.words, kin) or faint_denials(other.words, kin):
        return None
    return Problem("the passage denies this, or says what this sentence denies")


def _only_another(clause: Clause, other: Clause) -> bool:
    """Whether the passage says that only one does something, and the claim that another does not."""
    at = next((place for place, word in enumerate(other.words) if word.lemma == "only"), None)
    following = other.words[at + 1 : at + 2] if at is not None else ()
    return bool(following) and following[0].is_name and following[0].stem not in clause.content


def _since(case: Case, one: Clause, other: Clause) -> bool:
    """Whether one clause denies something since the time at which, in the other, it happened for the first or last
    time."""
    if "since" not in case.claim.lemmas | case.basis_lemmas:
        return False
    return (one.is_negated or "first" in one.lemmas) and bool({"last", "first"} & set(other.lemmas))


def _requires(case: Case, clause: Clause) -> bool:
    """Whether the claim says that something is needed without which, in the passage, something is not allowed."""
    lemmas = frozenset(clause.lemmas)
    return bool(lemmas & _NEEDED and case.basis_lower & _EXCEPTED and any(o.is_negated for o in case.shown))


def _kin(one: Clause, other: Clause) -> frozenset[str]:
    """Words of denial that both clauses have in some form: fail and failure."""
    mine = {lemma[:4] for lemma in one.lemmas if len(lemma) > 3}
    theirs = {lemma[:4] for lemma in other.lemmas if len(lemma) > 3}
    return frozenset(word for word in (*one.lemmas, *other.lemmas) if word[:4] in mine & theirs and len(word) > 3)


def _is_turn(case: Case, pair: tuple[str, str], clause: Clause, other: Clause) -> bool:
    """Whether two opposites are said of the same thing."""
    if _is_converse(pair, clause, other) or (_IN_TIME.issuperset(pair) and not case.alignment.is_literal):
        return False
    said = [one for one in case.shown if pair[0] in map(lexicon.base, one.lemmas)]
    if any((one.content & clause.content) - other.content - {pair[0][:STEM]} for one in said):
        return False  # the passage says it of this subject, and the opposite of another
    than = next((at for at, word in enumerate(other.words) if word.lemma == "than"), None)
    behind = frozenset(word.stem for word in other.words[than:] if word.is_content) if than is not None else frozenset()
    before = frozenset(word.stem for word in other.words[:than] if word.is_content)
    return not (behind & clause.content - before and "than" not in clause.lemmas)


def _is_converse(pair: tuple[str, str], clause: Clause, other: Clause) -> bool:
    """Whether the two describe one event from either side: A beat B, B lost to A."""
    if not lexicon.CONVERSES.issuperset(pair):
        return False
    first = next((word.stem for word in clause.words if word.is_name), "")
    return bool(first) and first != next((word.stem for word in other.words if word.is_name), "")


def _denied_elsewhere(case: Case, clause: Clause, near: Sequence[Clause]) -> Iterator[Problem]:
    """An action in the claim that the passage mentions only to deny it."""
    if clause.is_negated:
        return
    for at, word in enumerate(clause.words):
        holding = [other for other in case.shown if word.stem in other.content]
        if is_verb(clause.words, at) and holding and all(_is_denied(case, clause, o, near) for o in holding):
            yield Problem(f"the passage denies “{word.text}”")


def _is_denied(case: Case, clause: Clause, other: Clause, near: Sequence[Clause]) -> bool:
    return other.is_negated and (other not in near or _turned(case, clause, other) is not None)


def _independent(turned: Sequence[tuple[str, str]]) -> set[str]:
    """The opposites, counting several words against the same one once."""
    return {instead for _, instead in turned}


def _compares_with_superlative(clause: Clause, case: Case) -> bool:
    """Whether the claim expresses a superlative of the passage negatively: "no champion was younger" of the
    youngest."""
    compares = clause.is_negated and any(word.text.endswith("er") or word.text in ("so", "as") for word in clause.words)
    return compares and any(word.endswith("est") or word in ("most", "least") for word in case.basis_lower)
