"""`hipporag`: PageRank over entities and chunks, in the style of HippoRAG 2."""

from __future__ import annotations

from pydantic import Field
from pydantic.dataclasses import dataclass

from trueweave.core.evidence import Evidence, Query, Scored
from trueweave.graph.pagerank import personalised_pagerank
from trueweave.retrieval.context import QueryContext
from trueweave.retrieval.methods.linking import Linking
from trueweave.retrieval.methods.parameters import CHECKED


@dataclass(frozen=True, config=CHECKED)
class HippoRag(Linking):
    """PageRank from the entities that the question names and, faintly, from the nearest chunks. After HippoRAG 2.

    In the style of Gutiérrez et al. 2025, "From RAG to Memory", but not their program. The differences: the walk stays
    in a bounded neighbourhood of the linked entities, where theirs covers the whole graph; the hundred nearest chunks
    are seeds, not all; entities are linked by the question's keywords, not by facts that a language model filters;
    entities with similar names are linked to keywords in the same way, and have no edges between them.
    """

    passage_node_weight: float = Field(default=0.2, ge=0, description="The weight of chunks as seeds, beside entities.")
    max_hops: int = Field(default=2, ge=0, le=3, description="How far the neighbourhood goes.")

    async def retrieve(self, query: Query, context: QueryContext) -> Evidence:
        """The chunks with the highest rank, which is their score; the nearest ones if nothing is linked.

        An entity's seed is its similarity to its keyword, divided by how often documents mention it.
        """
        _, linked, near = await self.link(query, context)
        relations = await context.neighbourhood(list(linked), self.max_hops)
        nodes = dict.fromkeys([*linked, *(end for r in relations for end in (r.source, r.target))])
        pairs = sorted(await context.chunks_of_entities(list(nodes)))
        edges = [(r.source, r.target, float(r.count)) for r in relations]
        edges += [(entity, chunk, 1.0) for entity, chunk in pairs]
        seeds = {chunk: self.passage_node_weight * score for chunk, score in near.items()}
        seeds |= {id_: hit.score / max(hit.item.count, 1) for id_, hit in linked.items()}
        ranks = personalised_pagerank(edges, seeds, self.damping)
        ranked = [Scored(id_, ranks[id_]) for id_ in dict.fromkeys([*near, *(chunk for _, chunk in pairs)])]
        passages = await context.passages(sorted(ranked, key=lambda one: (-one.score, one.item.int)), self.top_k)
        entities = tuple(hit.item for hit in linked.values())
        return Evidence(tuple(passages), entities, tuple(r for r in relations if {r.source, r.target} & linked.keys()))
