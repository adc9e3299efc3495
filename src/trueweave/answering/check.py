"""Checking an answer: verifiers judge whether its sentences follow from what they cite.

Verifiers run in the order given, and the last one that judged a sentence decides. *computed* is final: models are bad
at arithmetic. (*contradicted* by the rules is not final: some true sentences are, see
benchmarks/results/citations.json.) If a verifier fails, the sentences that it was to judge are *not checked*.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from trueweave.answering import cite
from trueweave.answering.citation_parser import Mark
from trueweave.answering.cite import Cited
from trueweave.core.answers import Check, Citation, Claim, Judgement, Sentence
from trueweave.core.errors import BadReply, TrueweaveError
from trueweave.core.evidence import Passage, Usage
from trueweave.core.protocols import Verifier

_NOBODY_ASKED = Judgement("not checked", "no verifier is set")


@dataclass(frozen=True, slots=True)
class Checked:
    """The sentences of an answer with their statuses, what they cite, and the cost of checking.

    Each place is cited once for each number, in the order of the text.
    """

    sentences: tuple[Sentence, ...]
    citations: tuple[Citation, ...]
    checks: tuple[Check, ...]


async def check(
    text: str,
    marks: Sequence[Mark],
    passages: Sequence[Passage],
    asked: str,
    verifiers: Sequence[Verifier],
    *,
    whole: bool = False,
) -> Checked:
    """The status of each sentence of an answer. For the parameters see `cite.read`."""
    cited = await asyncio.to_thread(cite.read, text, marks, passages, asked, whole=whole)
    found, checks = await conclude([cited], verifiers)
    return Checked(tuple(found[0]), cite.distinct(place for one in cited for place in one.citations), checks)


async def conclude(
    texts: Sequence[Sequence[Cited]], verifiers: Sequence[Verifier]
) -> tuple[list[list[Sentence]], tuple[Check, ...]]:
    """The sentences of several texts with their statuses; each verifier is called once for all of them."""
    judged, checks = await verify([one.claim for cited in texts for one in cited if one.claim], verifiers)
    judgements = iter(judged)
    return [
        [_concluded(one.sentence, *next(judgements)) if one.claim else one.sentence for one in cited] for cited in texts
    ], checks


def _concluded(sentence: Sentence, judgement: Judgement, verifier: str) -> Sentence:
    return replace(sentence, status=judgement.status, reason=judgement.reason, verifier=verifier)


async def verify(
    claims: Sequence[Claim], verifiers: Sequence[Verifier]
) -> tuple[list[tuple[Judgement, str]], tuple[Check, ...]]:
    """The judgement on each claim with the name of the verifier that gave it, and a record of each verifier's run."""
    judged = [(_NOBODY_ASKED, "")] * len(claims)
    checks: list[Check] = []
    unsettled = list(range(len(claims)))
    for verifier in verifiers:
        if not unsettled:
            break
        judgements, made = await _ask(verifier, [claims[place] for place in unsettled])
        checks.append(made)
        for place, judgement in zip(unsettled, judgements, strict=True):
            judged[place] = judgement, "" if made.problem else verifier.name
        unsettled = [place for place in unsettled if judged[place][0].status != "computed"]
    return judged, tuple(checks)


async def _ask(verifier: Verifier, claims: Sequence[Claim]) -> tuple[list[Judgement], Check]:
    begun = time.perf_counter()
    usage, problem = Usage(), ""
    try:
        found, usage = await verifier.verify(claims)
        if len(found) != len(claims):
            raise BadReply(f"{verifier.name} gave {len(found)} judgements for {len(claims)} sentences")
        judgements = [_allowed(one, verifier) for one in found]
    except TrueweaveError as error:
        problem = str(error)
        judgements = [Judgement("not checked", f"the verifier {verifier.name} failed")] * len(claims)
    return judgements, Check(verifier.name, len(claims), time.perf_counter() - begun, usage, problem)


def _allowed(judgement: Judgement, verifier: Verifier) -> Judgement:
    """The judgement, or *not checked* if the verifier may not return its status."""
    if judgement.status == "not checked" or judgement.status in verifier.statuses:
        return judgement
    return Judgement("not checked", f"{verifier.name} cannot confirm “{judgement.status}”")
