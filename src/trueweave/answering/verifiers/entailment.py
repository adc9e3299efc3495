"""Verification by a natural language inference model."""

from __future__ import annotations

from collections.abc import Sequence

from trueweave.core.answers import CheckStatus, Claim, Judgement
from trueweave.core.evidence import Usage
from trueweave.core.protocols import Entailment, EntailmentModel, Verified

SURE = 0.5  # the probability at which a class decides


class EntailmentVerifier:
    """Asks a model whether the cited sentences imply or contradict each claim.

    Each cited sentence is shown with the one before it in its passage, so that pronouns can be resolved.
    """

    statuses: frozenset[CheckStatus] = frozenset(("entailed", "contradicted"))

    def __init__(self, model: EntailmentModel, *, sure: float = SURE) -> None:
        self._model = model
        self._sure = sure

    @property
    def name(self) -> str:
        return self._model.model

    async def verify(self, claims: Sequence[Claim]) -> Verified:
        """One judgement per claim, at no cost."""
        found = await self._model.classify([(_premise(claim), claim.text) for claim in claims])
        return Verified([self._judgement(one) for one in found], Usage())

    def _judgement(self, found: Entailment) -> Judgement:
        if found.entailed >= self._sure:
            return Judgement("entailed", f"probability {found.entailed:.2f}")
        if found.contradicted >= self._sure:
            return Judgement("contradicted", f"probability {found.contradicted:.2f}")
        return Judgement("not checked", f"the passage does not say it (entailed with probability {found.entailed:.2f})")


def _premise(claim: Claim) -> str:
    return " ".join(one.in_context for one in claim.basis)
