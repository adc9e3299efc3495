"""`naive`: the chunks nearest to the question."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field
from pydantic.dataclasses import dataclass

from trueweave.core.evidence import Evidence, Query
from trueweave.retrieval.context import Need, QueryContext
from trueweave.retrieval.methods.parameters import CHECKED


@dataclass(frozen=True, config=CHECKED)
class Naive:
    """The chunks whose vectors are nearest to the question's. It does not use the graph, and serves as the baseline."""

    needs: ClassVar[frozenset[Need]] = frozenset({"vectors"})

    top_k: int = Field(default=5, ge=1, le=1000, description="How many passages to keep.")

    async def retrieve(self, query: Query, context: QueryContext) -> Evidence:
        """The nearest chunks, scored by similarity."""
        [passages] = await context.chunks_near(await context.embed([query.text]), self.top_k)
        return Evidence(tuple(passages))
