"""Answers judged by a language model: whether they are correct, complete and supported by what was found."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from trueweave.bench.outcomes import Judged
from trueweave.core.answers import Answer
from trueweave.core.errors import BadReply
from trueweave.core.model_calls import Message, Prompt, Purpose
from trueweave.core.protocols import LLM, forget_reply
from trueweave.models.json_reply import Lenient, Unusable, read
from trueweave.models.prompts import BUILT_IN, PromptSet, fence, object_schema

MOST_TOKENS = 150  # of a reply

_PURPOSE = Purpose("judge")
_SHOWN = 200  # characters of a reply, in an error
_GRADES = {"yes": 1.0, "partly": 0.5, "no": 0.0}
_GRADE = {"type": "string", "enum": list(_GRADES)}
_SCHEMA = json.dumps(
    object_schema({"correct": _GRADE, "complete": _GRADE, "supported": _GRADE, "reason": {"type": "string"}})
)


class _Verdict(Lenient):
    correct: Literal["yes", "partly", "no"]
    complete: Literal["yes", "partly", "no"]
    supported: Literal["yes", "partly", "no"]
    reason: str = ""


@dataclass(frozen=True)
class AnswerJudge:
    """Asks a model to judge answers. The same answer from the same passages is sent and paid for once."""

    llm: LLM
    prompts: PromptSet = BUILT_IN

    @property
    def instructions(self) -> str:
        """The prompt, without what is judged."""
        return self.prompts.load("judge").text

    @property
    def fingerprint(self) -> str:
        """What verdicts depend on besides the answer."""
        return f"{self.llm.model} {self.prompts.load('judge').version}"

    async def judge(self, answer: Answer, known: Sequence[str]) -> Judged:
        """The verdict on an answer. One that says that nothing is known is not shown to the model. Raises BadReply if
        the reply cannot be read."""
        if not answer.known:
            return Judged(0.0, 0.0, 1.0, "it says that the documents do not have the answer")
        prompt = self._prompt(answer, known)
        reply = await self.llm.complete(prompt, _PURPOSE)
        try:
            found, _ = read(_Verdict, reply.text, cut_off=reply.finish == "length")
        except Unusable as problem:
            await forget_reply(self.llm, prompt)
            raise BadReply(
                f"{self.llm.model} was to judge the answer to {answer.question!r}, and its reply cannot be read: "
                f"{problem}. It begins {reply.text[:_SHOWN]!r}. Run the same command again, or set another model for "
                "judge."
            ) from problem
        reason = " ".join(found.reason.split())
        return Judged(_GRADES[found.correct], _GRADES[found.complete], _GRADES[found.supported], reason)

    def _prompt(self, answer: Answer, known: Sequence[str]) -> Prompt:
        shown = [f"Question:\n{fence(answer.question)}"]
        shown += [f"Known answers:\n{fence(chr(10).join(known))}"] if known else ["Known answers: none"]
        shown += [f"Passages:\n{fence(answer.context)}", f"Answer:\n{fence(answer.text)}"]
        messages = Message("system", self.instructions), Message("user", "\n".join(shown))
        return Prompt(messages, MOST_TOKENS, _SCHEMA)
