"""`local`: from the entities that the question names to the chunks that say most about them."""

from __future__ import annotations

from asyncio import gather
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Literal, NamedTuple
from uuid import UUID

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from trueweave.core.evidence import Evidence, Passage, Query, Scored
from trueweave.core.graph import Entity, Relation
from trueweave.core.protocols import Vectors
from trueweave.retrieval.context import Need, QueryContext
from trueweave.retrieval.methods.keywords import keywords
from trueweave.retrieval.methods.parameters import CHECKED
from trueweave.retrieval.methods.picking import FOLLOWED, best_of, by_similarity, connections
from trueweave.retrieval.methods.ranks import RankedHit, together

_SPARE = 10  # factor for finding more chunks than needed, as several may have the same text

Found = Mapping[UUID, RankedHit[Entity]]
_Chosen = tuple[list[Passage], list[Relation]]


class _Candidate(NamedTuple):
    """A chunk found through an entity: the entity's order, and how many of its neighbours are also in the chunk."""

    order: int
    relation_count: int
    chunk: UUID


@dataclass(frozen=True, config=CHECKED)
class Local:
    """The entities nearest to the question's low-level keywords, and the best of the chunks that mention them."""

    needs: ClassVar[frozenset[Need]] = frozenset({"vectors", "graph_vectors", "graph"})

    keywords_top_k: int = Field(default=60, ge=1, le=1000, description="Entities to find for each keyword.")
    graph_top_k: int = Field(default=5, ge=1, le=1000, description="How many passages to keep.")
    pick: Literal["similarity", "order"] = Field(
        default="similarity",
        description="How chunks are chosen: by similarity to the question, or by the order of their entities.",
    )
    entity_weight: float = Field(
        default=0.4, ge=0, description="For similarity: the weight of the entity's similarity to its keyword."
    )
    order_range: int = Field(
        default=5,
        ge=0,
        description="For order: how many ranks ahead a chunk may be and still be overtaken by a better-connected one.",
    )

    async def retrieve(self, query: Query, context: QueryContext) -> Evidence:
        """The chosen chunks, with the entities by degree, their relations by the degree of both ends and weight, and
        for each chunk the entities it mentions.

        With `pick="order"`, a passage's score is the reciprocal of its rank.
        """
        asked = await keywords(query, context)
        question, *low = await context.embed([query.text, *asked.low])
        found = together(await context.entities_near(np.stack(low), self.keywords_top_k), lambda entity: entity.id)
        if not found:
            reason = "no entity with a vector is in the documents that were looked at."
            return Evidence(reason=reason, keywords=asked)
        by_order = self.pick == "order"
        passages, relations = await (
            self._by_order(found, context) if by_order else self._nearest(found, question, context)
        )
        entities = [hit.item for hit in found.values()]
        return Evidence(
            tuple(passages),
            tuple(sorted(entities, key=lambda entity: -entity.degree)),
            tuple(relations),
            keywords=asked,
            connections=await connections(passages, entities, relations, context),
        )

    async def _nearest(self, found: Found, question: Vectors, context: QueryContext) -> _Chosen:
        followed = list(found)[:FOLLOWED]
        around, pairs = await gather(context.around(followed, [], 0), context.chunks_of_entities(followed))
        candidates = best_of((chunk, found[entity].score) for entity, chunk in pairs)
        passages = await by_similarity(candidates, question, self.entity_weight, self.graph_top_k, context)
        return passages, around.relations

    async def _by_order(self, found: Found, context: QueryContext) -> _Chosen:
        # Entities further behind get a turn only if those ahead have hardly any chunks.
        reach = 2 * (self.graph_top_k + self.order_range)
        followed = [id_ for id_, hit in found.items() if hit.order <= reach]
        around = await context.around(list(found), followed, _SPARE * self.graph_top_k)
        chosen = self._overtaking([_Candidate(found[m.entity].order, m.neighbours, m.chunk) for m in around.mentions])
        best = await context.passages([Scored(c, 1.0) for c in chosen], self.graph_top_k)
        return [replace(passage, score=1 / rank) for rank, passage in enumerate(best, 1)], around.relations

    def _overtaking(self, candidates: Sequence[_Candidate]) -> list[UUID]:
        """Repeatedly choose the best-connected chunk among those at most `order_range` behind the first one left."""
        left = sorted(candidates)
        chosen: dict[UUID, None] = {}
        while left and len(chosen) < _SPARE * self.graph_top_k:
            window = [c for c in left if c.order <= left[0].order + self.order_range]
            best = min(window, key=lambda c: (-c.relation_count, c.order, c.chunk))
            chosen[best.chunk] = None
            left = [c for c in left if c.chunk not in chosen]
        return list(chosen)
