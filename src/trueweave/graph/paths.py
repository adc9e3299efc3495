"""Paths between entities, over relations in either direction."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple
from uuid import UUID

from trueweave.types import Relation


class Way(NamedTuple):
    """The relations from one entity to another, in the order in which they are passed, and the entities on the way."""

    entities: tuple[UUID, ...]
    relations: tuple[Relation, ...]


def shortest(relations: Sequence[Relation], ends: Sequence[UUID], longest: int, most: int) -> list[Way]:
    """For each two of these entities the shortest way from the first to the second, no longer than so many relations.

    Of equally short ways, the one over the relations that come first. The shortest ways are listed first, then those
    between the entities that come first.
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
