"""The graph of a workspace of a server: entities, relations, and pictures of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from trueweave.client.forms import entity_name, filter_body, filter_text, part, read, read_or_none
from trueweave.client.requests import WorkspaceRequests
from trueweave.core.conflicts import Conflict
from trueweave.core.errors import InvalidArgument
from trueweave.core.evidence import (
    EntityDetails,
    EntityMention,
    EntityPath,
    Filter,
    Hits,
    MentionCounts,
    RelationStatement,
    Scored,
)
from trueweave.core.graph import Entity, GraphMap, GraphNode, GraphPart, GraphTypes, Relation
from trueweave.core.record import NameKey
from trueweave.formats.pictures import GraphPicture
from trueweave.text.names import storable


def _hits(items: list[Any], found: Any) -> Hits[Any]:
    scores = read(list[float], part(found, "scores"))
    return Hits(tuple(map(Scored, items, scores)), tuple(part(found, "by")))


class AsyncClientGraph:
    """The graph of a workspace of a server: `client.graph`."""

    def __init__(self, requests: WorkspaceRequests) -> None:
        self._requests = requests

    async def search_entities(
        self, text: str, limit: int = 10, *, type: str = "", filter: Filter | None = None
    ) -> Hits[Entity]:
        """The entities that match a text best: by meaning and by the words of their names, or by words alone if they
        have no vectors; `by` says which."""
        params = {"text": storable(text), "limit": limit, "type": type or None, "filter": filter_text(filter)}
        found = await self._requests.get("/entities/search", **params)
        return _hits(read(list[Entity], part(found, "entities")), found)

    async def search_relations(self, text: str, limit: int = 10, *, filter: Filter | None = None) -> Hits[Relation]:
        """The relations that match a text best: by meaning and by the words of their names, keywords and descriptions,
        or by words alone if they have no vectors; `by` says which."""
        params = {"text": storable(text), "limit": limit, "filter": filter_text(filter)}
        found = await self._requests.get("/relations/search", **params)
        return _hits(read(list[Relation], part(found, "relations")), found)

    async def subgraph(
        self,
        entities: Sequence[UUID] = (),
        *,
        chunks: Sequence[UUID] = (),
        limit: int = 100,
        filter: Filter | None = None,
    ) -> GraphPart:
        """A part of the graph to draw: these entities and those that these chunks mention, given by their ids, and the
        heaviest relations between them. It has up to `limit` entities: the given ones first, then those with the most
        relations. Ids that do not exist are left out."""
        ids = {"entities": [str(one) for one in entities], "chunks": [str(one) for one in chunks]}
        body = {**ids, "limit": limit, "filter": filter_body(filter)}
        return read(GraphPart, await self._requests.ask("/subgraph", body))

    async def picture(
        self,
        entity: UUID | str | NameKey | None = None,
        *,
        to: UUID | str | NameKey | None = None,
        community: UUID | str | None = None,
        hops: int = 1,
        longest: int = 6,
        limit: int = 100,
        filter: Filter | None = None,
    ) -> GraphPicture:
        """A picture of an entity and its neighbours, of the path from it `to` another, or of a community. It is
        displayed inline in a notebook; `save` writes it as an HTML page or an SVG drawing.

        It shows up to `limit` entities, at most 500; its `note` says what was left out.
        """
        if (entity is None) == (community is None) or (to is not None and entity is None):
            raise InvalidArgument(
                "a picture is of an entity, of a path from one to another, or of a community: say which."
            )
        found = await self._requests.get(
            "/picture",
            entity=None if entity is None else entity_name(entity),
            to=None if to is None else entity_name(to),
            community=None if community is None else str(community),
            hops=hops,
            longest=longest,
            limit=limit,
            filter=filter_text(filter),
        )
        return read(GraphPicture, found)

    # --- written by `make sync` from engine/graph.py and the server's routes ---

    async def entities(self, limit: int = 50, *, type: str = "", filter: Filter | None = None) -> list[Entity]:
        """The most mentioned entities, optionally of one type."""
        return await self._requests.listed("/entities", Entity, limit, type=type or None, filter=filter_text(filter))

    async def entity(
        self, entity: UUID | str | NameKey, *, relations: int = 10, passages: int = 5, filter: Filter | None = None
    ) -> EntityDetails:
        """An entity by its id or one of its names: its description, its heaviest relations, and passages that mention
        it.

        A name matches whatever its case, accents or article. Raises UnknownEntity, with similar names, if no entity has
        the name, and AmbiguousName, listing the entities, if several do: pass a NameKey to say which type is meant.
        """
        return read(
            EntityDetails,
            await self._requests.get(
                "/entity", name=entity_name(entity), relations=relations, passages=passages, filter=filter_text(filter)
            ),
        )

    async def mentions(
        self, entity: UUID | str | NameKey, *, document: str = "", limit: int = 50, filter: Filter | None = None
    ) -> list[EntityMention]:
        """The mentions of an entity, given by id or name, each in its sentence: by the uri of the document, then in
        order; optionally only those in one `document`. A mention that several chunks contain is listed once for each of
        them. Raises UnknownEntity if there is no such entity."""
        return await self._requests.listed(
            "/entity/mentions",
            EntityMention,
            limit,
            name=entity_name(entity),
            document=document or None,
            filter=filter_text(filter),
        )

    async def mention_counts(
        self, entity: UUID | str | NameKey, *, limit: int = 100, filter: Filter | None = None
    ) -> MentionCounts:
        """How often documents mention an entity, given by id or name: in all, and in each of the `limit` documents that
        mention it most. Raises UnknownEntity if there is no such entity."""
        return read(
            MentionCounts,
            await self._requests.get(
                "/entity/documents", name=entity_name(entity), limit=limit, filter=filter_text(filter)
            ),
        )

    async def complete(self, text: str, limit: int = 10, *, filter: Filter | None = None) -> list[GraphNode]:
        """The entities with a name that begins with a text, then those with a name whose last word does, each most
        mentioned first. Case, accents and a leading article make no difference.

        Meant for suggestions while somebody types: it uses an index, and examines at most 2,000 names of each kind."""
        return read(
            list[GraphNode],
            part(
                await self._requests.get("/entities/complete", text=text, limit=limit, filter=filter_text(filter)),
                "entities",
            ),
        )

    async def relations(
        self, *entities: UUID | str | NameKey, limit: int = 50, filter: Filter | None = None
    ) -> list[Relation]:
        """The relations of these entities, given by id or name, heaviest first; of all entities if none are given."""
        return await self._requests.listed(
            "/relations", Relation, limit, filter=filter_text(filter), entity=[entity_name(one) for one in entities]
        )

    async def relation(self, id: UUID, *, filter: Filter | None = None) -> Relation:
        """The relation with this id. Raises UnknownRelation if there is none: merging or splitting an entity gives its
        relations other ids."""
        return read(Relation, await self._requests.get("/relation", id=str(id), filter=filter_text(filter)))

    async def statements(
        self, relation: UUID, *, limit: int = 50, filter: Filter | None = None
    ) -> list[RelationStatement]:
        """The statements of the relation with this id, each in its sentence: by the uri of the document, then in order.
        Raises UnknownRelation if there is no such relation."""
        return await self._requests.listed(
            "/relation/statements", RelationStatement, limit, id=str(relation), filter=filter_text(filter)
        )

    async def conflicts(self, limit: int = 50, *, statements: int = 3, filter: Filter | None = None) -> list[Conflict]:
        """Where documents contradict each other: entities of which they state several values of a relation that has
        only one, according to the setting `functional_relations`. Each value has statements of up to `statements`
        documents, the latest first. Conflicts are sorted by the name of the entity; without the setting there are none.

        Everything that documents state is read, so this costs more the larger the workspace is.
        """
        return await self._requests.listed(
            "/conflicts", Conflict, limit, statements=statements, filter=filter_text(filter)
        )

    async def neighbours(
        self, *entities: UUID | str | NameKey, hops: int = 1, limit: int = 50, filter: Filter | None = None
    ) -> list[Entity]:
        """The entities within `hops` relations of these, which are given by id or name: nearer ones first, then those
        more heavily related."""
        if not entities:
            return []
        return read(
            list[Entity],
            part(
                await self._requests.get(
                    "/neighbours",
                    hops=hops,
                    limit=limit,
                    filter=filter_text(filter),
                    entity=[entity_name(one) for one in entities],
                ),
                "entities",
            ),
        )

    async def path(
        self,
        start: UUID | str | NameKey,
        end: UUID | str | NameKey,
        *,
        longest: int = 6,
        passages: int = 2,
        filter: Filter | None = None,
    ) -> EntityPath | None:
        """A shortest path from one entity to another over relations in either direction, with passages that state each.
        Of several paths of the same length, it is the one whose weakest relation is heaviest.

        The search is bounded: it follows only the heaviest relations of each entity. Returns None if it finds no path
        of at most `longest` relations.
        """
        return read_or_none(
            EntityPath,
            part(
                await self._requests.get(
                    "/path",
                    start=entity_name(start),
                    end=entity_name(end),
                    longest=longest,
                    passages=passages,
                    filter=filter_text(filter),
                ),
                "path",
            ),
        )

    async def around(
        self,
        *entities: UUID | str | NameKey,
        hops: int = 1,
        exclude: Sequence[UUID] = (),
        types: Sequence[str] = (),
        min_weight: float = 0.0,
        document: str = "",
        limit: int = 20,
        filter: Filter | None = None,
    ) -> GraphPart:
        """A part of the graph to draw: these entities, given by id or name, the neighbours of each with the heaviest
        relations, and the relations between them. With `hops`, the neighbours of these neighbours as well, and so on.
        It has up to `limit` neighbours of each entity, and up to 500 entities; `entities` says how many there are.

        Optionally only neighbours of some `types`, with a relation of at least `min_weight`, or with a relation that
        the document with a uri states. Neighbours to `exclude`, such as those already drawn, are given by their
        ids."""
        return read(
            GraphPart,
            await self._requests.get(
                "/around",
                hops=hops,
                exclude=[str(one) for one in exclude],
                type=list(types),
                min_weight=min_weight,
                document=document or None,
                limit=limit,
                filter=filter_text(filter),
                entity=[entity_name(one) for one in entities],
            ),
        )

    async def map(
        self,
        x0: float = -1.0,
        y0: float = -1.0,
        x1: float = 1.0,
        y1: float = 1.0,
        *,
        zoom: float = 400.0,
        limit: int = 2000,
        relations: int = 4000,
    ) -> GraphMap | None:
        """A window of the map of the graph, between two corners, with `zoom` pixels for each unit of length:
        communities that are small at this zoom as circles, and the entities of others. It has up to `limit` circles and
        entities, at most 50,000, and up to `relations` between them, at most 200,000.

        The map is laid out when communities are detected. Returns None if that has not been done.
        """
        return read_or_none(
            GraphMap,
            part(
                await self._requests.get(
                    "/map", x0=x0, y0=y0, x1=x1, y1=y1, zoom=zoom, limit=limit, relations=relations
                ),
                "map",
            ),
        )

    async def types(self, limit: int = 100, *, filter: Filter | None = None) -> GraphTypes:
        """The types of the entities and of the relations, each with their number, the most frequent first."""
        return read(GraphTypes, await self._requests.get("/types", limit=limit, filter=filter_text(filter)))
