"""`linearrag`: entities activate others over statements that fit the question, then PageRank. After LinearRAG."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import log1p
from uuid import UUID

from pydantic import Field
from pydantic.dataclasses import dataclass

from trueweave.core.evidence import Evidence, Query, Scored
from trueweave.core.graph import Relation
from trueweave.core.protocols import Scores
from trueweave.graph.pagerank import personalised_pagerank
from trueweave.retrieval.context import QueryContext
from trueweave.retrieval.methods.linking import Linking
from trueweave.retrieval.methods.parameters import CHECKED


@dataclass(frozen=True, config=CHECKED)
class LinearRag(Linking):
    """PageRank from the question's entities and the related entities that they activate. After LinearRAG.

    In the style of Zhuang et al. 2025, "LinearRAG", but not their program. The differences: activation spreads over
    relations and the chunks that state them, where theirs spreads over sentences with vectors of their own; everything
    stays in a bounded neighbourhood; the hundred nearest chunks are seeds, not all; an entity counts once per chunk.
    """

    max_iterations: int = Field(default=3, ge=1, le=4, description="Rounds of activation; the first is the linking.")
    iteration_threshold: float = Field(default=0.2, ge=0, description="The lowest activation that spreads further.")
    top_k_sentence: int = Field(default=3, ge=1, le=100, description="How many statements an entity spreads through.")
    passage_ratio: float = Field(
        default=2.0, ge=0, description="The weight of similarity, relative to the active entities in a chunk."
    )
    passage_node_weight: float = Field(default=0.2, ge=0, description="The weight of chunks as seeds, beside entities.")

    async def retrieve(self, query: Query, context: QueryContext) -> Evidence:
        """The chunks with the highest rank, which is their score; the nearest ones if nothing is linked.

        Seeds: entities by their activation; chunks by passage_node_weight * (passage_ratio * similarity + ln(1 +
        activation of the entities in it / their round)).
        """
        question, linked, near = await self.link(query, context)
        relations = await context.neighbourhood(list(linked), max(self.max_iterations - 1, 1))
        stated = await context.chunks_of_relations([relation.id for relation in relations])
        ranked = await context.rank_chunks(list(dict.fromkeys(chunk for _, chunk in stated)), question)
        fits = _best_statements(stated, {one.item: one.score for one in ranked})
        weights, active = self._activated({id_: hit.score for id_, hit in linked.items()}, relations, fits)
        pairs = sorted(await context.chunks_of_entities(list(active)))
        bonus: defaultdict[UUID, float] = defaultdict(float)
        for entity, chunk in pairs:
            bonus[chunk] += active[entity]
        chunks = dict.fromkeys([*near, *bonus])
        seeds = {
            c: self.passage_node_weight * (self.passage_ratio * near.get(c, 0.0) + log1p(bonus[c])) for c in chunks
        }
        ranks = personalised_pagerank([(*pair, 1.0) for pair in pairs], seeds | weights, self.damping)
        scored = sorted((Scored(c, ranks[c]) for c in chunks), key=lambda one: (-one.score, one.item.int))
        passages = await context.passages(scored, self.top_k)
        entities = tuple(hit.item for hit in linked.values())
        return Evidence(tuple(passages), entities, tuple(r for r in relations if {r.source, r.target} <= active.keys()))

    def _activated(
        self, linked: Scores, relations: Sequence[Relation], fits: Mapping[UUID, float]
    ) -> tuple[Scores, Scores]:
        """The weight of every entity, which is the sum of its activations, and the latest activation of each, divided
        by its round.

        From each entity, activation spreads over the statements that fit the question best, each used once, as long as
        enough of it arrives.
        """
        beside: defaultdict[UUID, list[Relation]] = defaultdict(list)
        for relation in sorted(relations, key=lambda one: (-fits.get(one.id, 0.0), one.id)):
            for end in {relation.source, relation.target}:
                beside[end].append(relation)
        weights, active, current = dict(linked), dict(linked), dict(linked)
        used: set[UUID] = set()
        for tier in range(2, self.max_iterations + 1):
            arrived: Scores = {}
            for entity, score in current.items():
                fresh = [one for one in beside[entity] if one.id not in used][: self.top_k_sentence]
                for relation in fresh:
                    reached = score * fits.get(relation.id, 0.0)
                    if reached >= self.iteration_threshold:
                        used.add(relation.id)
                        other = relation.target if relation.source == entity else relation.source
                        weights[other] = weights.get(other, 0.0) + reached
                        arrived[other] = reached
            active |= {entity: score / tier for entity, score in arrived.items()}
            current = arrived
        return weights, active


def _best_statements(stated: Sequence[tuple[UUID, UUID]], near: Mapping[UUID, float]) -> dict[UUID, float]:
    """Each relation with the similarity of the best chunk that states it."""
    best: dict[UUID, float] = {}
    for relation, chunk in stated:
        best[relation] = max(near.get(chunk, 0.0), best.get(relation, 0.0))
    return best
