"""`walk`: ranks chunks only by where a walk over chunks and names ends."""

from __future__ import annotations

from pydantic.dataclasses import dataclass

from trueweave.core.evidence import Evidence, Query, Scored
from trueweave.retrieval.context import QueryContext
from trueweave.retrieval.methods.parameters import CHECKED
from trueweave.retrieval.methods.walking import GraphWalk, best


@dataclass(frozen=True, config=CHECKED)
class Walk(GraphWalk):
    """A walk from chunk to name to chunk, which starts at the best chunks and at the names in the question."""

    async def retrieve(self, query: Query, context: QueryContext) -> Evidence:
        """The chunks with most mass, which is their score."""
        walked = await self.walk(query, context)
        ranked = [Scored(id_, value) for id_, value in best(walked.mass, len(walked.mass)).items()]
        return Evidence(tuple(await context.passages(ranked, self.top_k)))
