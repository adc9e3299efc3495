"""`community`: what community reports say about the question, and the passages that support it."""

from __future__ import annotations

import json
import re
from asyncio import gather
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Annotated, ClassVar, NamedTuple

from pydantic import BeforeValidator, Field
from pydantic.dataclasses import dataclass

from trueweave.core.errors import BadReply
from trueweave.core.evidence import Evidence, Query, Report, Scored
from trueweave.core.graph import Finding
from trueweave.core.model_calls import Message, Prompt, Purpose
from trueweave.core.protocols import LLM, ReportFound, forget_reply
from trueweave.models.json_reply import Figure, Lenient, Unusable, read
from trueweave.models.prompts import fence, object_schema
from trueweave.retrieval.context import Need, QueryContext
from trueweave.retrieval.methods import reports
from trueweave.retrieval.methods.parameters import CHECKED
from trueweave.text import tokens

_PURPOSE = Purpose("partial")
_BEST = 100.0
_SHOWN = 200  # characters of a reply


# Accepted forms: 3, "3", "[3]", "3, 4".
_Numbers = Annotated[Sequence[int], BeforeValidator(lambda given: re.findall(r"\d+", str(given)))]


class _PointFound(Lenient):
    text: str
    helpfulness: Figure = 0
    references: _Numbers = ()


class _Points(Lenient):
    points: Sequence[_PointFound] = ()


_TEXT = {"type": "string"}
# A string rather than an array: a model that starts counting might not stop.
_POINT = {"text": _TEXT, "helpfulness": {"type": "number"}, "references": _TEXT}
_SCHEMA = json.dumps(object_schema({"points": {"type": "array", "items": object_schema(_POINT)}}))


class _Point(NamedTuple):
    """A point that a report makes about the question, how much it helps, and the findings it is based on."""

    report: ReportFound
    text: str
    helpfulness: float
    findings: Sequence[Finding]


@dataclass(frozen=True, config=CHECKED)
class Community:
    """What the reports of one level say, across all documents, and the passages that support it."""

    needs: ClassVar[frozenset[Need]] = frozenset({"reports"})

    level: int | None = Field(
        default=None,
        ge=0,
        description="The level to read, 0 the coarsest; null: the finest within max_reports.",
    )
    max_reports: int = Field(
        default=32,
        ge=1,
        le=1000,
        description="How many reports to read at most, those nearest to the question.",
    )
    map_tokens: int = Field(default=6000, ge=500, description="How many tokens of reports the model is shown at once.")
    reply_tokens: int = Field(default=1500, ge=50, description="How many tokens the model may write about them.")
    with_model: bool = Field(
        default=True,
        description="Whether a language model, if one is set, reads the reports. Otherwise their findings are used.",
    )
    max_points: int = Field(default=20, ge=1, description="How many of the most helpful points to keep.")
    top_k: int = Field(default=8, ge=1, le=1000, description="How many passages to keep.")

    async def retrieve(self, query: Query, context: QueryContext) -> Evidence:
        """The most helpful points, as reports, and the passages that support the findings behind them.

        Without a language model, the reports' findings are used as they are, those nearest to the question first.
        """
        sizes = await reports.levels(query, context)
        level = self._level(sizes)
        found = await reports.nearest(query, context, level, self.max_reports)
        context.note("read", Scored(f"level {level}: {len(found)} of {sizes[level]} reports", 1.0))
        llm = context.llm if self.with_model else None
        points = await self._asked(query.text, found, context, llm) if llm else _as_they_are(found)
        best = sorted((point for point in points if point.helpfulness > 0), key=lambda point: -point.helpfulness)
        best = best[: self.max_points]
        if not best:
            return Evidence(reason=_why_nothing(len(found), level))
        rests_on = [Scored(finding, point.helpfulness / _BEST) for point in best for finding in point.findings]
        support = await reports.support(rests_on, self.top_k, context)
        return Evidence(tuple(support.passages), reports=tuple(_told(best, support)))

    def _level(self, sizes: Sequence[int]) -> int:
        if self.level is not None:
            return min(self.level, len(sizes) - 1)
        return max((level for level, size in enumerate(sizes) if size <= self.max_reports), default=0)

    async def _asked(
        self, question: str, found: Sequence[ReportFound], context: QueryContext, llm: LLM
    ) -> list[_Point]:
        """The points that the model finds in the reports, which it reads in batches."""
        some = list(_batches(found, self.map_tokens))
        instructions = context.prompts.load("partial").text
        answers = await gather(*(self._partial(question, batch, llm, instructions) for batch in some))
        points = [point for answer in answers if not isinstance(answer, BadReply) for point in answer]
        problems = [answer for answer in answers if isinstance(answer, BadReply)]
        if problems and len(problems) == len(answers):
            raise problems[0]
        if problems:
            context.note("unreadable", *(Scored(str(problem), 0.0) for problem in problems))
        context.note("points", *(Scored(point.text, point.helpfulness) for point in points))
        return points

    async def _partial(
        self, question: str, batch: Sequence[ReportFound], llm: LLM, instructions: str
    ) -> list[_Point] | BadReply:
        """The points in a batch of reports, or an error if the reply could not be read."""
        firsts = accumulate((len(report.findings) for report in batch), initial=1)
        texts = (_shown(report, first) for report, first in zip(batch, firsts, strict=False))
        asked = "\n\n".join(map(fence, (question, *texts)))
        messages = Message("system", instructions), Message("user", asked)
        prompt = Prompt(messages, self.reply_tokens, _SCHEMA)
        reply = await llm.complete(prompt, _PURPOSE)
        try:
            found, _ = read(_Points, reply.text, cut_off=reply.finish == "length")
        except Unusable as problem:
            await forget_reply(llm, prompt)
            return BadReply(
                f"{llm.model} gave no points that can be read: {problem}. Its reply begins {reply.text[:_SHOWN]!r}. "
                "Try another model, or a method that needs none, such as --method fuse."
            )
        return [point for one in found.points for point in _points(one, batch)]


