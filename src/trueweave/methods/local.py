"""`local`: from the things that the question names to the chunks that tell most about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple
from uuid import UUID

from pydantic import Field
from pydantic.dataclasses import dataclass

from trueweave.evidence import Evidence, Query, Scored
from trueweave.methods.keywords import keywords
from trueweave.methods.parameters import CHECKED
from trueweave.methods.ranks import best_ranks
from trueweave.query_context import QueryContext

_SPARE = 10  # times as many chunks as there are places, as several may have the same text


class _Candidate(NamedTuple):
    """A chunk as one entity brings it: the entity's order, and how many of its neighbours are in the chunk as well."""

    order: int
    relation_count: int
    chunk: UUID


@dataclass(frozen=True, config=CHECKED)
class Local:
    """Low-level keywords, the entities nearest to them, and the chunks in which these meet most of their neighbours."""

    keywords_top_k: int = Field(default=60, ge=1, le=1000, description="Entities to find for each keyword.")
    graph_top_k: int = Field(default=5, ge=1, le=1000, description="How many passages to keep.")
    order_range: int = Field(
        default=5,
        ge=0,
        description="How far ahead a chunk may be, in ranks, and still be overtaken by a better-connected one.",
    )

    async def retrieve(self, query: Query, context: QueryContext) -> Evidence:
        """The best-connected chunks of the entities found; a passage's score is the reciprocal of its rank.

        Entities go along by their degree, their relations by the degree of both ends and by weight.
        """
        low = (await keywords(query, context)).low
        found = await context.entities_near(await context.embed(low), self.keywords_top_k)
        ranked = best_ranks(found, lambda entity: entity.id)
        if not ranked:
            return Evidence(reason="no entity with a vector is in the documents that were looked at.")
        # An entity that is further behind gets its turn only where those ahead have next to no chunks.
        reach = 2 * (self.graph_top_k + self.order_range)
        followed = [id_ for id_, (order, _) in ranked.items() if order <= reach]
        around = await context.around(list(ranked), followed, _SPARE * self.graph_top_k)
        candidates = [_Candidate(ranked[one.entity][0], one.neighbours, one.chunk) for one in around.mentions]
        chosen = self._choose(candidates)
        best = await context.passages([Scored(c, 1.0) for c in chosen], self.graph_top_k)
        passages = [replace(passage, score=1 / rank) for rank, passage in enumerate(best, 1)]
        entities = sorted((entity for _, entity in ranked.values()), key=lambda e: -e.degree)
        return Evidence(tuple(passages), tuple(entities), tuple(around.relations))

    def _choose(self, candidates: Sequence[_Candidate]) -> list[UUID]:
        """Each time the best-connected chunk among those at most `order_range` behind the first that is left."""
        left = sorted(candidates)
        chosen: dict[UUID, None] = {}
        while left and len(chosen) < _SPARE * self.graph_top_k:
            window = [c for c in left if c.order <= left[0].order + self.order_range]
            best = min(window, key=lambda c: (-c.relation_count, c.order, c.chunk))
            chosen[best.chunk] = None
            left = [c for c in left if c.chunk not in chosen]
        return list(chosen)
