"""`global`: from the question's themes to relations about them, and the chunks that state these."""

from __future__ import annotations

from asyncio import gather
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import ClassVar, Literal
from uuid import UUID

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from trueweave.core.evidence import Evidence, Passage, Query, Scored
from trueweave.core.graph import Relation
from trueweave.core.protocols import Vectors
from trueweave.retrieval.context import Need, QueryContext, RelationFound
from trueweave.retrieval.methods.keywords import keywords
from trueweave.retrieval.methods.parameters import CHECKED
from trueweave.retrieval.methods.picking import best_of, by_similarity
from trueweave.retrieval.methods.ranks import RankedHit, together

Found = Mapping[UUID, RankedHit[RelationFound]]


@dataclass(frozen=True, config=CHECKED)
class Global:
    """The relations nearest to the question's high-level keywords, and the best of the chunks that state them."""

    needs: ClassVar[frozenset[Need]] = frozenset({"vectors", "graph_vectors", "graph"})

    keywords_top_k: int = Field(default=60, ge=1, le=1000, description="Relations to find for each keyword.")
    graph_top_k: int = Field(default=5, ge=1, le=1000, description="How many passages to keep.")
    pick: Literal["similarity", "order"] = Field(
        default="similarity",
        description="How chunks are chosen: by similarity to the question, or by the order of their relations.",
    )
    followed: int = Field(
        default=200, ge=1, le=1000, description="For similarity: the nearest relations whose chunks are candidates."
    )
    relation_weight: float = Field(
        default=0.7, ge=0, description="For similarity: the weight of the relation's similarity to its keyword."
    )
    alpha: float = Field(
        default=0.7, ge=0, le=1, description="For order: the weight of the rank; strength has the rest."
    )

    async def retrieve(self, query: Query, context: QueryContext) -> Evidence:
        """The chosen chunks, with the relations found, ordered by the degree of both ends and weight, and their ends as
        entities, those of the nearest relations first."""
        asked = await keywords(query, context)
        question, *high = await context.embed([query.text, *asked.high])
        by_order = self.pick == "order"
        limit = self.keywords_top_k if by_order else max(self.keywords_top_k, self.followed)
        near = await context.relations_near(np.stack(high), limit)
        found = _together(near, self.keywords_top_k)
        if not found:
            reason = "no relation with a vector is in the documents that were looked at."
            return Evidence(reason=reason, keywords=asked)
        if by_order:
            passages = await self._by_order(found, context)
        else:
            passages = await self._nearest(_together(near, limit), question, context)
        ends = {end.id: end for hit in found.values() for end in (hit.item.source, hit.item.target)}
        return Evidence(tuple(passages), tuple(ends.values()), _by_degree(found), keywords=asked)

    async def _nearest(self, found: Found, question: Vectors, context: QueryContext) -> list[Passage]:
        """The most similar of the chunks that state the relations or mention their ends."""
        followed = list(found)[: self.followed]
        near: dict[UUID, float] = {}  # each end, scored by its nearest relation
        for id_ in followed:
            for end in (found[id_].item.source, found[id_].item.target):
                near.setdefault(end.id, found[id_].score)
        stated, mentioned = await gather(
            context.chunks_of_relations(followed), context.chunks_of_entities(list(near)[: self.followed])
        )
        brought = [(chunk, found[id_].score) for id_, chunk in stated] + [
            (chunk, near[id_]) for id_, chunk in mentioned
        ]
        return await by_similarity(best_of(brought), question, self.relation_weight, self.graph_top_k, context)

    async def _by_order(self, found: Found, context: QueryContext) -> list[Passage]:
        """The chunks by importance, from the mean `order` of the relations that a chunk states and their mean `weight`:
        importance = alpha * (1 - order / max_order) + (1 - alpha) * weight / max_weight."""
        stated: defaultdict[UUID, list[UUID]] = defaultdict(list)
        for relation, chunk in await context.chunks_of_relations(list(found)):
            stated[chunk].append(relation)
        orders = {chunk: fmean(found[r].order for r in relations) for chunk, relations in stated.items()}
        weights = {chunk: fmean(found[r].item.relation.weight for r in rs) for chunk, rs in stated.items()}
        # A single relation has rank 0, which cannot be a divisor.
        max_order = max(hit.order for hit in found.values()) or 1
        max_weight = max(weights.values(), default=0) or 1
        importance = [
            Scored(c, self.alpha * (1 - orders[c] / max_order) + (1 - self.alpha) * weights[c] / max_weight)
            for c in stated
        ]
        importance.sort(key=lambda one: (-one.score, one.item))
        return await context.passages(importance, self.graph_top_k)


def _together(near: Sequence[Sequence[Scored[RelationFound]]], each: int) -> Found:
    """The first `each` hits of every keyword, merged."""
    return together([some[:each] for some in near], lambda one: one.relation.id)


def _by_degree(found: Found) -> tuple[Relation, ...]:
    ranked = sorted(
        (hit.item for hit in found.values()),
        key=lambda one: (-(one.source.degree + one.target.degree), -one.relation.weight, one.relation.id),
    )
    return tuple(one.relation for one in ranked)
