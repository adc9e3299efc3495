"""Lookups in an open workspace, shared by the calls about the graph and about documents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TypeVar
from uuid import UUID

from trueweave.core.errors import AmbiguousName, ModelFilesMissing, NoVectors, UnknownDocument, UnknownEntity
from trueweave.core.evidence import (
    DocumentDetails,
    EntityDetails,
    EntityPath,
    Filter,
    Hits,
    Passage,
    PathStep,
    Scored,
    SearchedBy,
)
from trueweave.core.graph import Entity, Relation, VectorKind
from trueweave.core.protocols import Readers
from trueweave.core.record import NameKey
from trueweave.engine.core import OpenWorkspace
from trueweave.store.postgres.db import Transaction
from trueweave.store.postgres.view import lookup
from trueweave.store.postgres.view.likeness import WordHit
from trueweave.store.postgres.view.lookup import FoundDocument
from trueweave.store.postgres.view.seen import lookups
from trueweave.text.names import storable, tidy

T = TypeVar("T", bound=Entity | Relation)

_DEEPER = 10  # factor for searching deeper by meaning when only one type counts
_DEEPEST = 1000
_RRF = 60  # the constant of reciprocal rank fusion
_LISTED = 10  # entities listed for an ambiguous name


async def entity_ids(core: OpenWorkspace, *wanted: UUID | str | NameKey) -> list[UUID]:
    """The ids of these entities, each given by its id or one of its names.

    Raises UnknownEntity if there is none, and AmbiguousName if several have the name.
    """
    return [one if isinstance(one, UUID) else await _entity_id(core, _key(one)) for one in wanted]


def _key(given: str | NameKey) -> NameKey:
    key = NameKey(given) if isinstance(given, str) else given
    return NameKey(tidy(key.name), tidy(key.type))


async def _entity_id(core: OpenWorkspace, key: NameKey) -> UUID:
    async with core.workspace.transaction(snapshot=True) as tx:
        graph = lookups(tx)
        found = await graph.named(key) or await graph.beginning(key.name)
        if len(found) == 1:
            return found[0]
        if not found:
            raise _unknown(key, await graph.near_names(key.name))
    entities = await core.open_readers(Filter()).record.entities(found[:_LISTED])
    raise _ambiguous(key, entities, len(found))


def no_entity(id_: UUID) -> UnknownEntity:
    """The error for an id that no entity has."""
    return UnknownEntity(f"there is no entity with the id {id_}.", hint="`trueweave entities` shows which there are.")


def _unknown(key: NameKey, near: Sequence[NameKey]) -> UnknownEntity:
    names = tuple(one.typed for one in near)
    told = f"Near it: {', '.join(names)}." if names else "No name is like it."
    what = f"{key.name!r} of type {key.type!r}" if key.type else f"{key.name!r}"
    hint = "`trueweave entities TEXT` searches for others."
    return UnknownEntity(f"no document mentions {what}. {told}", names, hint=hint)


def _ambiguous(key: NameKey, entities: Sequence[Entity], number: int) -> AmbiguousName:
    ordered = sorted(entities, key=lambda one: (-one.count, one.name, one.type))
    told = "; ".join(
        f"{one.name} ({one.type or 'no type'}, {one.count:,} mentions, id {str(one.id)[:8]})" for one in ordered
    )
    more = f"; and {number - len(entities):,} more" if number > len(entities) else ""
    names = [NameKey(one.name, one.type) for one in ordered]
    example = next((f"by its type, as in {one.typed}, or " for one in names if one.type), "")
    return AmbiguousName(
        f"{number:,} entities are called {key.name!r}: {told}{more}. Say which {example}by its id.",
        tuple(one.typed for one in names),
    )


async def entity_details(
    core: OpenWorkspace, wanted: UUID | str | NameKey, relations: int, passages: int
) -> EntityDetails:
    """An entity with its relations and passages."""
    [id_] = await entity_ids(core, wanted)
    readers = core.open_readers(Filter())
    found = await readers.record.entities([id_])
    if not found:
        raise no_entity(id_)
    async with core.workspace.transaction(snapshot=True) as tx:
        related = await lookups(tx).relations_of([id_], relations)
    said = await passages_of(core, readers, "entities", [id_], passages)
    return EntityDetails(found[0], tuple(related), said[id_])


async def passages_of(
    core: OpenWorkspace, readers: Readers, kind: str, ids: Sequence[UUID], each: int
) -> dict[UUID, tuple[Passage, ...]]:
    """For each of these "entities" or "relations", the passages that say most about it, in two statements."""
    async with core.workspace.transaction(snapshot=True) as tx:
        chunks = await lookups(tx).chunks_of(kind, ids, 2 * each)  # some may have the same text
    wanted = [Scored(chunk, 0.0) for some in chunks.values() for chunk in some]
    await readers.record.passages(wanted, len(wanted))  # reads all of them at once; the calls below find them cached
    return {
        id_: tuple(await readers.record.passages([Scored(one, 0.0) for one in some], each))
        for id_, some in chunks.items()
    }


# --- searches -----------------------------------------------------------------------------------------


async def search_entities(core: OpenWorkspace, text: str, limit: int, type_: str, filter: Filter) -> Hits[Entity]:
    """Entities that match a text."""
    readers = core.open_readers(filter)
    near = await _near(core, readers, "entity", text, min(_DEEPER * limit, _DEEPEST) if type_ else 2 * limit)
    passing = core.under(filter)
    async with passing.workspace.transaction(snapshot=True) as tx:
        words = await lookups(tx).entities_with_words(storable(text), 2 * limit, type_)
    scores, by = _fused(near, words)
    known = await passing.open_readers(Filter()).record.entities(list(scores))
    found = [one for one in known if not type_ or _is_of(one, type_)][:limit]
    if filter and near is not None and len(found) < limit:
        async with passing.workspace.transaction(snapshot=True) as tx:
            found = _filled(found, await lookups(tx).entities(limit, type_), limit)
    return Hits(tuple(Scored(one, scores.get(one.id, 0.0)) for one in found), by)


def _filled(found: Sequence[T], most: Sequence[T], limit: int) -> list[T]:
    """What was found and, up to the limit, what else is there: vectors do not find what is hidden, or one entity with
    others, among all documents, but not among those that pass."""
    there = {one.id for one in found}
    return [*found, *(one for one in most if one.id not in there)][:limit]


def _is_of(entity: Entity, type_: str) -> bool:
    return entity.type.casefold() == type_.casefold()


async def search_relations(core: OpenWorkspace, text: str, limit: int, filter: Filter) -> Hits[Relation]:
    """Relations that match a text."""
    readers = core.open_readers(filter)
    near = await _near(core, readers, "relation", text, 2 * limit)
    passing = core.under(filter)
    async with passing.workspace.transaction(snapshot=True) as tx:
        words = await lookups(tx).relations_with_words(storable(text), 2 * limit)
    scores, by = _fused(near, words)
    found = (await passing.open_readers(Filter()).record.relations(list(scores)))[:limit]
    if filter and near is not None and len(found) < limit:
        found = _filled(found, await heaviest_relations(passing, limit), limit)
    return Hits(tuple(Scored(one, scores.get(one.id, 0.0)) for one in found), by)


async def _near(
    core: OpenWorkspace, readers: Readers, kind: VectorKind, text: str, limit: int
) -> list[Scored[UUID]] | None:
    """The nearest matches by meaning; None if they are not embedded, the embedding model is missing, or the caller
    does not see all documents: vectors of entities and relations are made from all of them."""
    if readers.is_restricted and await readers.is_restricted():
        return None
    try:
        embedder = await core.embedder()
        if embedder is None:
            return None
        await readers.vectors.check_space(embedder)
        if readers.graph_vectors and await readers.graph_vectors() != "kept":
            return None
    except (ModelFilesMissing, NoVectors):
        return None
    [found] = await readers.vectors.nearest(kind, await embedder.embed([storable(text)], "query"), limit)
    return found


def _fused(
    near: Sequence[Scored[UUID]] | None, words: Sequence[WordHit]
) -> tuple[dict[UUID, float], tuple[SearchedBy, ...]]:
    """Both lists merged into one, with scores, best first, and what was searched by. Without vectors the score is the
    share of the words found; otherwise it comes from reciprocal rank fusion."""
    if near is None:
        return {one.id: one.share for one in words}, ("words",)
    scores: defaultdict[UUID, float] = defaultdict(float)
    for ids in ([one.item for one in near], [one.id for one in words]):
        for rank, id_ in enumerate(ids, 1):
            scores[id_] += 1 / (_RRF + rank)
    return dict(sorted(scores.items(), key=lambda one: (-one[1], one[0]))), ("vectors", "words")


async def heaviest_relations(core: OpenWorkspace, limit: int) -> list[Relation]:
    """The heaviest relations in the graph."""
    async with core.workspace.transaction(snapshot=True) as tx:
        ids = await lookups(tx).heaviest_relations(limit)
    return await core.open_readers(Filter()).record.relations(ids)


# --- paths --------------------------------------------------------------------------------------------


async def entity_path(core: OpenWorkspace, ends: Sequence[UUID], longest: int, passages: int) -> EntityPath | None:
    """The path from one entity to another."""
    start, end = ends
    async with core.workspace.transaction(snapshot=True) as tx:
        way = await lookups(tx).path(start, end, longest)
    if way is None:
        return None
    readers = core.open_readers(Filter())
    entities = await readers.record.entities(way[0])
    relations = await readers.record.relations(way[1])
    said = await passages_of(core, readers, "relations", way[1], passages)
    steps = [PathStep(r, r.source == at, said[r.id]) for at, r in zip(way[0], relations, strict=False)]
    return EntityPath(tuple(entities), tuple(steps))


# --- documents ----------------------------------------------------------------------------------------


async def found_document(tx: Transaction, uri: str) -> FoundDocument:
    """The document with this uri. Raises UnknownDocument, with similar uris, if there is none, or if it is switched
    off."""
    found = await lookup.document(tx, uri)
    if found is None and await lookup.is_off(tx, uri):
        raise UnknownDocument(f"the document {uri!r} is switched off.", hint="`trueweave on` switches it on again.")
    if found is None:
        near = tuple(await lookup.near_uris(tx, uri))
        told = f" Near it: {', '.join(near)}." if near else ""
        raise UnknownDocument(f"there is no document {uri!r}.{told}", near, hint="`trueweave documents` lists them.")
    return found


async def document_details(
    core: OpenWorkspace, uri: str, first: int, chunks: int, entities: int, start: int
) -> DocumentDetails:
    """A document with some of its chunks, and the entities it mentions."""
    async with core.workspace.transaction(snapshot=True) as tx:
        found = await found_document(tx, uri)
        passages = await lookup.chunks(tx, found, first, chunks, start)
        mentioned = await lookups(tx).mentioned(found, entities)
    known = await core.open_readers(Filter()).record.entities(list(mentioned))
    return DocumentDetails(
        found.uri,
        found.title,
        found.metadata,
        found.added,
        tuple(found.notes),
        found.chunks,
        tuple(passages),
        tuple(Scored(one, mentioned[one.id]) for one in known),
        tuple(found.readers),
    )
