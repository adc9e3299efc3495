"""`global`: from the question's themes to the relations that speak of them, and the chunks that state these."""

from __future__ import annotations

from collections import defaultdict
from statistics import fmean
from uuid import UUID

from pydantic import Field
from pydantic.dataclasses import dataclass

from trueweave.evidence import Evidence, Query, Scored
from trueweave.methods.keywords import keywords
from trueweave.methods.parameters import CHECKED
from trueweave.methods.ranks import best_ranks
from trueweave.query_context import QueryContext


@dataclass(frozen=True, config=CHECKED)
class Global:
    """High-level keywords, the relations nearest to them, and the chunks that state the most important of these."""

    keywords_top_k: int = Field(default=60, ge=1, le=1000, description="Relations to find for each keyword.")
    graph_top_k: int = Field(default=5, ge=1, le=1000, description="How many passages to keep.")
    alpha: float = Field(default=0.7, ge=0, le=1, description="Weight of rank; the rest is that of strength.")

    async def retrieve(self, query: Query, context: QueryContext) -> Evidence:
        """The most important chunks. The relations found go along by their rank, and their ends as entities.

        With the mean rank of the relations that a chunk states as `order`, and their mean strength as `weight`:
        importance = alpha * (1 - order / max_order) + (1 - alpha) * weight / max_weight.
        """
        high = (await keywords(query, context)).high
        found = await context.relations_near(await context.embed(high), self.keywords_top_k)
        ranked = best_ranks(found, lambda one: one.relation.id)
        if not ranked:
            return Evidence(reason="no relation with a vector is in the documents that were looked at.")
        stated: defaultdict[UUID, list[UUID]] = defaultdict(list)
        for relation, chunk in await context.chunks_of_relations(list(ranked)):
            stated[chunk].append(relation)
        orders = {chunk: fmean(ranked[r][0] for r in relations) for chunk, relations in stated.items()}
        weights = {chunk: fmean(ranked[r][1].relation.weight for r in rs) for chunk, rs in stated.items()}
        # One relation alone is found at rank 0, which divides nothing.
        max_order = max((rank for rank, _ in ranked.values()), default=0) or 1
        max_weight = max(weights.values(), default=0) or 1
        importance = [
            Scored(c, self.alpha * (1 - orders[c] / max_order) + (1 - self.alpha) * weights[c] / max_weight)
            for c in stated
        ]
        importance.sort(key=lambda one: (-one.score, one.item))
        passages = await context.passages(importance, self.graph_top_k)
        ends = {end.id: end for _, one in ranked.values() for end in (one.source, one.target)}
        return Evidence(tuple(passages), tuple(ends.values()), tuple(one.relation for _, one in ranked.values()))
