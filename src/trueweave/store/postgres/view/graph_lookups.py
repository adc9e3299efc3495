"""Looks up entities, relations, paths and parts of the graph, and where documents mention and state them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from math import ceil
from typing import Any, NamedTuple
from uuid import UUID

from trueweave.core.evidence import EntitySpan, MentionCounts
from trueweave.core.graph import Entity, GraphEdge, GraphNode, GraphPart, GraphTypes, Relation, TypeCount
from trueweave.core.jobs import Status
from trueweave.core.record import NameKey
from trueweave.graph.aggregate import THOUSANDTHS
from trueweave.graph.paths import Edge, Reach
from trueweave.store.limits import FAN_OUT, NAMES
from trueweave.store.postgres.binary_params import Ids
from trueweave.store.postgres.connections import Row
from trueweave.store.postgres.db import Transaction
from trueweave.store.postgres.view import mentions, pages, read
from trueweave.store.postgres.view.likeness import (
    MOST_READ,
    NAMES_AT_ONCE,
    NEAR,
    WordHit,
    id_range,
    patterns,
    similar,
    word_share,
)
from trueweave.store.postgres.view.lookup import FoundDocument
from trueweave.store.postgres.view.mentions import FoundMention, FoundStatement, MentionPlace, StatementPlace
from trueweave.text import phrases
from trueweave.text.folding import bare

DRAWN = 500  # entities of a part of the graph, at most
_WIDEST = 500  # entities expanded at each step of a path
LOOKED_THROUGH = 2000  # relations examined per entity when looking for those among a set of entities
COMPLETED = 2000  # names examined to complete a text, in each of two indexes
_EDGES_EACH = 6  # relations of a part of the graph for each entity, at most
MOST_CHARACTERS = 2**31 - 1  # of a document


class Neighbours(NamedTuple):
    """Which neighbours of entities to draw: up to `limit` of each entity, of those in `types` if it is not empty, over
    relations of at least `min_weight`, optionally only those that a document states."""

    exclude: Sequence[UUID] = ()
    types: Sequence[str] = ()
    min_weight: float = 0.0
    document: UUID | None = None
    limit: int = 20

    @property
    def least(self) -> int:
        """The lowest weight as stored."""
        return ceil(self.min_weight * THOUSANDTHS)


# The position of a row on a page, after which the next page begins.
EntityPlace = tuple[int, str, UUID]  # count, name, id
RelationPlace = tuple[float, UUID]  # weight, id
SpanPlace = tuple[int, int, UUID, UUID]  # start, end, chunk, entity


class GraphLookups:
    """Look-ups in the graph of all documents."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx

    async def status(self) -> Status:
        """The size of the workspace, and what still has to be indexed."""
        return await read.status(self._tx)

    # --- names --------------------------------------------------------------------------------------------

    async def named(self, key: NameKey) -> list[UUID]:
        """The entities with this name: those with exactly this spelling, or else those whose name differs only in case,
        accents or articles."""
        number = phrases.number(phrase) if (phrase := phrases.phrase(key.name)) else None
        rows = await self._named(key.name, number, key.type)
        return [id_ for id_, exactly in rows if exactly] or [id_ for id_, _ in rows]

    async def _named(self, name: str, phrase: int | None, type_: str) -> list[tuple[UUID, bool]]:
        return await self._tx.rows("lookup.named", name=name, phrase=phrase, type=type_)

    async def beginning(self, text: str) -> list[UUID]:
        """The entities whose id starts with this text, at most two; none if it cannot be the start of an id."""
        between = id_range(text)
        return await self._between(*between) if between else []

    async def _between(self, first: UUID, last: UUID) -> list[UUID]:
        return [id_ for (id_,) in await self._tx.rows("lookup.entities_between", first=first, last=last)]

    async def completions(self, text: str, limit: int, *, examined: int = COMPLETED) -> list[GraphNode]:
        """The entities with a name that begins with a text, then those with a name whose last word does."""
        rows = await self._tx.rows("lookup.completions", text=text, examined=examined, limit=limit)
        return [GraphNode(*row) for row in rows]

    async def near_names(self, name: str) -> list[NameKey]:
        """The mentioned names most similar to this one. They are read page by page."""
        best: dict[NameKey, tuple[float, int]] = {}
        sought, after = bare(name), UUID(int=0)
        for _ in range(MOST_READ // NAMES_AT_ONCE):
            rows = await self._live_names(after, NAMES_AT_ONCE)
            scores = await asyncio.to_thread(similar, sought, [written for _, written, *_ in rows])
            for n, score in scores:
                _, written, type_, _, count = rows[n]
                best[NameKey(written, type_)] = score, count
            best = dict(sorted(best.items(), key=lambda one: one[1], reverse=True)[:NEAR])
            if len(rows) < NAMES_AT_ONCE:
                break
            after = rows[-1][0]
        return list(best)

    async def _live_names(self, after: UUID, limit: int) -> list[Row]:
        """A page of names by id: id, spelling, type, entity and number of mentions."""
        return await self._tx.rows("suggest.live_names", after=after, limit=limit)

    async def entities_with_words(self, text: str, limit: int, type_: str = "") -> list[WordHit]:
        """The entities with the most words of a text in one of their names, shortest names first."""
        sought = patterns(text)
        return word_share(await self._names_with(sought, limit, type_), sought) if sought else []

    async def _names_with(self, sought: Sequence[str], limit: int, type_: str) -> Sequence[tuple[UUID, int]]:
        return await self._tx.rows("lookup.entities_with_words", patterns=sought, limit=limit, type=type_)

    async def relations_with_words(self, text: str, limit: int) -> list[WordHit]:
        """The relations with the most words of a text in the names of their ends or in their description."""
        sought = patterns(text)
        return word_share(await self._relations_with(sought, limit), sought) if sought else []

    async def _relations_with(self, sought: Sequence[str], limit: int) -> Sequence[tuple[UUID, int]]:
        return await self._tx.rows("lookup.relations_with_words", patterns=sought, limit=limit)

    # --- entities and relations ---------------------------------------------------------------------------

    async def is_entity(self, entity: UUID) -> bool:
        """Whether there is an entity with this id."""
        return await mentions.is_entity(self._tx, entity)

    async def entities(self, limit: int, type_: str = "", after: EntityPlace | None = None) -> list[Entity]:
        """The most mentioned entities, optionally of one type; with `after`, those after this place."""
        return await pages.entities(self._tx, limit, type_=type_, after=after)

    async def relation(self, id_: UUID) -> Relation | None:
        """The relation with this id."""
        return await mentions.one_relation(self._tx, id_)

    async def relations(
        self, limit: int, of: Sequence[UUID] = (), after: RelationPlace | None = None
    ) -> list[Relation]:
        """The heaviest relations, optionally of some entities; with `after`, those after this place."""
        return await pages.relations(self._tx, limit, of=of, after=after)

    async def relations_of(self, ids: Sequence[UUID], limit: int) -> list[Relation]:
        """The relations from and to these entities, heaviest first; of the same weight, by the names of their ends."""
        return await read.relations_of(self._tx, ids, limit)

    async def heaviest_relations(self, limit: int) -> list[UUID]:
        """The heaviest relations of all; of the same weight, by the names of their ends."""
        return [id_ for (id_,) in await self._tx.rows("lookup.heaviest_relations", limit=limit)]

    async def types(self, limit: int) -> GraphTypes:
        """The most frequent types of entities and of relations. Reads all of them."""
        entities = [TypeCount(*row) for row in await self._tx.rows("lookup.entity_types", limit=limit)]
        relations = [TypeCount(*row) for row in await self._tx.rows("lookup.relation_types", limit=limit)]
        return GraphTypes(tuple(entities), tuple(relations))

    # --- paths and parts ----------------------------------------------------------------------------------

    async def path(self, start: UUID, end: UUID, longest: int) -> tuple[list[UUID], list[UUID]] | None:
        """The entities and relations of the strongest of the shortest paths between two entities. Each hop is one
        step of the search, alternating between both ends. Only the heaviest relations of each entity are followed, so
        a light relation of a hub is found from its other end. None if they are not connected within `longest`
        relations."""
        there, back = Reach(start), Reach(end)
        while (met := there.meets(back)) is None:
            if there.hops + back.hops >= longest or not (there.edge and back.edge):
                return None
            growing = min(there, back, key=lambda one: (one.hops, len(one.edge)))
            growing.grow(await self._edges(growing.edge, FAN_OUT), _WIDEST)
        entities, relations = there.way_to(met)
        others, further = back.way_to(met)
        return [*entities, *others[-2::-1]], [*relations, *further[::-1]]

    async def _edges(self, ids: Sequence[UUID], fan_out: int) -> list[Edge]:
        """The heaviest relations of each entity, in both directions."""
        return [Edge(*row) for row in await self._tx.rows("lookup.edges", ids=Ids(ids), fan_out=fan_out)]

    async def relations_among(self, ids: Sequence[UUID], limit: int) -> list[UUID]:
        """The heaviest relations between these entities."""
        rows = await self._tx.rows("lookup.relations_among", ids=Ids(ids), fan_out=LOOKED_THROUGH, limit=limit)
        return [id_ for (id_,) in rows]

    async def part(
        self, ids: Sequence[UUID], chunks: Sequence[UUID], limit: int, document: UUID | None = None
    ) -> GraphPart:
        """Up to `limit` of these entities and of those that these chunks mention, with the heaviest relations between
        them, optionally only those that a document states."""
        nodes, number = await self._nodes(ids, chunks, limit)
        edges, relations = await self._edges_among([node.id for node in nodes], _EDGES_EACH * len(nodes), document)
        return GraphPart(nodes, edges, number, relations)

    async def _nodes(
        self, ids: Sequence[UUID], chunks: Sequence[UUID], limit: int
    ) -> tuple[tuple[GraphNode, ...], int]:
        """Up to `limit` of these entities and of those that these chunks mention, and how many there are."""
        found = await self._tx.rows("lookup.nodes", ids=Ids(ids), chunks=Ids(chunks), limit=limit)
        return tuple(GraphNode(*row[:-1]) for row in found), found[0][-1] if found else 0

    async def _edges_among(
        self, ids: Sequence[UUID], limit: int, document: UUID | None
    ) -> tuple[tuple[GraphEdge, ...], int]:
        """The heaviest relations between these entities, and how many there are; optionally only those that a document
        states."""
        rows = await self._tx.rows(
            "lookup.edges_among", ids=Ids(ids), document=document, fan_out=LOOKED_THROUGH, limit=limit
        )
        edges = tuple(
            GraphEdge(id_, source, target, type_, weight / THOUSANDTHS)
            for id_, source, target, type_, weight, _ in rows
        )
        return edges, rows[0][-1] if rows else 0

    async def around(self, ids: Sequence[UUID], wanted: Neighbours, hops: int) -> GraphPart:
        """These entities and their neighbours within `hops` relations, those with the heaviest relations. `entities`
        counts all neighbours of the entities whose neighbours were looked for."""
        shown, latest = list(dict.fromkeys(ids)), list(dict.fromkeys(ids))
        followed, total = list(shown), 0
        for hop in range(hops):
            room = DRAWN - len(shown)
            rows = await self._neighbours(latest, shown, wanted, room) if room > 0 else []
            total = len(followed) + (rows[0][1] if rows else 0)
            latest = [id_ for id_, _ in rows]
            shown += latest
            if not latest or hop + 1 == hops:
                break
            followed += latest
        if len(followed) > len({*ids}):  # an entity may be a neighbour of several
            rows = await self._neighbours(followed, followed, wanted, 1)
            total = len(followed) + (rows[0][1] if rows else 0)
        return replace(await self.part(shown, [], len(shown), wanted.document), entities=total)

    async def _neighbours(
        self, ids: Sequence[UUID], shown: Sequence[UUID], wanted: Neighbours, limit: int
    ) -> Sequence[tuple[UUID, int]]:
        """The neighbours to draw, each with the number of all."""
        return await self._tx.rows(
            "lookup.heaviest_neighbours",
            ids=Ids(ids),
            exclude=Ids([*wanted.exclude, *shown]),
            types=[type_.lower() for type_ in wanted.types],
            least=wanted.least,
            document=wanted.document,
            fan_out=LOOKED_THROUGH,
            each=wanted.limit,
            limit=limit,
        )

    # --- in documents -------------------------------------------------------------------------------------

    async def chunks_of(self, kind: str, ids: Sequence[UUID], each: int) -> dict[UUID, list[UUID]]:
        """For each of these "entities" or "relations", the chunks that are most about it."""
        found: dict[UUID, list[UUID]] = {id_: [] for id_ in ids}
        for id_, chunk in await self._tx.rows(f"lookup.chunks_of_{kind}", ids=Ids(found), names=NAMES, each=each):
            found[id_].append(chunk)
        return found

    async def spans(
        self, of: FoundDocument, start: int, end: int | None, limit: int, after: SpanPlace | None = None
    ) -> list[EntitySpan]:
        """The spans of a document that mention entities, between two characters, in order; with `after`, those after
        this place."""
        first, behind, chunk, entity = after or (start, None, None, None)
        given: dict[str, Any] = {"first": first, "behind": behind, "chunk": chunk, "entity": entity}
        until = MOST_CHARACTERS if end is None else end
        rows = await self._tx.rows(
            "lookup.document_mentions", id=of.id, start=max(start, first), end=until, limit=limit, **given
        )
        return [EntitySpan(*row) for row in rows]

    async def mentioned(self, of: FoundDocument, limit: int) -> dict[UUID, int]:
        """The entities that a document mentions most, with the number of their mentions."""
        rows = await self._tx.rows("lookup.document_entities", id=of.id, limit=limit)
        return {id_: int(count) for id_, count in rows}

    async def mentions(
        self, entity: UUID, limit: int, document: str = "", after: MentionPlace | None = None
    ) -> list[FoundMention]:
        """Where documents mention an entity, by uri and position; optionally only one document; with `after`, the
        places after this one."""
        return await mentions.of_entity(self._tx, mentions.of_one(entity), limit, document, after)

    async def mention_counts(self, entity: UUID, limit: int) -> MentionCounts:
        """How often documents mention an entity, for the `limit` documents that do so most."""
        return await mentions.counts(self._tx, mentions.of_one(entity), limit)

    async def statements(self, relation: UUID, limit: int, after: StatementPlace | None = None) -> list[FoundStatement]:
        """The statements of a relation, by uri and position; with `after`, those after this place."""
        return await mentions.of_relation(self._tx, mentions.of_pair(relation), limit, after)
