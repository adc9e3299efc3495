"""Where PageRank starts in the published methods here: at entities that the question names, and at the nearest
chunks."""

from __future__ import annotations

from typing import ClassVar
from uuid import UUID

from pydantic import Field
from pydantic.dataclasses import dataclass

from trueweave.core.evidence import Query, Scored
from trueweave.core.graph import Entity
from trueweave.core.protocols import Scores, Vectors
from trueweave.retrieval.context import Need, QueryContext
from trueweave.retrieval.methods.keywords import keywords
from trueweave.retrieval.methods.parameters import CHECKED
from trueweave.retrieval.methods.ranks import RankedHit, together

_NEAREST = 100  # chunks that a walk starts from because of their vectors
_ALIKE = 10  # entities considered for one name

Linked = dict[UUID, RankedHit[Entity]]


@dataclass(frozen=True, config=CHECKED)
class Linking:
    """How a question is linked to the graph."""

    needs: ClassVar[frozenset[Need]] = frozenset({"vectors", "graph_vectors", "graph"})

    top_k: int = Field(default=5, ge=1, le=1000, description="How many passages to keep.")
    linking_threshold: float = Field(
        default=0.95, ge=-1, le=1, description="The lowest similarity at which an entity stands for a keyword."
    )
    damping: float = Field(
        default=0.5, ge=0, lt=1, description="The share of the mass that walks on; the rest restarts."
    )

    async def link(self, query: Query, context: QueryContext) -> tuple[Vectors, Linked, Scores]:
        """The question's vector, the entities that match its low-level keywords, and the nearest chunks with their
        similarity scaled to 0 to 1."""
        texts = [query.text, *(await keywords(query, context)).low]
        vectors = await context.embed(texts)
        found = together(await context.entities_near(vectors[1:], _ALIKE), lambda entity: entity.id)
        linked = {id_: hit for id_, hit in found.items() if hit.score >= self.linking_threshold}
        [near] = await context.chunks_near(vectors[:1], max(_NEAREST, self.top_k))
        return vectors[0], linked, _scaled([Scored(passage.id, passage.score) for passage in near])


def _scaled(near: list[Scored[UUID]]) -> Scores:
    low, high = min((n.score for n in near), default=0.0), max((n.score for n in near), default=0.0)
    return {one.item: (one.score - low) / (high - low) if high > low else 1.0 for one in near}
