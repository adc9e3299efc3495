"""Verification by rules, with no model.

A claim that is a sentence of its passage with one thing changed is contradicted. Each rule looks for one other way in
which a claim can conflict with its passage or go beyond it: polarity and opposites, numbers with their units and
groups, who did what to whom, quantifiers, bounds, modality, and causes. If no rule finds anything, that proves nothing:
rules only confirm that the words are there and that none of these differ.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from trueweave.answering.verifiers import figures
from trueweave.answering.verifiers.actors import actors
from trueweave.answering.verifiers.additions import additions, owners
from trueweave.answering.verifiers.case import Case, Problem, Statements
from trueweave.answering.verifiers.certainty import causes, modality, quantifiers
from trueweave.answering.verifiers.comparisons import compared
from trueweave.answering.verifiers.contradictions import contradiction
from trueweave.answering.verifiers.coverage import uncovered, unknown_number
from trueweave.answering.verifiers.literal import literal
from trueweave.answering.verifiers.normalise import normalised
from trueweave.answering.verifiers.polarity import polarity
from trueweave.answering.verifiers.substitutions import substitutions
from trueweave.core.answers import Basis, CheckStatus, Claim, Judgement
from trueweave.core.evidence import Usage
from trueweave.core.protocols import Verified
from trueweave.text.words import foreign, language

LONGEST_CLAIM = 2_000  # characters; rules compare each part of a claim with each part of its basis
LONGEST_BASIS = 10_000

_RULES: tuple[Callable[[Case], Iterator[Problem]], ...] = (
    literal,
    compared,
    polarity,
    figures.units,
    figures.unknown,
    figures.parts,
    figures.groups,
    actors,
    quantifiers,
    modality,
    causes,
    substitutions,
    owners,
    additions,
)


class RulesVerifier:
    """Compares words, names and numbers in any language, and what is said about them in English."""

    name = "rules"
    statuses: frozenset[CheckStatus] = frozenset(("quoted", "computed", "contradicted"))

    async def verify(self, claims: Sequence[Claim]) -> Verified:
        """One judgement per claim, at no cost."""
        return Verified(await asyncio.to_thread(lambda: [judge(claim) for claim in claims]), Usage())


def judge(claim: Claim) -> Judgement:
    """Quoted or computed if no rule objects to the claim; otherwise contradicted or not checked, with the reason."""
    if len(claim.text) > LONGEST_CLAIM or len(claim.shown) > LONGEST_BASIS:
        return Judgement("not checked", "it is too long to check")
    claim = _normalised(claim)
    if foreign(claim.text, claim.shown):
        if number := unknown_number(claim):
            return Judgement("not checked", f"{number} is not in the cited sentence")
        return Judgement("quoted", "the passage is in another language: only numbers were compared")
    if reason := uncovered(claim):
        return Judgement("not checked", reason)
    if not _is_english(claim):
        return Judgement("quoted", "only words, names and numbers were compared: the rules are for English")
    sentences = tuple(Statements(one.text, one.before) for one in claim.basis)
    case = Case(Statements(claim.text), sentences, Statements("\n".join(claim.passages)), Statements(claim.question))
    if instead := contradiction(case):
        return Judgement("contradicted", instead)
    if against := next((found for rule in _RULES for found in rule(case)), None):
        return Judgement("not checked", against.reason)
    if case.computed:
        return Judgement("computed", "; ".join(one.equation for one in case.computed))
    return Judgement("quoted", "" if claim.quoted else "compared with the nearest sentence of the passage")


def _normalised(claim: Claim) -> Claim:
    return replace(
        claim,
        text=normalised(claim.text),
        basis=tuple(Basis(normalised(one.text), normalised(one.before)) for one in claim.basis),
        passages=tuple(map(normalised, claim.passages)),
        question=normalised(claim.question),
    )


def _is_english(claim: Claim) -> bool:
    return "en" in (language(claim.shown), language(claim.text)) or (claim.shown.isascii() and claim.text.isascii())
