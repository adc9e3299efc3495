"""Community reports as evidence: which ones are read, and the passages that support them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from uuid import UUID

from trueweave.core.errors import InvalidArgument, NoReports
from trueweave.core.evidence import Passage, Query, Scored
from trueweave.core.graph import CommunityReport, Finding
from trueweave.core.protocols import ReportFound
from trueweave.retrieval.context import QueryContext


async def levels(query: Query, context: QueryContext) -> list[int]:
    """How many reports there are to read at each level. An error if there are none, or the question is filtered."""
    if query.filter:
        raise InvalidArgument(
            "reports cover all documents, so they cannot be filtered. Ask without a filter, or use another method: "
            "`trueweave methods` lists them."
        )
    found = await context.report_levels()
    if not found:
        raise NoReports(
            "there are no community reports yet. Run `trueweave communities build`, or use another method: "
            "`trueweave methods` lists them."
        )
    return found


async def nearest(query: Query, context: QueryContext, level: int, limit: int) -> list[ReportFound]:
    """The reports of a level nearest to the question; those on the largest communities if nothing is embedded."""
    vector = (await context.embed([query.text]))[0] if context.embeds else None
    return await context.reports(level, limit, vector)


def title_of(report: ReportFound | CommunityReport) -> str:
    """The title of a report, with a remark if its community has changed since."""
    return f"{report.title} (before its latest changes)" if report.stale else report.title


def text_of(report: ReportFound) -> str:
    """A whole report as text: its summary and findings."""
    return CommunityReport(report.title, report.summary, report.rating, "", tuple(report.findings)).text


class Support(NamedTuple):
    """The passages that support findings, best first. Where chunks of a finding no longer exist, `stated` has pairs of
    a relation and a chunk that states it, which take their place."""

    passages: Sequence[Passage]
    stated: Sequence[tuple[UUID, UUID]] = ()

    def of(self, findings: Iterable[Finding]) -> tuple[UUID, ...]:
        """The ids of the passages that support these findings."""
        some = list(findings)
        relations = {relation for one in some for relation in one.relations}
        chunks = {chunk for one in some for chunk in one.chunks}
        chunks |= {chunk for relation, chunk in self.stated if relation in relations}
        return tuple(passage.id for passage in self.passages if passage.id in chunks)


async def support(findings: Sequence[Scored[Finding]], limit: int, context: QueryContext) -> Support:
    """The chunks that support findings, those with more and better findings first.

    A stale report may rest on chunks that no longer exist: chunks that state its relations now take their place.
    """
    weights = _weights((chunk, one.score) for one in findings for chunk in one.item.chunks)
    found = await context.passages(_best(weights), limit)
    if len(found) >= min(limit, len(weights)):
        return Support(found)
    relations = _weights((relation, one.score) for one in findings for relation in one.item.relations)
    there = {passage.id for passage in found}
    stated = await context.chunks_of_relations([one.item for one in _best(relations)[:limit]])
    more = _weights((chunk, relations[relation]) for relation, chunk in stated if chunk not in there)
    return Support(found + await context.passages(_best(more), limit - len(found)), stated)


def _weights(pairs: Iterable[tuple[UUID, float]]) -> dict[UUID, float]:
    total: defaultdict[UUID, float] = defaultdict(float)
    for id_, weight in pairs:
        total[id_] += weight
    return dict(total)


def _best(weights: dict[UUID, float]) -> list[Scored[UUID]]:
    ranked = sorted(weights.items(), key=lambda pair: (-pair[1], pair[0]))
    return [Scored(id_, weight) for id_, weight in ranked]
