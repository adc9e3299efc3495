"""A graph in memory, as a store of its own: the example of docs/how-to/stores.md."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from trueweave import Relation
from trueweave.extend import ChunkMention, Neighbourhood, ProjectionSource, RecordReader

Places = dict[UUID, set[tuple[UUID, UUID]]]  # (document, chunk) by what is said there


@dataclass
class Graph:
    """A copy of the graph of a workspace."""

    relations: dict[UUID, Relation] = field(default_factory=dict)
    degrees: dict[UUID, int] = field(default_factory=dict)
    mentions: Places = field(default_factory=lambda: defaultdict(set))
    statements: Places = field(default_factory=lambda: defaultdict(set))


async def load(source: ProjectionSource) -> Graph:
    """A copy from nothing. A store that stays would then follow `source.changes`."""
    graph = Graph()
    entity_of: dict[UUID, UUID] = {}
    relation_of: dict[tuple[UUID, UUID], UUID] = {}
    async for page in source.pages("entity"):
        for one in await source.entities(page):
            graph.degrees[one.entity.id] = one.entity.degree
            entity_of |= dict.fromkeys(one.names, one.entity.id)
    async for page in source.pages("relation"):
        for stated in await source.relations(page):
            graph.relations[stated.relation.id] = stated.relation
            relation_of |= dict.fromkeys(stated.pairs, stated.relation.id)
    async for page in source.pages("chunk"):
        for chunk in await source.chunks(page):
            for name, _ in chunk.mentions:
                graph.mentions[entity_of[name]].add((chunk.document, chunk.id))
            for start, end, _ in chunk.links:
                graph.statements[relation_of[start, end]].add((chunk.document, chunk.id))
    return graph


class MemoryGraph:
    """A `GraphReader` over a copy, for one question."""

    def __init__(self, graph: Graph, record: RecordReader) -> None:
        self._graph = graph
        self._record = record

    async def around(self, entities: Sequence[UUID], followed: Sequence[UUID], each: int) -> Neighbourhood[UUID]:
        visible = await self._visible()
        relations = self._edges(entities, visible)
        relations.sort(key=lambda r: (-self._degrees(r), -r.weight, r.id))
        found = [one for entity in followed for one in self._mentions(entity, each, visible)]
        return Neighbourhood([relation.id for relation in relations], found)

    async def neighbourhood(self, entities: Sequence[UUID], hops: int) -> list[UUID]:
        visible, reached, found = await self._visible(), set(entities), dict[UUID, None]()
        for _ in range(hops):
            edges = self._edges(reached, visible)
            found |= dict.fromkeys(edge.id for edge in sorted(edges, key=lambda edge: (-edge.weight, edge.id)))
            reached |= {end for edge in edges for end in (edge.source, edge.target)}
        return list(found)

    async def chunks_of_entities(self, entities: Sequence[UUID]) -> list[tuple[UUID, UUID]]:
        return _chunks(self._graph.mentions, entities, await self._visible())

    async def chunks_of_relations(self, relations: Sequence[UUID]) -> list[tuple[UUID, UUID]]:
        return _chunks(self._graph.statements, relations, await self._visible())

    async def _visible(self) -> set[UUID] | None:
        documents = await self._record.documents()
        return None if documents is None else set(documents)

    def _edges(self, entities: Iterable[UUID], visible: set[UUID] | None) -> list[Relation]:
        ends = set(entities)
        edges = (r for r in self._graph.relations.values() if r.source in ends or r.target in ends)
        return [edge for edge in edges if _chunks(self._graph.statements, [edge.id], visible)]

    def _degrees(self, relation: Relation) -> int:
        return self._graph.degrees[relation.source] + self._graph.degrees[relation.target]

    def _mentions(self, entity: UUID, most: int, visible: set[UUID] | None) -> list[ChunkMention]:
        beside = {end for edge in self._edges([entity], visible) for end in (edge.source, edge.target)} - {entity}
        near = {chunk for _, chunk in _chunks(self._graph.mentions, [entity], visible)}
        others = dict.fromkeys(near, 0)
        for other in beside:
            for _, chunk in _chunks(self._graph.mentions, [other], visible):
                if chunk in near:
                    others[chunk] += 1
        found = [ChunkMention(entity, chunk, count) for chunk, count in others.items()]
        return sorted(found, key=lambda one: (-one.neighbours, one.chunk))[:most]


def _chunks(places: Places, ids: Iterable[UUID], visible: set[UUID] | None) -> list[tuple[UUID, UUID]]:
    return [(id_, chunk) for id_ in ids for document, chunk in places[id_] if visible is None or document in visible]
