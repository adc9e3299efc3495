"""`drift`: starts from community reports, and follows up on what they bring up."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from pydantic import Field
from pydantic.dataclasses import dataclass

from trueweave.core.errors import BadReply
from trueweave.core.evidence import Evidence, Query, Report, Scored
from trueweave.core.model_calls import Message, Prompt, Purpose
from trueweave.core.protocols import LLM, ReportFound, forget_reply
from trueweave.models.json_reply import Lenient, Unusable, read
from trueweave.models.prompts import PromptSet, fence, object_schema
from trueweave.retrieval.context import Method, Need, QueryContext
from trueweave.retrieval.methods import reports
from trueweave.retrieval.methods.combine import Fuse, Instead
from trueweave.retrieval.methods.parameters import CHECKED
from trueweave.retrieval.methods.weave import Weave

_PURPOSE = Purpose("drift")
_SHOWN = 200  # characters of a reply


class _Plan(Lenient):
    answer: str = ""
    follow_ups: Sequence[str] = ()


_TEXT = {"type": "string"}
_SCHEMA = json.dumps(object_schema({"answer": _TEXT, "follow_ups": {"type": "array", "items": _TEXT}}))


@dataclass(frozen=True, config=CHECKED)
class Drift:
    """The reports nearest to the question, and passages for it and for follow-up questions from the reports."""

    needs: ClassVar[frozenset[Need]] = frozenset({"reports"})

    max_reports: int = Field(default=4, ge=1, le=100, description="How many reports to start from.")
    follow_ups: int = Field(default=3, ge=0, le=20, description="How many follow-up questions to ask.")
    reply_tokens: int = Field(default=800, ge=50, description="How many tokens the model may write.")
    part: Method = Field(default=Weave(top_k=10), description="The method that answers the follow-up questions.")
    top_k: int = Field(default=8, ge=1, le=1000, description="How many passages to keep.")

    async def retrieve(self, query: Query, context: QueryContext) -> Evidence:
        """The passages that the question and the follow-ups agree on, and the reports that led to them.

        The model writes the follow-ups. Without a model, or if its reply cannot be read (the trace then says so), each
        follow-up is the question with a report's title.
        """
        levels = await reports.levels(query, context)
        found = await reports.nearest(query, context, len(levels) - 1, self.max_reports)
        plan = _Plan(follow_ups=[f"{query.text} {report.title}" for report in found])
        if context.llm:
            try:
                plan = await self._plan(query.text, found, context.llm, context.prompts)
            except BadReply as problem:
                context.note("unreadable", Scored(str(problem), 0.0))
        further = [asked for asked in plan.follow_ups if asked.strip()][: self.follow_ups]
        context.note("follow-ups", *(Scored(asked, 1.0) for asked in further))
        asked = (self.part, *(Instead(text, self.part) for text in further))
        evidence = await Fuse(parts=asked, top_k=self.top_k).retrieve(query, context)
        return replace(evidence, reports=tuple(_told(found, plan.answer, reports.Support(evidence.passages))))

    async def _plan(self, question: str, found: Sequence[ReportFound], llm: LLM, prompts: PromptSet) -> _Plan:
        texts = (f"{report.title}\n{report.summary}" for report in found)
        asked = "\n\n".join(map(fence, (question, *texts)))
        instructions = prompts.load("drift").render(most=str(self.follow_ups))
        messages = Message("system", instructions), Message("user", asked)
        prompt = Prompt(messages, self.reply_tokens, _SCHEMA)
        reply = await llm.complete(prompt, _PURPOSE)
        try:
            return read(_Plan, reply.text, cut_off=reply.finish == "length")[0]
        except Unusable as problem:
            await forget_reply(llm, prompt)
            raise BadReply(
                f"{llm.model} returned no readable follow-up questions: {problem}. Its reply begins "
                f"{reply.text[:_SHOWN]!r}. Try another model, or a method that needs none, such as --method fuse."
            ) from problem


def _told(found: Sequence[ReportFound], answer: str, support: reports.Support) -> list[Report]:
    """The reports; the first one also has the model's answer from all of them."""
    told = [Report(one.id, one.title, one.summary, one.score, support.of(one.findings)) for one in found]
    if told and answer:
        told[0] = replace(told[0], text=f"{answer}\n{told[0].text}")
    return told
