"""Verification by a language model: all claims of an answer in one call."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from trueweave.answering.conversation import usage_of
from trueweave.core.answers import CheckStatus, Claim, Judgement
from trueweave.core.errors import BadReply
from trueweave.core.model_calls import Message, Prompt, Purpose, Reply
from trueweave.core.protocols import LLM, Verified, forget_reply
from trueweave.models.json_reply import Lenient, Unusable, read
from trueweave.models.prompts import BUILT_IN, PromptSet, fence, object_schema
from trueweave.text.sentences import cut

MOST_CLAIMS = 50  # in one call; an answer of two thousand tokens has fewer
LONGEST = 600  # tokens of a claim, and of its basis

_VERIFY = Purpose("verify")
_TOKENS_A_VERDICT = 60
_LONGEST_REASON = 200  # characters
_SHOWN = 200  # characters of a reply, in an error


class _Verdict(BaseModel):
    claim: int
    verdict: Literal["entailed", "contradicted", "not stated"]
    reason: str = ""


class _Verdicts(Lenient):
    verdicts: list[Any]  # each is validated separately, so that one malformed verdict does not affect the others


class JudgeVerifier:
    """Asks a language model whether the cited sentences imply each claim.

    Claims that the model leaves out are *not checked*, and so are all claims if the reply cannot be read.
    """

    name = "llm"
    statuses: frozenset[CheckStatus] = frozenset(("entailed", "contradicted"))

    def __init__(self, llm: LLM, prompts: PromptSet = BUILT_IN) -> None:
        self._llm = llm
        self._instructions = prompts.load("verify").text

    async def verify(self, claims: Sequence[Claim]) -> Verified:
        """One judgement per claim, at the price of one call. Raises BadReply if the reply judges none of them."""
        judged = claims[:MOST_CLAIMS]
        prompt = _prompt(self._instructions, judged)
        reply = await self._llm.complete(prompt, _VERIFY)
        verdicts = _read(reply)
        if verdicts.keys().isdisjoint(range(1, len(judged) + 1)):
            await forget_reply(self._llm, prompt)
            raise BadReply(self._failure(reply, len(judged)))
        found = [_judgement(verdicts.get(number)) for number in range(1, len(judged) + 1)]
        return Verified(found + [_judgement(None)] * (len(claims) - len(judged)), usage_of(reply))

    def _failure(self, reply: Reply, count: int) -> str:
        problem = "was cut off" if reply.finish == "length" else "cannot be read"
        return (
            f"{self._llm.model} was to check {count} sentences, and its reply {problem}. It begins "
            f"{reply.text[:_SHOWN]!r}. Ask again, or set another model."
        )


def _prompt(instructions: str, claims: Sequence[Claim]) -> Prompt:
    shown = "\n\n".join(f"Claim {number}\n{_shown(claim)}" for number, claim in enumerate(claims, 1))
    messages = Message("system", instructions), Message("user", shown)
    return Prompt(messages, _TOKENS_A_VERDICT * (len(claims) + 4), _SCHEMA)


def _shown(claim: Claim) -> str:
    basis = "\n".join(one.in_context for one in claim.basis)
    titles = "; ".join(dict.fromkeys(filter(None, claim.titles)))
    return (
        f"Passage{f' from {titles}' if titles else ''}:\n{fence(cut(basis, LONGEST))}\n"
        f"Claim:\n{fence(cut(claim.text, LONGEST))}"
    )


def _read(reply: Reply) -> dict[int, _Verdict]:
    """The verdicts in a reply by claim number, without malformed ones; the first for each claim."""
    try:
        found, _ = read(_Verdicts, reply.text, cut_off=reply.finish == "length")
    except Unusable:
        return {}
    verdicts: dict[int, _Verdict] = {}
    for row in found.verdicts:
        try:
            verdict = _Verdict.model_validate(row)
        except ValidationError:
            continue
        verdicts.setdefault(verdict.claim, verdict)
    return verdicts


def _judgement(verdict: _Verdict | None) -> Judgement:
    if verdict is None:
        return Judgement("not checked", "the model did not judge it")
    reason = " ".join(verdict.reason.split())[:_LONGEST_REASON]
    if verdict.verdict == "not stated":
        return Judgement("not checked", reason or "the passage does not say it")
    return Judgement(verdict.verdict, reason)


_VERDICT = {
    "claim": {"type": "integer"},
    "verdict": {"type": "string", "enum": ["entailed", "contradicted", "not stated"]},
    "reason": {"type": "string"},
}
_SCHEMA = json.dumps(object_schema({"verdicts": {"type": "array", "items": object_schema(_VERDICT)}}))
