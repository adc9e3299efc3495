"""`keyword`: the chunks that contain the question's words."""

from __future__ import annotations

from pydantic import Field
from pydantic.dataclasses import dataclass

from trueweave.core.evidence import Evidence, Query
from trueweave.retrieval.context import QueryContext
from trueweave.retrieval.methods.parameters import CHECKED


@dataclass(frozen=True, config=CHECKED)
class Keyword:
    """The chunks that match the question's words best, by BM25. Needs no model at all."""

    top_k: int = Field(default=5, ge=1, le=1000, description="How many passages to keep.")
    k1: float = Field(default=1.2, ge=0, le=10, description="How much repetitions of a word count.")
    b: float = Field(default=0.75, ge=0, le=1, description="How much long chunks are penalised.")

    async def retrieve(self, query: Query, context: QueryContext) -> Evidence:
        """The chunks that match best, with BM25 scores."""
        found = await context.chunks_matching(query.text, self.top_k, k1=self.k1, b=self.b)
        reason = "" if found else "no word of the question is in the documents that were looked at."
        return Evidence(tuple(found), reason=reason)
