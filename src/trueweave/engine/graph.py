"""The graph: entities, relations and their changes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

from trueweave.core.conflicts import Conflict
from trueweave.core.errors import InvalidArgument
from trueweave.core.evidence import (
    EntityDetails,
    EntityMention,
    EntityPath,
    Filter,
    Hits,
    MentionCounts,
    Passage,
    RelationStatement,
)
from trueweave.core.graph import Entity, GraphMap, GraphNode, GraphPart, GraphTypes, Hit, Relation, VectorKind
from trueweave.core.projections import Change
from trueweave.core.protocols import Vectors
from trueweave.core.record import NameKey
from trueweave.engine import conflicts, lookup, mentions, picturing
from trueweave.engine.communities import found_community
from trueweave.engine.core import OpenWorkspace
from trueweave.engine.restricted import refuse_restricted
from trueweave.formats.pictures import GraphPicture
from trueweave.store.postgres.projection.projecting import ProjectionSource
from trueweave.store.postgres.public_errors import own_errors
from trueweave.store.postgres.queue import outbox
from trueweave.store.postgres.vectors import vectors
from trueweave.store.postgres.view import graph_map
from trueweave.store.postgres.view.graph_lookups import Neighbours
from trueweave.store.postgres.view.seen import lookups

MOST_ON_MAP = 50_000  # circles and entities of a window
MOST_RELATIONS_ON_MAP = 200_000


@own_errors
@refuse_restricted(
    "graph",
    but=(
        "entities",
        "entity",
        "mentions",
        "mention_counts",
        "search_entities",
        "complete",
        "search_relations",
        "relations",
        "relation",
        "statements",
        "relation_passages",
        "neighbours",
        "path",
        "subgraph",
        "around",
        "types",
        "picture",
        "conflicts",
    ),
)
class AsyncGraphGroup:
    """The graph of a workspace: `trueweave.graph`.

    With a `filter`, what is shown is computed from the documents that pass it, as in a workspace that has only these:
    names, types, descriptions, counts, degrees and weights. Only the order of what `search_entities` and
    `search_relations` find, and so what is first if more match than the limit, may depend on all documents, because
    vectors are made from all. Lists of all entities or relations, and searches by words, then read all names or
    relations in these documents; if there are more than 200,000, NotForRestricted is raised.
    """

    def __init__(self, core: OpenWorkspace) -> None:
        self._core = core

    async def entities(self, limit: int = 50, *, type: str = "", filter: Filter | None = None) -> list[Entity]:
        """The most mentioned entities, optionally of one type."""
        async with self._core.under(filter).workspace.transaction(snapshot=True) as tx:
            return await lookups(tx).entities(limit, type)

    async def entity(
        self,
        entity: UUID | str | NameKey,
        *,
        relations: int = 10,
        passages: int = 5,
        filter: Filter | None = None,
    ) -> EntityDetails:
        """An entity by its id or one of its names: its description, its heaviest relations, and passages that mention
        it.

        A name matches whatever its case, accents or article. Raises UnknownEntity, with similar names, if no entity has
        the name, and AmbiguousName, listing the entities, if several do: pass a NameKey to say which type is meant.
        """
        return await lookup.entity_details(self._core.under(filter), entity, relations, passages)

    async def mentions(
        self, entity: UUID | str | NameKey, *, document: str = "", limit: int = 50, filter: Filter | None = None
    ) -> list[EntityMention]:
        """The mentions of an entity, given by id or name, each in its sentence: by the uri of the document, then in
        order; optionally only those in one `document`. A mention that several chunks contain is listed once for each of
        them. Raises UnknownEntity if there is no such entity."""
        core = self._core.under(filter)
        [id_] = await lookup.entity_ids(core, entity)
        return [one for _, one in await mentions.of_entity(core.workspace, id_, limit, document)]

    async def mention_counts(
        self, entity: UUID | str | NameKey, *, limit: int = 100, filter: Filter | None = None
    ) -> MentionCounts:
        """How often documents mention an entity, given by id or name: in all, and in each of the `limit` documents that
        mention it most. Raises UnknownEntity if there is no such entity."""
        core = self._core.under(filter)
        [id_] = await lookup.entity_ids(core, entity)
        return await mentions.counts(core.workspace, id_, limit)

    async def search_entities(
        self, text: str, limit: int = 10, *, type: str = "", filter: Filter | None = None
    ) -> Hits[Entity]:
        """The entities that match a text best: by meaning and by the words of their names, or by words alone if they
        have no vectors; `by` says which."""
        return await lookup.search_entities(self._core, text, limit, type, filter or Filter())

    async def complete(self, text: str, limit: int = 10, *, filter: Filter | None = None) -> list[GraphNode]:
        """The entities with a name that begins with a text, then those with a name whose last word does, each most
        mentioned first. Case, accents and a leading article make no difference.

        Meant for suggestions while somebody types: it uses an index, and examines at most 2,000 names of each kind."""
        async with self._core.under(filter).workspace.transaction(snapshot=True) as tx:
            return await lookups(tx).completions(text, limit)

    async def search_relations(self, text: str, limit: int = 10, *, filter: Filter | None = None) -> Hits[Relation]:
        """The relations that match a text best: by meaning and by the words of their names, keywords and descriptions,
        or by words alone if they have no vectors; `by` says which."""
        return await lookup.search_relations(self._core, text, limit, filter or Filter())

    async def relations(
        self, *entities: UUID | str | NameKey, limit: int = 50, filter: Filter | None = None
    ) -> list[Relation]:
        """The relations of these entities, given by id or name, heaviest first; of all entities if none are given."""
        core = self._core.under(filter)
        if not entities:
            return await lookup.heaviest_relations(core, limit)
        ids = await lookup.entity_ids(core, *entities)
        async with core.workspace.transaction(snapshot=True) as tx:
            return await lookups(tx).relations_of(ids, limit)

    async def relation(self, id: UUID, *, filter: Filter | None = None) -> Relation:
        """The relation with this id. Raises UnknownRelation if there is none: merging or splitting an entity gives its
        relations other ids."""
        return await mentions.one_relation(self._core.under(filter).workspace, id)

    async def statements(
        self, relation: UUID, *, limit: int = 50, filter: Filter | None = None
    ) -> list[RelationStatement]:
        """The statements of the relation with this id, each in its sentence: by the uri of the document, then in order.
        Raises UnknownRelation if there is no such relation."""
        return [one for _, one in await mentions.of_relation(self._core.under(filter).workspace, relation, limit)]

    async def conflicts(self, limit: int = 50, *, statements: int = 3, filter: Filter | None = None) -> list[Conflict]:
        """Where documents contradict each other: entities of which they state several values of a relation that has
        only one, according to the setting `functional_relations`. Each value has statements of up to `statements`
        documents, the latest first. Conflicts are sorted by the name of the entity; without the setting there are none.

        Everything that documents state is read, so this costs more the larger the workspace is.
        """
        workspace, given = self._core.under(filter).workspace, self._core.settings.functional_relations
        found = await conflicts.page(workspace, given, limit, statements)
        return [one for _, one in found]

    async def relation_passages(
        self, *relations: UUID, each: int = 1, filter: Filter | None = None
    ) -> dict[UUID, tuple[Passage, ...]]:
        """For each of these relations, given by their ids, up to `each` passages that state it most clearly. Relations
        that do not exist are left out."""
        core = self._core.under(filter)
        readers = core.open_readers(Filter())
        found = await lookup.passages_of(core, readers, "relations", relations, each)
        return {id_: passages for id_, passages in found.items() if passages}

    async def neighbours(
        self, *entities: UUID | str | NameKey, hops: int = 1, limit: int = 50, filter: Filter | None = None
    ) -> list[Entity]:
        """The entities within `hops` relations of these, which are given by id or name: nearer ones first, then those
        more heavily related."""
        core = self._core.under(filter)
        ids = await lookup.entity_ids(core, *entities)
        readers = core.open_readers(Filter())
        relations = await readers.record.relations(await readers.graph.neighbourhood(ids, hops))
        ends = dict.fromkeys(end for r in relations for end in (r.source, r.target))
        return await readers.record.entities([end for end in ends if end not in ids][:limit])

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
        core = self._core.under(filter)
        return await lookup.entity_path(core, await lookup.entity_ids(core, start, end), longest, passages)

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
        async with self._core.under(filter).workspace.transaction(snapshot=True) as tx:
            return await lookups(tx).part(entities, chunks, limit)

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
        if not entities:
            raise InvalidArgument("the entities to draw are missing: name at least one.")
        core = self._core.under(filter)
        ids = await lookup.entity_ids(core, *entities)
        async with core.workspace.transaction(snapshot=True) as tx:
            stating = (await lookup.found_document(tx, document)).id if document else None
            wanted = Neighbours(exclude, types, min_weight, stating, limit)
            found = await lookups(tx).around(ids, wanted, hops)
        drawn = {node.id for node in found.nodes}
        if missing := next((id_ for id_ in ids if id_ not in drawn), None):
            raise lookup.no_entity(missing)
        return found

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
        if not (x0 < x1 and y0 < y1 and zoom > 0):
            raise InvalidArgument("a window of the map needs x0 < x1, y0 < y1 and a zoom above 0.")
        if not 1 <= limit <= MOST_ON_MAP:
            raise InvalidArgument(f"a window of the map has 1 to {MOST_ON_MAP:,} circles and entities.")
        if not 1 <= relations <= MOST_RELATIONS_ON_MAP:
            raise InvalidArgument(f"a window of the map has 1 to {MOST_RELATIONS_ON_MAP:,} relations.")
        of, limits = graph_map.MapWindow(x0, y0, x1, y1, zoom), graph_map.MapLimits(limit, relations)
        async with self._core.workspace.transaction(snapshot=True) as tx:
            return await graph_map.window(tx, of, limits)

    async def types(self, limit: int = 100, *, filter: Filter | None = None) -> GraphTypes:
        """The types of the entities and of the relations, each with their number, the most frequent first."""
        async with self._core.under(filter).workspace.transaction(snapshot=True) as tx:
            return await lookups(tx).types(limit)

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
        if community is not None and filter:
            raise InvalidArgument(
                "a community is found among all documents, so a picture of one takes no filter. Show an entity, or "
                "leave the filter out."
            )
        if community is not None:
            return await picturing.community(self._core, await found_community(self._core, community), limit)
        assert entity is not None, "it was checked"
        if to is not None:
            return await picturing.between(self._core.under(filter), (entity, to), longest, limit)
        return await picturing.around(self._core.under(filter), entity, hops, limit)

    async def nearest(self, kind: VectorKind, vector: Vectors, limit: int = 10) -> list[Hit]:
        """The chunks, entities or relations nearest to a vector, nearest first."""
        return await vectors.nearest(self._core.workspace, kind, vector, limit)

    async def export(self, path: str | Path) -> None:
        """Export the workspace; the file extension selects the format. .json, .graphml, .parquet (a folder), .nt, .ttl
        and .cypher get the graph with its communities; .jsonl gets the annotated documents, to be imported again."""
        from trueweave.formats import exporting

        await exporting.write(self._core.workspace, Path(path))

    async def to_networkx(self) -> Any:
        """The whole graph in memory as a `networkx.DiGraph`: entities by id, and the relations between them."""
        from trueweave.formats.exporting.networkx_graph import to_networkx

        return await to_networkx(self._core.workspace)

    async def changes(self, after: int = 0, limit: int = 1000) -> list[Change]:
        """The changes after a position in the outbox, in order, for a projection to follow."""
        async with self._core.workspace.transaction() as tx:
            return await outbox.changes(tx, after, limit)

    def projection(self, consumer: str) -> ProjectionSource:
        """The changes in this workspace and the data behind them, for the copy in another store named `consumer`."""
        return ProjectionSource(self._core.workspace, consumer)
