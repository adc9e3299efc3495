"""The sentences in which documents mention an entity or state a relation."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from uuid import UUID

from trueweave.core.errors import UnknownRelation
from trueweave.core.evidence import EntityMention, MentionCounts, RelationStatement
from trueweave.core.graph import Relation
from trueweave.core.record import Span
from trueweave.engine.lookup import no_entity
from trueweave.ingest.extract.spans import Finder
from trueweave.store.postgres.db import Workspace
from trueweave.store.postgres.view.mentions import FoundMention, FoundStatement, MentionPlace, StatementPlace
from trueweave.store.postgres.view.seen import lookups
from trueweave.text import sentences

_LONGEST = 600  # characters of a sentence that are returned


async def of_entity(
    workspace: Workspace, entity: UUID, limit: int, document: str = "", after: MentionPlace | None = None
) -> list[tuple[MentionPlace, EntityMention]]:
    """Mentions of an entity, each with its place in the list; with `after`, those after this place. Raises
    UnknownEntity if there is none with this id."""
    async with workspace.transaction(snapshot=True) as tx:
        graph = lookups(tx)
        if not await graph.is_entity(entity):
            raise no_entity(entity)
        found = await graph.mentions(entity, limit, document, after)
    return await asyncio.to_thread(lambda: [(one.place, _mention(one)) for one in found])


async def counts(workspace: Workspace, entity: UUID, limit: int) -> MentionCounts:
    """How often documents mention an entity. Raises UnknownEntity if there is none with this id."""
    async with workspace.transaction(snapshot=True) as tx:
        graph = lookups(tx)
        if not await graph.is_entity(entity):
            raise no_entity(entity)
        return await graph.mention_counts(entity, limit)


async def one_relation(workspace: Workspace, id_: UUID) -> Relation:
    """The relation with this id. Raises UnknownRelation if there is none."""
    async with workspace.transaction(snapshot=True) as tx:
        graph = lookups(tx)
        found = await graph.relation(id_)
    if found is None:
        raise _no_relation(id_)
    return found


async def of_relation(
    workspace: Workspace, id_: UUID, limit: int, after: StatementPlace | None = None
) -> list[tuple[StatementPlace, RelationStatement]]:
    """Statements of a relation, each with its place in the list; with `after`, those after this place. Raises
    UnknownRelation if there is none with this id."""
    async with workspace.transaction(snapshot=True) as tx:
        graph = lookups(tx)
        if await graph.relation(id_) is None:
            raise _no_relation(id_)
        found = await graph.statements(id_, limit, after)
    return await asyncio.to_thread(lambda: [(one.place, statement(one)) for one in found])


def _no_relation(id_: UUID) -> UnknownRelation:
    return UnknownRelation(
        f"there is no relation with the id {id_}. It changes when an entity is merged or split.",
        hint="`trueweave relations` shows which there are.",
    )


def _mention(found: FoundMention) -> EntityMention:
    offset, start, end, skipped, text = found.around
    if end:
        span = start - skipped, end - skipped
    else:
        finder = Finder(text)
        span = min((place for name in found.names for place in finder.find(name)[:1]), default=(0, 0))
    first, behind = sentence_around(text, span)
    begins = offset + skipped
    return EntityMention(
        found.place[0],
        found.title,
        found.chunk,
        begins + span[0],
        begins + span[1],
        text[first:behind],
        begins + first,
    )


def statement(found: FoundStatement) -> RelationStatement:
    """A statement in its sentence."""
    offset, start, end, skipped, text = found.around
    finder = Finder(text)
    names = [finder.find(found.source), finder.find(found.target)]
    span = (start - skipped, end - skipped) if end else _nearest(*names)
    first, behind = sentence_around(text, span)
    begins = offset + skipped
    named = sorted({place for places in names for place in places if first <= place[0] and place[1] <= behind})
    return RelationStatement(
        found.place[0],
        found.title,
        found.chunk,
        text[first:behind],
        begins + first,
        tuple((begins + one, begins + other) for one, other in named),
        found.source,
        found.target,
        found.description,
        tuple(found.keywords),
        found.strength,
        found.date,
    )


def _nearest(source: Sequence[Span], target: Sequence[Span]) -> Span:
    """The span from one name to the other where they are nearest to each other; or that of one name, if the other was
    not found near it."""
    pairs = [(min(a[0], b[0]), max(a[1], b[1])) for a in source for b in target]
    near = [(a, b) for a, b in pairs if b - a <= _LONGEST]
    return min(near, key=lambda one: (one[1] - one[0], one)) if near else next(iter((*source, *target)), (0, 0))


def sentence_around(text: str, span: Span) -> Span:
    """The sentences of a text that a span is in. If they are long, the part of them around the beginning of the
    span."""
    start, end = span[0], min(span[1], span[0] + _LONGEST, len(text))
    there = [(a, b) for a, b in sentences.split(text) if a < max(end, start + 1) and b > start]
    first, behind = min((start, *(a for a, _ in there))), max((end, *(b for _, b in there)))
    if behind - first > _LONGEST:
        first = max(first, min(start - (_LONGEST - (end - start)) // 2, behind - _LONGEST))
        behind = max(min(behind, first + _LONGEST), end)
    return first, behind
