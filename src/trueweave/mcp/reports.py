"""The tool `report`, and the method that finds the reports nearest to a text without calling a language model."""

from __future__ import annotations

from dataclasses import dataclass

from trueweave.core.errors import NoReports
from trueweave.core.evidence import Evidence, Query, Report
from trueweave.core.protocols import ReportFound
from trueweave.engine.trueweave import AsyncTrueweave
from trueweave.mcp.arguments import ReportArguments
from trueweave.mcp.bounds import LONGEST_REPORT, MOST_CHARACTERS, Room
from trueweave.mcp.reply import ToolReply, counted
from trueweave.mcp.results import ReportEntry, ReportsOutput
from trueweave.retrieval.context import QueryContext
from trueweave.retrieval.methods import reports


@dataclass(frozen=True)
class NearestReports:
    """Finds the reports of a level, or of the finest, that are nearest to a text; if nothing is embedded, those about
    the largest communities."""

    limit: int
    level: int

    async def retrieve(self, query: Query, context: QueryContext) -> Evidence:
        """The reports, in full."""
        finest = len(await reports.levels(query, context)) - 1
        found = await reports.nearest(query, context, min(self.level, finest), self.limit)
        return Evidence(reports=tuple(map(_whole, found)))


def _whole(found: ReportFound) -> Report:
    return Report(found.id, reports.title_of(found), reports.text_of(found), found.score)


async def report(trueweave: AsyncTrueweave, asked: ReportArguments) -> ToolReply:
    """The reports nearest to a text, or one in full."""
    room = Room()
    if asked.id:
        shown = [_entry(await _by_id(trueweave, asked.id), room, MOST_CHARACTERS, asked.start)]
        more = f"It goes on: call `report` with the same id and start {shown[0].end}." if shown[0].truncated else ""
    else:
        method = NearestReports(asked.limit, asked.level)
        found = (await trueweave.retrieve(asked.text, method)).reports
        shown = [_entry(one, room, LONGEST_REPORT) for one in found if not room.is_full()]
        more = "What was cut is read in full by calling `report` with the id of the report." if room.is_cut else ""
    output = ReportsOutput(reports=shown, truncated=bool(more), more=more)
    told = f"{counted(len(shown), 'report', 'reports')} on groups of related entities, written from the documents."
    return ToolReply(output, told, tuple(f"{one.title}\nid: {one.id}\n\n{one.text}" for one in shown))


async def _by_id(trueweave: AsyncTrueweave, id_: str) -> Report:
    community = await trueweave.communities.get(id_)
    written = await trueweave.communities.report(community.id)
    if written is None:
        raise NoReports(
            f"the community {community.id} has no report yet. Run `trueweave communities build`, or read the "
            "reports nearest to a text."
        )
    return Report(community.id, reports.title_of(written), written.text, 1.0)


def _entry(one: Report, room: Room, longest: int, start: int = 0) -> ReportEntry:
    title = room.line(one.title)
    text = room.text(one.text[start:], longest)
    end = min(start, len(one.text)) + len(text)
    return ReportEntry(str(one.id), title, text, round(one.score, 4), end, end < len(one.text))
