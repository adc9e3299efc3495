"""The tool `conflicts`."""

from __future__ import annotations

from trueweave.core.conflicts import Conflict, ConflictSide
from trueweave.core.evidence import RelationStatement
from trueweave.engine.trueweave import AsyncTrueweave
from trueweave.mcp.arguments import ConflictsArguments, passing
from trueweave.mcp.bounds import LONGEST_DESCRIPTION, Room
from trueweave.mcp.entries import entries
from trueweave.mcp.reply import ToolReply, counted
from trueweave.mcp.results import ConflictEntry, ConflictsOutput, ConflictValueEntry, StatementEntry

_STATEMENTS = 2  # of each value
_LESS = "Not all of it fits into one result: ask for fewer, or only for documents that pass a filter."


async def conflicts(trueweave: AsyncTrueweave, asked: ConflictsArguments) -> ToolReply:
    """What documents state differently of entities of which only one can be right."""
    found = await trueweave.graph.conflicts(asked.limit, statements=_STATEMENTS, filter=passing((), asked.filter))
    room = Room()
    shown = entries(found, _conflict, room)
    more = _LESS if room.is_cut else ""
    output = ConflictsOutput(conflicts=shown, truncated=bool(more), more=more)
    if not shown:
        return ToolReply(output, "No document contradicts another, as far as the settings say what has one value.")
    told = f"{counted(len(shown), 'conflict', 'conflicts')}. Which value is right is not known; the newest may be."
    return ToolReply(output, told, tuple(map(_text, shown)))


def _conflict(one: Conflict, room: Room) -> ConflictEntry:
    def value(side: ConflictSide, room: Room) -> ConflictValueEntry:
        said = [entry for entry in entries(side.statements, _statement, room) if entry.uri]
        return ConflictValueEntry(room.line(side.name), side.date[:10], side.entity == one.newest, side.documents, said)

    named = room.line(one.name), room.line(one.relation)
    return ConflictEntry(*named, one.status, entries(one.sides, value, room))


def _statement(one: RelationStatement, room: Room) -> StatementEntry:
    uri = one.uri if room.fits(one.uri) else ""
    return StatementEntry(uri, one.date[:10], one.text_start, room.text(one.text, LONGEST_DESCRIPTION))


def _text(one: ConflictEntry) -> str:
    lines = [f"{one.relation}, {one.name}: {one.status}"]
    for value in one.values:
        newest = ", newest" if value.newest else ""
        documents = counted(value.documents, "document", "documents")
        lines.append(f"- {value.name} ({value.date or 'no date'}{newest}, {documents})")
        lines += [f"  uri: {said.uri}, from character {said.start}: {said.text}" for said in value.statements]
    return "\n".join(lines)
