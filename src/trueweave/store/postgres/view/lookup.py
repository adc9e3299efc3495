"""Looks up entities by name, paths between them, and documents by uri."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from math import ceil
from typing import Any, NamedTuple
from uuid import UUID

from rapidfuzz import fuzz, process

from trueweave.core.evidence import DocumentOutline, EntitySpan, Passage, place_at
from trueweave.core.graph import GraphEdge, GraphNode, GraphPart, GraphTypes, TypeCount
from trueweave.core.record import NameKey, Place
from trueweave.graph.aggregate import THOUSANDTHS
from trueweave.graph.paths import Edge, Reach
from trueweave.store.limits import FAN_OUT, NAMES
from trueweave.store.postgres.binary_params import Ids
from trueweave.store.postgres.db import Transaction
from trueweave.text import phrases
from trueweave.text.folding import bare
from trueweave.text.stopwords import FUNCTION_WORDS

DRAWN = 500  # entities of a part of the graph, at most
_WIDEST = 500  # entities expanded at each step of a path
_LOOKED_THROUGH = 2000  # relations examined per entity when looking for those among a set of entities
_COMPLETED = 2000  # names examined to complete a text, in each of two indexes
_EDGES_EACH = 6  # relations of a part of the graph for each entity, at most
_NEAR = 5  # names suggested
_LEAST_ALIKE = 60  # per cent
_COMPARED = 200  # characters of a name that are compared
_NAMES_AT_ONCE = 2000
_MOST_READ = 500_000  # names compared with one that was not found
_MOST_CHARACTERS = 2**31 - 1  # of a document
_MOST_WORDS = 20  # words of a query looked for in names
_SMALL_WORDS = frozenset().union(*FUNCTION_WORDS.values())
_ID = re.compile(r"[0-9a-f]{8}[0-9a-f-]{0,28}", re.IGNORECASE)


async def named(tx: Transaction, key: NameKey) -> list[UUID]:
    """The entities with this name: those with exactly this spelling, or else those whose name differs only in case,
    accents or articles."""
    number = phrases.number(phrase) if (phrase := phrases.phrase(key.name)) else None
    rows = await tx.rows("lookup.named", name=key.name, phrase=number, type=key.type)
    return [id_ for id_, exactly in rows if exactly] or [id_ for id_, _ in rows]


async def beginning(tx: Transaction, text: str) -> list[UUID]:
    """The entities whose id starts with this text, at most two; none if it cannot be the start of an id."""
    digits = text.replace("-", "")
    if not _ID.fullmatch(text) or len(digits) > 32:
        return []
    first, last = UUID(digits.ljust(32, "0")), UUID(digits.ljust(32, "f"))
    return [id_ for (id_,) in await tx.rows("lookup.entities_between", first=first, last=last)]


async def completions(tx: Transaction, text: str, limit: int, *, examined: int = _COMPLETED) -> list[GraphNode]:
    """The entities with a name that begins with a text, then those with a name whose last word does."""
    rows = await tx.rows("lookup.completions", text=text, examined=examined, limit=limit)
    return [GraphNode(*row) for row in rows]


async def near_names(tx: Transaction, name: str) -> list[NameKey]:
    """The mentioned names most similar to this one. They are read page by page."""
    best: dict[NameKey, tuple[float, int]] = {}
    sought, after = bare(name), UUID(int=0)
    for _ in range(_MOST_READ // _NAMES_AT_ONCE):
        rows = await tx.rows("suggest.live_names", after=after, limit=_NAMES_AT_ONCE)
        scores = await asyncio.to_thread(_alike, sought, [written for _, written, *_ in rows])
        for n, score in scores:
            _, written, type_, _, count = rows[n]
            best[NameKey(written, type_)] = score, count
        best = dict(sorted(best.items(), key=lambda one: one[1], reverse=True)[:_NEAR])
        if len(rows) < _NAMES_AT_ONCE:
            break
        after = rows[-1][0]
    return list(best)


async def near_uris(tx: Transaction, uri: str) -> list[str]:
    """The uris most similar to this one."""
    best: dict[str, float] = {}
    async for page in _uris(tx):
        best |= {page[n]: score for n, score in await asyncio.to_thread(_alike, bare(uri), page)}
        best = dict(sorted(best.items(), key=lambda one: one[1], reverse=True)[:_NEAR])
    return list(best)


async def _uris(tx: Transaction) -> AsyncIterator[list[str]]:
    after = ""
    for _ in range(_MOST_READ // _NAMES_AT_ONCE):
        page = [uri for (uri,) in await tx.rows("lookup.uris_after", after=after, limit=_NAMES_AT_ONCE)]
        yield page
        if len(page) < _NAMES_AT_ONCE:
            return
        after = page[-1]


def _alike(sought: str, written: Sequence[str]) -> list[tuple[int, float]]:
    forms = [bare(one[:_COMPARED]) for one in written]
    found = process.extract(sought[:_COMPARED], forms, scorer=fuzz.WRatio, limit=_NEAR, score_cutoff=_LEAST_ALIKE)
    return [(n, score) for _, score, n in found]


# --- by words -----------------------------------------------------------------------------------------


class WordHit(NamedTuple):
    """An object in which words were found, and the share of the words found."""

    id: UUID
    share: float


async def entities_with_words(tx: Transaction, text: str, limit: int, type_: str = "") -> list[WordHit]:
    """The entities with the most words of a text in one of their names, shortest names first."""
    return await _with_words(tx, "lookup.entities_with_words", text, limit=limit, type=type_)


async def relations_with_words(tx: Transaction, text: str, limit: int) -> list[WordHit]:
    """The relations with the most words of a text in the names of their ends or in their description."""
    return await _with_words(tx, "lookup.relations_with_words", text, limit=limit)


async def _with_words(tx: Transaction, query: str, text: str, **params: Any) -> list[WordHit]:
    every = list(dict.fromkeys(one.word for one in phrases.words(text)))
    words = ([word for word in every if word not in _SMALL_WORDS] or every)[:_MOST_WORDS]
    if not words:
        return []
    rows = await tx.rows(query, patterns=[f"% {word}%" for word in words], **params)
    return [WordHit(id_, hits / len(words)) for id_, hits in rows]


async def heaviest_relations(tx: Transaction, limit: int) -> list[UUID]:
    """The heaviest relations of all."""
    return [id_ for (id_,) in await tx.rows("lookup.heaviest_relations", limit=limit)]


# --- paths --------------------------------------------------------------------------------------------


async def path(tx: Transaction, start: UUID, end: UUID, longest: int) -> tuple[list[UUID], list[UUID]] | None:
    """The entities and relations of the strongest of the shortest paths between two entities. Each hop is one
    statement, alternating between both ends. Only the heaviest relations of each entity are followed, so a light
    relation of a hub is found from its other end. None if they are not connected within `longest` relations."""
    there, back = Reach(start), Reach(end)
    while (met := there.meets(back)) is None:
        if there.hops + back.hops >= longest or not (there.edge and back.edge):
            return None
        growing = min(there, back, key=lambda one: (one.hops, len(one.edge)))
        rows = await tx.rows("lookup.edges", ids=Ids(growing.edge), fan_out=FAN_OUT)
        growing.grow([Edge(*row) for row in rows], _WIDEST)
    entities, relations = there.way_to(met)
    others, further = back.way_to(met)
    return [*entities, *others[-2::-1]], [*relations, *further[::-1]]


async def relations_among(tx: Transaction, ids: Sequence[UUID], limit: int) -> list[UUID]:
    """The heaviest relations between these entities."""
    rows = await tx.rows("lookup.relations_among", ids=Ids(ids), fan_out=_LOOKED_THROUGH, limit=limit)
    return [id_ for (id_,) in rows]


async def part(
    tx: Transaction, ids: Sequence[UUID], chunks: Sequence[UUID], limit: int, document: UUID | None = None
) -> GraphPart:
    """Up to `limit` of these entities and of those that these chunks mention, with the heaviest relations between
    them, optionally only those that a document states."""
    found = await tx.rows("lookup.nodes", ids=Ids(ids), chunks=Ids(chunks), limit=limit)
    nodes = tuple(GraphNode(*row[:-1]) for row in found)
    edges, relations = await edges_among(tx, [node.id for node in nodes], _EDGES_EACH * len(nodes), document)
    return GraphPart(nodes, edges, found[0][-1] if found else 0, relations)


class Neighbours(NamedTuple):
    """Which neighbours of entities to draw: up to `limit` of each entity, of those in `types` if it is not empty, over
    relations of at least `min_weight`, optionally only those that a document states."""

    exclude: Sequence[UUID] = ()
    types: Sequence[str] = ()
    min_weight: float = 0.0
    document: UUID | None = None
    limit: int = 20


async def around(tx: Transaction, ids: Sequence[UUID], wanted: Neighbours, hops: int) -> GraphPart:
    """These entities and their neighbours within `hops` relations, those with the heaviest relations. `entities` counts
    all neighbours of the entities whose neighbours were looked for."""
    shown, latest = list(dict.fromkeys(ids)), list(dict.fromkeys(ids))
    followed, total = list(shown), 0
    for hop in range(hops):
        rows = await _neighbours(tx, latest, shown, wanted, DRAWN - len(shown)) if len(shown) < DRAWN else []
        total = len(followed) + (rows[0][1] if rows else 0)
        latest = [id_ for id_, _ in rows]
        shown += latest
        if not latest or hop + 1 == hops:
            break
        followed += latest
    if len(followed) > len({*ids}):  # an entity may be a neighbour of several
        rows = await _neighbours(tx, followed, followed, wanted, 1)
        total = len(followed) + (rows[0][1] if rows else 0)
    found = await part(tx, shown, [], len(shown), wanted.document)
    return replace(found, entities=total)


async def _neighbours(
    tx: Transaction, ids: Sequence[UUID], shown: Sequence[UUID], wanted: Neighbours, limit: int
) -> list[tuple[UUID, int]]:
    return await tx.rows(
        "lookup.heaviest_neighbours",
        ids=Ids(ids),
        exclude=Ids([*wanted.exclude, *shown]),
        types=[type_.lower() for type_ in wanted.types],
        least=ceil(wanted.min_weight * THOUSANDTHS),
        document=wanted.document,
        fan_out=_LOOKED_THROUGH,
        each=wanted.limit,
        limit=limit,
    )


async def types(tx: Transaction, limit: int) -> GraphTypes:
    """The most frequent types of entities and of relations. Reads all of them."""
    entities = [TypeCount(*row) for row in await tx.rows("lookup.entity_types", limit=limit)]
    relations = [TypeCount(*row) for row in await tx.rows("lookup.relation_types", limit=limit)]
    return GraphTypes(tuple(entities), tuple(relations))


async def edges_among(
    tx: Transaction, ids: Sequence[UUID], limit: int, document: UUID | None = None
) -> tuple[tuple[GraphEdge, ...], int]:
    """The heaviest relations between these entities, and how many there are; optionally only those that a document
    states."""
    rows = await tx.rows("lookup.edges_among", ids=Ids(ids), document=document, fan_out=_LOOKED_THROUGH, limit=limit)
    edges = tuple(
        GraphEdge(id_, source, target, type_, weight / THOUSANDTHS) for id_, source, target, type_, weight, _ in rows
    )
    return edges, rows[0][-1] if rows else 0


async def chunks_of(tx: Transaction, kind: str, ids: Sequence[UUID], each: int) -> dict[UUID, list[UUID]]:
    """For each of these "entities" or "relations", the chunks that are most about it."""
    found: dict[UUID, list[UUID]] = {id_: [] for id_ in ids}
    for id_, chunk in await tx.rows(f"lookup.chunks_of_{kind}", ids=Ids(found), names=NAMES, each=each):
        found[id_].append(chunk)
    return found


# --- documents ----------------------------------------------------------------------------------------


class FoundDocument(NamedTuple):
    """A document without its text."""

    id: UUID
    uri: str
    title: str
    metadata: dict[str, Any]
    added: Any
    notes: list[str]
    chunks: int


async def document(tx: Transaction, uri: str) -> FoundDocument | None:
    """The document with this uri."""
    rows = await tx.rows("lookup.document", uri=uri)
    return FoundDocument(*rows[0]) if rows else None


async def chunks(tx: Transaction, of: FoundDocument, first: int, limit: int, start: int = 0) -> list[Passage]:
    """Chunks of a document in order, from number `first`, counted from the chunk that contains the character
    `start`."""
    found = []
    rows = await tx.rows("lookup.document_chunks", id=of.id, first=first, limit=limit, start=start)
    for id_, text, begins, places in rows:
        known = tuple(Place(*place) for place in places or ())
        page, headings = place_at(known, begins)
        found.append(Passage(id_, of.uri, of.title, text, begins, 0.0, page, headings, known))
    return found


async def outline(tx: Transaction, of: FoundDocument, first: int, limit: int) -> DocumentOutline:
    """The structure of a document, with up to `limit` of its pages and sections from number `first`."""
    [(length, total, places)] = await tx.rows("lookup.document_outline", id=of.id, first=first, limit=limit)
    return DocumentOutline(of.uri, of.title, length, of.chunks, total, tuple(Place(*place) for place in places))


async def mentions(
    tx: Transaction,
    of: FoundDocument,
    start: int,
    end: int | None,
    limit: int,
    after: tuple[int, int, UUID, UUID] | None = None,
) -> list[EntitySpan]:
    """The spans of a document that mention entities, between two characters, in order; with `after`, those after the
    span with this start, end, chunk and entity."""
    first, behind, chunk, entity = after or (start, None, None, None)
    rows = await tx.rows(
        "lookup.document_mentions",
        id=of.id,
        start=max(start, first),
        end=_MOST_CHARACTERS if end is None else end,
        limit=limit,
        first=first,
        behind=behind,
        chunk=chunk,
        entity=entity,
    )
    return [EntitySpan(*row) for row in rows]


async def passages(tx: Transaction, ids: Sequence[UUID]) -> list[Passage]:
    """The chunks with these ids, in that order, without those of removed documents."""
    found = []
    for id_, uri, title, text, start, places in await tx.rows("lookup.passages", ids=Ids(dict.fromkeys(ids))):
        known = tuple(Place(*place) for place in places or ())
        page, headings = place_at(known, start)
        found.append(Passage(id_, uri, title, text, start, 0.0, page, headings, known))
    return found


async def mentioned(tx: Transaction, of: FoundDocument, limit: int) -> dict[UUID, int]:
    """The entities that a document mentions most, with the number of their mentions."""
    return {id_: int(count) for id_, count in await tx.rows("lookup.document_entities", id=of.id, limit=limit)}
