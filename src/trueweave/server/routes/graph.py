"""Routes for the graph: list and search entities and relations; find neighbours and paths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import Field

from trueweave.core.conflicts import Conflict
from trueweave.core.evidence import EntityDetails, EntityMention, Filter, MentionCounts, RelationStatement
from trueweave.core.graph import Entity, GraphPart, GraphTypes, Relation
from trueweave.core.parameters import values
from trueweave.engine import conflicts, mentions
from trueweave.engine.trueweave import AsyncTrueweave
from trueweave.server.access import Reading
from trueweave.server.bodies import (
    CompletedBody,
    FoundEntities,
    FoundRelations,
    MapBody,
    NeighboursBody,
    PathBody,
    PictureBody,
    SubgraphRequest,
)
from trueweave.server.fields import Cursor, EntityName, FilterJson, Limit, Line, Name, name_or_id
from trueweave.server.filters import read_filter
from trueweave.server.pages import ListPage, Pager
from trueweave.server.problems import RESPONSES
from trueweave.server.tagging import TaggedRoute
from trueweave.store.postgres.public_errors import translated
from trueweave.store.postgres.search.document_filter import compiled
from trueweave.store.postgres.view.conflicts import ConflictPlace
from trueweave.store.postgres.view.mentions import MentionPlace, StatementPlace
from trueweave.store.postgres.view.seen import lookups

router = APIRouter(prefix="/v1/workspaces/{workspace}", tags=["graph"], responses=RESPONSES, route_class=TaggedRoute)

OfType = Annotated[Line, Query(description="Only entities of this type.")]
Sought = Annotated[Name, Query(description="What is looked for.")]
Most = Annotated[int, Query(ge=0, le=100)]
Entities = Annotated[Sequence[Line], Field(max_length=20)]


@router.get("/entities", response_model=ListPage[Entity])
async def list_entities(
    trueweave: Reading, limit: Limit = 50, cursor: Cursor = "", type: OfType = "", filter: FilterJson = ""
) -> Any:
    """Entities, the most mentioned first."""
    pager: Pager[tuple[int, str, UUID]] = Pager(tuple[int, str, UUID], "entities", trueweave.workspace.id, type, filter)
    workspace = trueweave.workspace.filtered(compiled(read_filter(filter) or Filter()))
    with translated():
        async with workspace.transaction(snapshot=True) as tx:
            found = await lookups(tx).entities(limit + 1, type, pager.position(cursor))
    return pager.page(found, limit, lambda one: (one.count, one.name, one.id))


@router.get("/entities/search", response_model=FoundEntities)
async def search_entities(
    trueweave: Reading, text: Sought, limit: Limit = 10, type: OfType = "", filter: FilterJson = ""
) -> Any:
    """The entities that match a text best: by meaning and by words, or only by words if nothing is embedded."""
    hits = await trueweave.graph.search_entities(text, limit, type=type, filter=read_filter(filter))
    return {
        "entities": [one.item for one in hits.items],
        "scores": [one.score for one in hits.items],
        "by": list(hits.by),
    }


@router.get("/entities/complete")
async def complete_entities(
    trueweave: Reading,
    text: Annotated[Name, Query(description="The beginning of a name, or of its last word.")],
    limit: Limit = 10,
    filter: FilterJson = "",
) -> CompletedBody:
    """The entities with a name that begins with a text, then those with a name whose last word does: suggestions while
    somebody types."""
    return CompletedBody(entities=await trueweave.graph.complete(text, limit, filter=read_filter(filter)))


@router.get("/entity")
async def get_entity(
    trueweave: Reading, name: EntityName, relations: Most = 10, passages: Most = 5, filter: FilterJson = ""
) -> EntityDetails:
    """An entity: its description, its relations with the highest weight, and passages that mention it."""
    return await trueweave.graph.entity(
        name_or_id(name), relations=relations, passages=passages, filter=read_filter(filter)
    )


@router.get("/entity/mentions")
async def list_mentions(
    trueweave: Reading,
    name: EntityName,
    document: Annotated[Line, Query(description="Only mentions in the document with this uri.")] = "",
    limit: Limit = 50,
    cursor: Cursor = "",
    filter: FilterJson = "",
) -> ListPage[EntityMention]:
    """The mentions of an entity, each in its sentence: by the uri of the document, then in order."""
    passing = read_filter(filter)
    id_ = await _entity_id(trueweave, name, passing)
    workspace = trueweave.workspace.filtered(compiled(passing or Filter()))
    pager: Pager[MentionPlace] = Pager(MentionPlace, "entity mentions", workspace.id, id_, document, filter)
    after = pager.position(cursor)
    with translated():
        found = await mentions.of_entity(workspace, id_, limit + 1, document, after)
    page = pager.page(found, limit, lambda one: one[0])
    return ListPage(items=[mention for _, mention in page["items"]], next=page["next"])


@router.get("/entity/documents")
async def count_mentions(
    trueweave: Reading, name: EntityName, limit: Limit = 100, filter: FilterJson = ""
) -> MentionCounts:
    """How often documents mention an entity: in all, and in each of the documents that mention it most."""
    return await trueweave.graph.mention_counts(name_or_id(name), limit=limit, filter=read_filter(filter))


@router.get("/relation")
async def get_relation(trueweave: Reading, id: UUID, filter: FilterJson = "") -> Relation:
    """One relation. Merging or splitting an entity gives its relations other ids."""
    return await trueweave.graph.relation(id, filter=read_filter(filter))


@router.get("/relation/statements")
async def list_statements(
    trueweave: Reading, id: UUID, limit: Limit = 50, cursor: Cursor = "", filter: FilterJson = ""
) -> ListPage[RelationStatement]:
    """The statements of a relation, each in its sentence: by the uri of the document, then in order."""
    workspace = trueweave.workspace.filtered(compiled(read_filter(filter) or Filter()))
    pager: Pager[StatementPlace] = Pager(StatementPlace, "statements", workspace.id, id, filter)
    after = pager.position(cursor)
    with translated():
        found = await mentions.of_relation(workspace, id, limit + 1, after)
    page = pager.page(found, limit, lambda one: one[0])
    return ListPage(items=[statement for _, statement in page["items"]], next=page["next"])


@router.get("/conflicts")
async def list_conflicts(
    trueweave: Reading,
    limit: Limit = 50,
    cursor: Cursor = "",
    statements: Annotated[int, Query(ge=0, le=20, description="Of how many documents, for each value.")] = 3,
    filter: FilterJson = "",
) -> ListPage[Conflict]:
    """Entities of which documents state several values of a relation that has only one, according to the setting
    `functional_relations`: by the name of the entity."""
    workspace = trueweave.workspace.filtered(compiled(read_filter(filter) or Filter()))
    pager: Pager[ConflictPlace] = Pager(ConflictPlace, "conflicts", workspace.id, filter)
    given, after = trueweave.settings.functional_relations, pager.position(cursor)
    with translated():
        found = await conflicts.page(workspace, given, limit + 1, statements, after)
    page = pager.page(found, limit, lambda one: one[0])
    return ListPage(items=[conflict for _, conflict in page["items"]], next=page["next"])


@router.get("/relations", response_model=ListPage[Relation])
async def list_relations(
    trueweave: Reading,
    limit: Limit = 50,
    cursor: Cursor = "",
    entity: Annotated[Entities, Query(description="Only relations of these entities, by name or id.")] = (),
    filter: FilterJson = "",
) -> Any:
    """Relations of all or some entities, those with the highest weight first."""
    names = [name for name in entity if name]
    passing = read_filter(filter)
    workspace = trueweave.workspace.filtered(compiled(passing or Filter()))
    pager: Pager[tuple[float, UUID]] = Pager(tuple[float, UUID], "relations", workspace.id, *names, filter)
    after = pager.position(cursor)
    of = [await _entity_id(trueweave, name, passing) for name in dict.fromkeys(names)]
    with translated():
        async with workspace.transaction(snapshot=True) as tx:
            found = await lookups(tx).relations(limit + 1, of, after)
    return pager.page(found, limit, lambda one: (one.weight, one.id))


@router.get("/relations/search", response_model=FoundRelations)
async def search_relations(trueweave: Reading, text: Sought, limit: Limit = 10, filter: FilterJson = "") -> Any:
    """The relations that match a text best."""
    hits = await trueweave.graph.search_relations(text, limit, filter=read_filter(filter))
    return {
        "relations": [one.item for one in hits.items],
        "scores": [one.score for one in hits.items],
        "by": list(hits.by),
    }


@router.get("/neighbours")
async def list_neighbours(
    trueweave: Reading,
    entity: Annotated[
        Sequence[Name], Query(min_length=1, max_length=20, description="The entities, each by name or id.")
    ],
    hops: Annotated[int, Query(ge=1, le=3, description="Over how many relations.")] = 1,
    limit: Limit = 50,
    filter: FilterJson = "",
) -> NeighboursBody:
    """The neighbours of entities: the nearest first, then by the weight of their relations."""
    found = await trueweave.graph.neighbours(
        *map(name_or_id, entity), hops=hops, limit=limit, filter=read_filter(filter)
    )
    return NeighboursBody(entities=found)


@router.post("/subgraph")
async def get_subgraph(body: SubgraphRequest, trueweave: Reading) -> GraphPart:
    """A part of the graph to draw: the given entities and those that the given chunks mention, and the heaviest
    relations between them."""
    return await trueweave.graph.subgraph(
        body.entities, chunks=body.chunks, limit=body.limit, filter=body.filter.filter()
    )


@router.get("/around")
async def get_around(
    trueweave: Reading,
    entity: Annotated[
        Sequence[Name], Query(min_length=1, max_length=20, description="The entities, each by name or id.")
    ],
    hops: Annotated[int, Query(ge=1, le=3, description="Over how many relations.")] = 1,
    exclude: Annotated[Sequence[UUID], Query(max_length=200, description="Neighbours to leave out, by id.")] = (),
    type: Annotated[Sequence[Line], Field(max_length=20), Query(description="Only neighbours of these types.")] = (),
    min_weight: Annotated[float, Query(ge=0, le=1e12, description="The lowest weight of a relation.")] = 0.0,
    document: Annotated[Line, Query(description="Only relations that the document with this uri states.")] = "",
    limit: Annotated[int, Query(ge=1, le=200, description="How many neighbours of each entity at most.")] = 20,
    filter: FilterJson = "",
) -> GraphPart:
    """A part of the graph to draw: entities, the neighbours of each with the heaviest relations, and the relations
    between them."""
    return await trueweave.graph.around(
        *map(name_or_id, entity),
        hops=hops,
        exclude=exclude,
        types=type,
        min_weight=min_weight,
        document=document,
        limit=limit,
        filter=read_filter(filter),
    )


Side = Annotated[float, Query(ge=-10, le=10, description="A side of the window; the map is between -1 and 1.")]


@router.get("/map")
async def get_map(
    trueweave: Reading,
    x0: Side = -1.0,
    y0: Side = -1.0,
    x1: Side = 1.0,
    y1: Side = 1.0,
    zoom: Annotated[float, Query(gt=0, le=1e9, description="Pixels for each unit of length.")] = 400.0,
    limit: Annotated[int, Query(ge=1, le=50_000, description="How many circles and entities at most.")] = 2000,
    relations: Annotated[int, Query(ge=1, le=200_000, description="How many relations at most.")] = 4000,
) -> MapBody:
    """A window of the map of the graph: communities as circles, and the entities of those that are large at this
    zoom."""
    return MapBody(map=await trueweave.graph.map(x0, y0, x1, y1, zoom=zoom, limit=limit, relations=relations))


@router.get("/types")
async def get_types(trueweave: Reading, limit: Limit = 100, filter: FilterJson = "") -> GraphTypes:
    """The types of the entities and of the relations, each with their number, the most frequent first."""
    return await trueweave.graph.types(limit, filter=read_filter(filter))


@router.get("/path")
async def find_path(
    trueweave: Reading,
    start: EntityName,
    end: EntityName,
    longest: Annotated[int, Query(ge=1, le=12, description="Maximum number of relations in the path.")] = 6,
    passages: Annotated[int, Query(ge=0, le=20, description="How many passages for each relation.")] = 2,
    filter: FilterJson = "",
) -> PathBody:
    """A shortest path from one entity to another, with passages that state each of its relations."""
    ends = name_or_id(start), name_or_id(end)
    found = await trueweave.graph.path(*ends, longest=longest, passages=passages, filter=read_filter(filter))
    return PathBody(path=found)


@router.get("/picture")
async def get_picture(
    trueweave: Reading,
    entity: Annotated[Line, Query(description="An entity, which is shown with what is around it.")] = "",
    to: Annotated[Line, Query(description="Another: the path to it is shown.")] = "",
    community: Annotated[Line, Query(description="Or a community, by its id or how that begins.")] = "",
    hops: Annotated[int, Query(ge=1, le=3, description="Over how many relations.")] = 1,
    longest: Annotated[int, Query(ge=1, le=12, description="How many relations a path may have.")] = 6,
    limit: Annotated[int, Query(ge=1, le=500, description="How many entities at most.")] = 100,
    filter: FilterJson = "",
) -> PictureBody:
    """The content of a picture: an entity with its neighbours, the path to another entity, or a community."""
    found = await trueweave.graph.picture(
        name_or_id(entity) if entity else None,
        to=name_or_id(to) if to else None,
        community=community or None,
        hops=hops,
        longest=longest,
        limit=limit,
        filter=read_filter(filter),
    )
    return PictureBody(**{**values(found), "marked": sorted(found.marked)})


async def _entity_id(trueweave: AsyncTrueweave, name: str, passing: Filter | None) -> UUID:
    """The id of an entity, given by a name or its id. Raises UnknownEntity if there is none."""
    return (await trueweave.graph.entity(name_or_id(name), relations=0, passages=0, filter=passing)).entity.id
