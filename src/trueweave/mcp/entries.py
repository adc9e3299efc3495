"""Passages, entities and relations in results of tools: as fields, within the room there is, and as text to quote."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from trueweave.core.evidence import Passage
from trueweave.core.graph import Entity, Relation
from trueweave.mcp.bounds import LONGEST_DESCRIPTION, LONGEST_PASSAGE, MOST_ALIASES, Room
from trueweave.mcp.results import EntityEntry, QuotedPassage, RelationEntry

T = TypeVar("T")
E = TypeVar("E")

READ_ON = "Text that was cut goes on: call `document` with the uri of the passage and its `end` as start."


def passage_entries(found: Iterable[Passage], room: Room) -> list[QuotedPassage]:
    """Entries for passages, as long as there is room."""
    made: list[QuotedPassage] = []
    for one in found:
        if not room.fits(one.uri):
            break
        source = room.line(one.source)
        text = room.text(one.text, LONGEST_PASSAGE)
        if not text:
            break
        end = one.start + len(text)
        made.append(QuotedPassage(one.uri, source, one.start, end, round(one.score, 4), text, end < one.end, one.day))
    return made


def entity_entry(one: Entity, room: Room, longest: int = LONGEST_DESCRIPTION) -> EntityEntry:
    """The entry for an entity, cut if there is little room."""
    aliases = [alias for alias in one.aliases if alias != one.name][:MOST_ALIASES]
    return EntityEntry(
        str(one.id),
        room.line(one.name),
        room.line(one.type),
        room.text(one.summary or one.description, longest),
        [room.line(alias) for alias in aliases],
        one.count,
        one.degree,
    )


def relation_entry(one: Relation, room: Room) -> RelationEntry:
    """The entry for a relation, cut if there is little room."""
    said = one.summary or one.description or ", ".join(one.keywords)
    return RelationEntry(
        room.line(one.source_name),
        room.line(one.target_name),
        room.line(one.type),
        room.line(said, LONGEST_DESCRIPTION),
        round(one.weight, 3),
    )


def entries(found: Iterable[T], make: Callable[[T, Room], E], room: Room) -> list[E]:
    """Entries for items, as long as there is any room."""
    made: list[E] = []
    for one in found:
        if room.is_full():
            break
        made.append(make(one, room))
    return made


# --- as text ------------------------------------------------------------------------------------------


def passage_text(one: QuotedPassage) -> str:
    """A passage under its source."""
    cut = " (goes on)" if one.truncated else ""
    dated = f", {one.date}" if one.date else ""
    return f"{one.source}{dated}\nuri: {one.uri}, characters {one.start} to {one.end}{cut}\n\n{one.text}"


def entity_text(one: EntityEntry) -> str:
    """An entity with its description."""
    kind = f" ({one.type})" if one.type else ""
    also = f"\nalso written: {'; '.join(one.aliases)}" if one.aliases else ""
    said = f"\n{one.description}" if one.description else ""
    return f"{one.name}{kind}, {one.mentions} mentions, {one.relations} relations, id {one.id[:8]}{also}{said}"


def relation_text(one: RelationEntry) -> str:
    """A relation on a line."""
    kind = f" [{one.type}]" if one.type else ""
    said = f": {one.description}" if one.description else ""
    arrow = "->" if kind or said else "--"  # names that only share a sentence have no direction
    return f"{one.source} {arrow} {one.target}{kind}, weight {one.weight:g}{said}"
