"""`pathrag`: the most reliable paths between the entities that the question names. After PathRAG."""

from __future__ import annotations

from asyncio import gather
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar
from uuid import UUID

import numpy as np
from pydantic import Field
from pydantic.dataclasses import dataclass

from trueweave.core.evidence import Evidence, Path, Query, Scored
from trueweave.core.graph import Entity, Relation
from trueweave.core.protocols import Scores
from trueweave.graph.paths import Way
from trueweave.retrieval.context import Need, QueryContext
from trueweave.retrieval.methods.keywords import keywords
from trueweave.retrieval.methods.parameters import CHECKED
from trueweave.retrieval.methods.picking import best_of, by_similarity
from trueweave.retrieval.methods.ranks import together

_DIGITS = 12  # rounded, so that equal reliabilities do not differ by the order of addition

_Beside = Mapping[UUID, Mapping[UUID, Relation]]


@dataclass(frozen=True, config=CHECKED)
class PathRag:
    """The most reliable paths between the question's entities, and the best of their chunks. After PathRAG.

    In the style of Chen et al. 2025, "PathRAG", but not their program. The differences: paths run through a bounded
    neighbourhood of the entities found, where theirs cover the whole graph; a resource is what the paper defines, where
    their program counts only relations on paths of the same two entities; passages are chunks of the entities, where
    theirs come from a second part, which searches relations by themes as `global` does.
    """

    needs: ClassVar[frozenset[Need]] = frozenset({"vectors", "graph_vectors", "graph"})

    nodes: int = Field(default=40, ge=2, le=200, description="How many entities to find for all keywords together.")
    paths: int = Field(default=15, ge=1, le=200, description="How many of the most reliable paths to keep.")
    max_hops: int = Field(default=3, ge=1, le=3, description="The most relations on a path.")
    alpha: float = Field(default=0.8, ge=0, le=1, description="The share of a resource that passes over a relation.")
    theta: float = Field(
        default=0.05, ge=0.01, description="The lowest resource per relation with which an entity passes it on."
    )
    top_k: int = Field(default=5, ge=1, le=1000, description="How many passages to keep.")
    path_weight: float = Field(
        default=0.05, ge=0, description="The weight of a path's reliability, beside the chunk's similarity."
    )

    async def retrieve(self, query: Query, context: QueryContext) -> Evidence:
        """The paths, most reliable first, with their relations and entities, and the best of the chunks that state
        them or mention the entities found.

        Each entity found gives out a resource of 1. An entity divides what it has among its relations and passes on
        the share alpha, unless it has less than theta for each. reliability = sum of the resources on a path / number
        of its relations; score = similarity of the chunk + path_weight * reliability of the best path that it states.
        """
        asked = await keywords(query, context)
        question, *low = await context.embed([query.text, *asked.low])
        hits = together(await context.entities_near(np.stack(low), self.nodes), lambda entity: entity.id)
        starts = list(hits)[: self.nodes]
        if not starts:
            reason = "no entity with a vector is in the documents that were looked at."
            return Evidence(reason=reason, keywords=asked)
        # Both ends of a path are starts, so only the middle one of three relations touches neither.
        relations = await context.neighbourhood(starts, max(self.max_hops - 1, 1))
        reached = dict.fromkeys([*starts, *(end for r in relations for end in (r.source, r.target))])
        known = {entity.id: entity for entity in await context.entities(list(reached))}
        best = self._most_reliable(starts, relations, known)
        paths = [Path(tuple(known[id_].name for id_ in one.item.entities), one.item.relations) for one in best]
        context.note("paths", *(Scored(" - ".join(p.names), one.score) for p, one in zip(paths, best, strict=True)))
        stated = {relation.id: one.score for one in reversed(best) for relation in one.item.relations}
        stating, mentioning = await gather(
            context.chunks_of_relations(list(stated)), context.chunks_of_entities(starts)
        )
        brought = [*((chunk, stated[id_]) for id_, chunk in stating), *((chunk, 0.0) for _, chunk in mentioning)]
        passages = await by_similarity(best_of(brought), question, self.path_weight, self.top_k, context)
        listed = dict.fromkeys([*(id_ for one in best for id_ in one.item.entities), *starts])
        return Evidence(
            tuple(passages),
            tuple(known[id_] for id_ in listed if id_ in known),
            tuple({relation.id: relation for path in paths for relation in path.relations}.values()),
            tuple(paths),
            keywords=asked,
        )

    def _most_reliable(
        self, starts: Sequence[UUID], relations: Sequence[Relation], known: Mapping[UUID, Entity]
    ) -> list[Scored[Way]]:
        """The most reliable paths, best first. One that is found from both ends is kept from the better of them."""
        beside: defaultdict[UUID, dict[UUID, Relation]] = defaultdict(dict)
        for relation in sorted(relations, key=lambda one: (-one.weight, one.id)):
            if relation.source in known and relation.target in known:
                beside[relation.source].setdefault(relation.target, relation)
                beside[relation.target].setdefault(relation.source, relation)
        found: dict[tuple[UUID, ...], Scored[Way]] = {}
        ends = set(starts)
        for start in starts:
            shares, resources = self._spread(start, beside, known)
            for way in self._ways(start, beside, shares):
                if way.entities[-1] in ends:
                    reliability = sum(resources[id_] for id_ in way.entities) / len(way.relations)
                    one = Scored(way, round(reliability, _DIGITS))
                    key = min(way.entities, way.entities[::-1])
                    found[key] = max(found.get(key, one), one, key=lambda each: each.score)
        return [found[key] for key in sorted(found, key=lambda key: (-found[key].score, key))][: self.paths]

    def _spread(self, start: UUID, beside: _Beside, known: Mapping[UUID, Entity]) -> tuple[Scores, Scores]:
        """What each entity has for each of its relations, if it passes that on, and the resource that reaches each.

        Each entity receives once, from entities that are one relation nearer to the start.
        """
        shares: Scores = {}
        resources = arrived = {start: 1.0}
        for _ in range(self.max_hops):
            passing = {id_: resource / max(known[id_].degree, 1) for id_, resource in arrived.items() if id_ in beside}
            passing = {id_: share for id_, share in passing.items() if share >= self.theta}
            onward: defaultdict[UUID, float] = defaultdict(float)
            for id_, share in passing.items():
                for other in beside[id_].keys() - resources.keys():
                    onward[other] += self.alpha * share
            shares, resources, arrived = shares | passing, resources | onward, onward
        return shares, resources

    def _ways(self, start: UUID, beside: _Beside, shares: Scores) -> Iterator[Way]:
        """Every path from the start over entities that pass on what they have, without repeating one."""
        ways = [Way((start,), ())]
        for _ in range(self.max_hops):
            ways = [
                Way((*way.entities, other), (*way.relations, relation))
                for way in ways
                if way.entities[-1] in shares
                for other, relation in beside[way.entities[-1]].items()
                if other not in way.entities
            ]
            yield from ways
