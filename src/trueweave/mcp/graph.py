"""The tools `entity`, `neighbours` and `path`."""

from __future__ import annotations

from trueweave.core.evidence import PathStep
from trueweave.core.record import NameKey
from trueweave.engine.trueweave import AsyncTrueweave
from trueweave.mcp.arguments import EntityArguments, NeighboursArguments, PathArguments, passing
from trueweave.mcp.bounds import LONGEST_PASSAGE, Room
from trueweave.mcp.entries import (
    READ_ON,
    entity_entry,
    entity_text,
    entries,
    passage_entries,
    passage_text,
    relation_entry,
    relation_text,
)
from trueweave.mcp.reply import ToolReply, counted
from trueweave.mcp.results import EntityOutput, NeighboursOutput, PathOutput, PathStepEntry, QuotedPassage

_LESS = "Not all of it fits into one result: ask for fewer relations and passages, or search for what is missing."


async def entity(trueweave: AsyncTrueweave, asked: EntityArguments) -> ToolReply:
    """An entity with its relations and passages that mention it."""
    found = await trueweave.graph.entity(
        NameKey.from_typed(asked.name),
        relations=asked.relations,
        passages=asked.passages,
        filter=passing((), asked.filter),
    )
    room = Room()
    one = entity_entry(found.entity, room, LONGEST_PASSAGE)
    relations = entries(found.relations, relation_entry, room)
    passages = passage_entries(found.passages, room)
    more = _more(room, passages)
    output = EntityOutput(entity=one, relations=relations, passages=passages, truncated=bool(more), more=more)
    told = (
        f"An entity, {len(relations)} of its {counted(one.relations, 'relation', 'relations')}, and "
        f"{counted(len(passages), 'passage', 'passages')} that mention it."
    )
    listed = ["\n".join(map(relation_text, relations))] if relations else []
    return ToolReply(output, told, (entity_text(one), *listed, *map(passage_text, passages)))


async def neighbours(trueweave: AsyncTrueweave, asked: NeighboursArguments) -> ToolReply:
    """The entities around one."""
    found = await trueweave.graph.neighbours(
        NameKey.from_typed(asked.name), hops=asked.hops, limit=asked.limit, filter=passing((), asked.filter)
    )
    room = Room()
    shown = entries(found, entity_entry, room)
    more = "Descriptions were cut: `entity` gives more of one. A smaller limit leaves more room." if room.is_cut else ""
    output = NeighboursOutput(entities=shown, truncated=bool(more), more=more)
    if not shown:
        return ToolReply(output, "Nothing is related to it.")
    told = f"{counted(len(shown), 'entity', 'entities')}, the nearest first."
    return ToolReply(output, told, tuple(map(entity_text, shown)))


async def path(trueweave: AsyncTrueweave, asked: PathArguments) -> ToolReply:
    """How two entities are connected."""
    ends = NameKey.from_typed(asked.start), NameKey.from_typed(asked.end)
    found = await trueweave.graph.path(
        *ends, longest=asked.longest, passages=asked.passages, filter=passing((), asked.filter)
    )
    if found is None:
        missing = PathOutput(found=False, names=[], steps=[])
        return ToolReply(missing, f"No path of at most {counted(asked.longest, 'relation', 'relations')} leads there.")
    room = Room()
    names = [room.line(one.name) for one in found.entities]
    steps = entries(found.steps, _step, room)
    passages = [passage for step in steps for passage in step.passages]
    more = _more(room, passages)
    output = PathOutput(found=True, names=names, steps=steps, truncated=bool(more), more=more)
    told = f"A path of {counted(len(found.steps), 'relation', 'relations')}."
    return ToolReply(output, told, (" - ".join(names), *(text for step in steps for text in _step_texts(step))))


def _step(one: PathStep, room: Room) -> PathStepEntry:
    return PathStepEntry(relation_entry(one.relation, room), one.forward, passage_entries(one.passages, room))


def _step_texts(step: PathStepEntry) -> list[str]:
    return [relation_text(step.relation), *map(passage_text, step.passages)]


def _more(room: Room, passages: list[QuotedPassage]) -> str:
    parts = [READ_ON] if any(one.truncated for one in passages) else []
    return " ".join([*parts, *([_LESS] if room.is_cut and not parts else [])])
