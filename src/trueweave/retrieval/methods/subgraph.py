"""`subgraph`: from entities similar to the question to their neighbourhood, the chunks that fit both, and the paths."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean, pstdev
from typing import ClassVar
from uuid import UUID

from pydantic import Field
from pydantic.dataclasses import dataclass

from trueweave.core.evidence import Evidence, Path, Query, Scored
from trueweave.core.graph import Entity, Relation
from trueweave.core.protocols import Vectors
from trueweave.graph.paths import shortest
from trueweave.retrieval.context import Need, QueryContext
from trueweave.retrieval.methods.parameters import CHECKED

_MOST_PATHS = 20
_BY_TEXT = 50  # chunks by meaning, and as many by words
_MOST_RANKED = 1000  # chunks that mention relevant entities and are compared with the question
_RRF = 60
_SAMPLE = 10  # factor for sampling more entities than wanted, to see what similarity is usual here


@dataclass(frozen=True, config=CHECKED)
class Subgraph:
    """Entities similar to the question, their neighbourhood, and the chunks that fit them and the question best."""

    needs: ClassVar[frozenset[Need]] = frozenset({"vectors", "graph_vectors", "graph"})

    top_k_nodes: int = Field(default=10, ge=1, le=100, description="How many similar entities to start from.")
    top_k_chunks: int = Field(default=5, ge=1, le=1000, description="How many passages to keep.")
    similarity_threshold: float | None = Field(
        default=None,
        ge=-1,
        le=1,
        description="The lowest similarity of an entity; null: chosen from the distribution, because models differ.",
    )
    max_hops: int = Field(default=1, ge=0, le=3, description="How far the neighbourhood goes.")
    node_freq_weight: float = Field(default=0.4, ge=0, description="The weight of the number of relevant entities.")
    node_sim_weight: float = Field(default=0.6, ge=0, description="The weight of their similarity to the question.")
    text_weight: float = Field(
        default=10.0,
        ge=0,
        description="The weight of how well the chunk itself fits the question; 0: chunks are found by entities alone.",
    )

    async def retrieve(self, query: Query, context: QueryContext) -> Evidence:
        """Chunks by the relevant entities in them, all relations of the neighbourhood, and paths between the entities.

        score = node_freq_weight * (relevant entities in the chunk / relevant entities)
              + node_sim_weight * (their mean similarity to the question)
              + text_weight * (similarity of the chunk + its reciprocal ranks by meaning and by words, of 1)
        """
        vectors = await context.embed([query.text])
        [found] = await context.entities_near(vectors, _SAMPLE * self.top_k_nodes)
        relevant = self._relevant(found, context)
        if not relevant and not self.text_weight:
            return Evidence(reason=self._why_nothing(found))
        seeds = [one.item.id for one in relevant]
        relations = await context.neighbourhood(seeds, self.max_hops) if seeds else []
        nearby = dict.fromkeys([*seeds, *(end for r in relations for end in (r.source, r.target))])
        chunks = await context.chunks_of_entities(list(nearby)) if seeds else []
        by_entities = self._scored(chunks, {one.item.id: one.score for one in relevant})
        by_text = await self._by_text(query.text, vectors, by_entities, context) if self.text_weight else {}
        passages = await context.passages(_summed(by_entities, by_text), self.top_k_chunks)
        entities = [one.item for one in relevant]
        return Evidence(tuple(passages), tuple(entities), tuple(relations), self._paths(entities, relations))

    def _relevant(self, found: Sequence[Scored[Entity]], context: QueryContext) -> list[Scored[Entity]]:
        threshold = self.similarity_threshold
        if threshold is None:
            scores = [one.score for one in found]
            threshold = fmean(scores) + pstdev(scores) if scores else 0.0
        context.note(
            "threshold of similarity", Scored("least", threshold), *(Scored("best", o.score) for o in found[:1])
        )
        return [one for one in found if one.score >= threshold][: self.top_k_nodes]

    def _why_nothing(self, found: Sequence[Scored[Entity]]) -> str:
        if not found:
            return "no entity with a vector is in the documents that were looked at."
        best = max(found, key=lambda one: one.score)
        if self.similarity_threshold is None:
            return f"no entity stands out; the nearest, {best.item.name}, is as similar to the question as others."
        return (
            "no entity is as similar to the question as similarity_threshold wants, which is "
            f"{self.similarity_threshold:g}; the nearest, {best.item.name}, has {best.score:.2f}. Lower it, as in "
            f"--set similarity_threshold={max(best.score - 0.1, -1.0):.1f}, or set it to null, for whatever stands out."
        )

    def _scored(self, chunks: Sequence[tuple[UUID, UUID]], similar: dict[UUID, float]) -> list[Scored[UUID]]:
        mentioned: defaultdict[UUID, list[float]] = defaultdict(list)
        for entity, chunk in chunks:
            mentioned[chunk] += [similar[entity]] if entity in similar else []
        scored = [Scored(chunk, self._score(there, len(similar))) for chunk, there in mentioned.items()]
        return sorted(scored, key=lambda one: (-one.score, one.item))

    async def _by_text(
        self, text: str, vectors: Vectors, by_entities: Sequence[Scored[UUID]], context: QueryContext
    ) -> dict[UUID, float]:
        """How well chunks fit the question themselves: the best of all by meaning and by words, and those that mention
        relevant entities."""
        [near] = await context.chunks_near(vectors, _BY_TEXT)
        matching = await context.chunks_matching(text, _BY_TEXT)
        ranks: defaultdict[UUID, float] = defaultdict(float)
        for passages in (near, matching):
            for rank, passage in enumerate(passages, 1):
                ranks[passage.id] += (_RRF + 1) / (_RRF + rank) / 2
        mentioning = [one.item for one in by_entities if one.score > 0][:_MOST_RANKED]
        similar = await context.rank_chunks(list(dict.fromkeys((*ranks, *mentioning))), vectors[0])
        return {one.item: self.text_weight * (one.score + ranks.get(one.item, 0.0)) for one in similar}

    def _score(self, there: Sequence[float], relevant: int) -> float:
        """The score of a chunk; 0 for one without relevant entities, which only the neighbourhood led to."""
        if not there:
            return 0.0
        return self.node_freq_weight * len(there) / relevant + self.node_sim_weight * fmean(there)

    def _paths(self, entities: Sequence[Entity], relations: Sequence[Relation]) -> tuple[Path, ...]:
        names = {end: name for r in relations for end, name in ((r.source, r.source_name), (r.target, r.target_name))}
        names |= {entity.id: entity.name for entity in entities}
        ways = shortest(relations, [entity.id for entity in entities], 2 * self.max_hops, _MOST_PATHS)
        return tuple(Path(tuple(names[id_] for id_ in way.entities), way.relations) for way in ways)


def _summed(by_entities: Sequence[Scored[UUID]], by_text: dict[UUID, float]) -> list[Scored[UUID]]:
    """Chunks by the sum of both scores, best first."""
    sums = dict(by_text)
    for one in by_entities:
        sums[one.item] = sums.get(one.item, 0.0) + one.score
    return sorted((Scored(id_, score) for id_, score in sums.items()), key=lambda one: (-one.score, one.item))