def _why_nothing(read: int, level: int) -> str:
    return (
        f"none of the {read} reports of level {level} that were read has anything to say about the question. Read more "
        "of them, as in --set max_reports=100, or those of another level, as in --set level=0."
    )


def _as_they_are(found: Sequence[ReportFound]) -> list[_Point]:
    """All findings of the reports, for use without a model: the nearer a report is to the question, the better."""
    return [
        _Point(report, finding.text or finding.summary, _BEST / rank, [finding])
        for rank, report in enumerate(found, 1)
        for finding in report.findings
    ]


def _batches(found: Sequence[ReportFound], most: int) -> Iterator[list[ReportFound]]:
    """Reports in batches of at most `most` tokens; a larger report is a batch by itself."""
    batch: list[ReportFound] = []
    room = most
    for report in found:
        size = tokens.count(_shown(report, 1))
        if batch and size > room:
            yield batch
            batch, room = [], most
        batch.append(report)
        room -= size
    if batch:
        yield batch


def _shown(report: ReportFound, first: int) -> str:
    """A report with its findings, numbered from `first`."""
    findings = (f"{number}. {one.summary}: {one.text}" for number, one in enumerate(report.findings, first))
    return "\n".join((report.title, report.summary, *findings))


def _points(found: _PointFound, batch: Sequence[ReportFound]) -> Iterator[_Point]:
    """A point for each report that it refers to; none if no reference is valid."""
    known = [(report, finding) for report in batch for finding in report.findings]
    named = [known[number - 1] for number in dict.fromkeys(found.references) if 1 <= number <= len(known)]
    for report in {report.id: report for report, _ in named}.values():
        findings = [finding for of, finding in named if of.id == report.id]
        yield _Point(report, found.text, min(max(found.helpfulness, 0.0), _BEST), findings)


def _told(points: Sequence[_Point], support: reports.Support) -> Iterator[Report]:
    """A report for each community, with its points about the question and the passages that support them."""
    for report in {point.report.id: point.report for point in points}.values():
        own = [point for point in points if point.report.id == report.id]
        text = "\n".join(dict.fromkeys(point.text for point in own))
        behind = support.of(finding for point in own for finding in point.findings)
        yield Report(report.id, reports.title_of(report), text, own[0].helpfulness / _BEST, behind)
