"""Choosing among candidate chunks that the graph leads to, by their similarity to the question."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from uuid import UUID

from trueweave.core.evidence import Connection, Passage, Scored
from trueweave.core.graph import Entity, Relation
from trueweave.core.protocols import Vectors
from trueweave.retrieval.context import QueryContext

FOLLOWED = 200  # entities or relations whose chunks are candidates
_MOST = 2000  # candidates


def best_of(brought: Iterable[tuple[UUID, float]]) -> dict[UUID, float]:
    """Chunks with the best score among those they were found by, best first; no more than can be ranked."""
    best: dict[UUID, float] = {}
    for chunk, score in brought:
        best[chunk] = max(score, best.get(chunk, score))
    # By the integer value of the id: the order is the same, but comparing UUIDs is slow, and many chunks have equal
    # scores.
    return dict(sorted(best.items(), key=lambda pair: (-pair[1], pair[0].int))[:_MOST])


async def by_similarity(
    candidates: dict[UUID, float], question: Vectors, weight: float, limit: int, context: QueryContext
) -> list[Passage]:
    """The best chunks, scored by their own similarity and by that of the entity or relation they were found through:

    score = similarity of the chunk to the question + weight * similarity of that entity or relation to its keyword
    """
    near = await context.rank_chunks(list(candidates), question)
    scored = [Scored(one.item, one.score + weight * candidates[one.item]) for one in near]
    return await context.passages(sorted(scored, key=lambda one: (-one.score, one.item.int)), limit)


async def connections(
    passages: Sequence[Passage], found: Iterable[Entity], relations: Iterable[Relation], context: QueryContext
) -> tuple[Connection, ...]:
    """For each passage, the entities found that it mentions, each with those of its neighbours that it also
    mentions."""
    inside: defaultdict[UUID, set[UUID]] = defaultdict(set)
    for chunk, entity in await context.mentioned([passage.id for passage in passages]):
        inside[chunk].add(entity)
    neighbours: defaultdict[UUID, dict[UUID, str]] = defaultdict(dict)
    for one in relations:
        neighbours[one.source][one.target] = one.target_name
        neighbours[one.target][one.source] = one.source_name
    led = list(found)
    return tuple(
        Connection(
            passage.id, entity.name, tuple(n for id_, n in neighbours[entity.id].items() if id_ in there), entity.id
        )
        for passage in passages
        if (there := inside[passage.id])
        for entity in led
        if entity.id in there
    )
