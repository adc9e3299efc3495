"""Paths between entities, over relations in either direction."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from itertools import combinations
from math import inf
from typing import NamedTuple
from uuid import UUID

from trueweave.core.graph import Relation


class Way(NamedTuple):
    """A path from one entity to another: the entities on it, and the relations between them, in order."""

    entities: tuple[UUID, ...]
    relations: tuple[Relation, ...]


def shortest(relations: Sequence[Relation], ends: Sequence[UUID], longest: int, most: int) -> list[Way]:
    """For each two of these entities, the shortest path from the first to the second, of at most `longest` relations.

    Of equally short paths, it is the one over the relations that come first. The shortest paths are listed first, then
    those between the entities that come first.
    """
    beside: defaultdict[UUID, list[tuple[UUID, Relation]]] = defaultdict(list)
    for relation in relations:
        beside[relation.source].append((relation.target, relation))
        beside[relation.target].append((relation.source, relation))
    ways = []
    for start, end in combinations(ends, 2):
        if way := _search(beside, start, end, longest):
            ways.append(way)
    return sorted(ways, key=lambda way: len(way.relations))[:most]


def _search(beside: defaultdict[UUID, list[tuple[UUID, Relation]]], start: UUID, end: UUID, longest: int) -> Way | None:
    waiting = deque([Way((start,), ())])
    seen = {start}
    while waiting:
        way = waiting.popleft()
        if way.entities[-1] == end:
            return way
        if len(way.relations) < longest:
            for other, relation in beside[way.entities[-1]]:
                if other not in seen:
                    seen.add(other)
                    waiting.append(Way((*way.entities, other), (*way.relations, relation)))
    return None


class Edge(NamedTuple):
    """A relation in the form that a search uses."""

    relation: UUID
    source: UUID
    target: UUID
    weight: float


class Reach:
    """What can be reached from one entity, hop by hop, over relations in either direction.

    Each entity is reached by the fewest relations, and of paths of that length by the strongest: a path is as strong as
    its weakest relation.
    """

    def __init__(self, start: UUID) -> None:
        self.hops = 0
        self.edge = [start]  # where the next hop starts
        self._strength = {start: inf}
        self._way_back: dict[UUID, tuple[UUID, UUID]] = {}
        self._distance = {start: 0}

    def grow(self, edges: Sequence[Edge], widest: int) -> None:
        """Go one hop further over these edges, and continue from the `widest` entities reached most strongly."""
        self.hops += 1
        here, best = set(self.edge), dict[UUID, tuple[float, UUID, UUID]]()
        for one in edges:
            for before, after in ((one.source, one.target), (one.target, one.source)):
                if before in here and after not in self._strength:
                    way = -min(self._strength[before], one.weight), one.relation, before
                    if after not in best or way < best[after]:
                        best[after] = way
        for entity, (strength, relation, before) in best.items():
            self._strength[entity] = -strength
            self._way_back[entity] = before, relation
            self._distance[entity] = self.hops
        self.edge = sorted(best, key=lambda entity: (best[entity], entity))[:widest]

    def meets(self, other: Reach) -> UUID | None:
        """The entity where the best path from here to there meets: the shortest, then the strongest."""
        both = self._strength.keys() & other._strength.keys()
        return min(both, key=lambda one: self._rank(one, other), default=None)

    def _rank(self, entity: UUID, other: Reach) -> tuple[int, float, UUID]:
        length = self._distance[entity] + other._distance[entity]
        return length, -min(self._strength[entity], other._strength[entity]), entity

    def way_to(self, entity: UUID) -> tuple[list[UUID], list[UUID]]:
        """The entities from the start to this one, and the relations between them."""
        entities, relations = [entity], list[UUID]()
        while step := self._way_back.get(entities[-1]):
            entities.append(step[0])
            relations.append(step[1])
        return entities[::-1], relations[::-1]
