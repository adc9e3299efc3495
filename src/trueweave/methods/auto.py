"""`auto`: weave where chunks have subjects of their own, plain fusion where they do not."""

from __future__ import annotations

from pydantic import Field
from pydantic.dataclasses import dataclass

from trueweave.evidence import Evidence, Query, Scored
from trueweave.methods.combine import Fuse
from trueweave.methods.parameters import CHECKED
from trueweave.methods.weave import Weave
from trueweave.query_context import QueryContext


@dataclass(frozen=True, config=CHECKED)
class Auto:
    """Whichever fits the documents: weave where most chunks have a subject of their own, fuse where not."""

    top_k: int = Field(default=5, ge=1, le=100, description="How many passages to keep.")
    least_subjects: float = Field(
        default=0.6, ge=0, le=1, description="The share of chunks that must have a subject of their own for weave."
    )

    async def retrieve(self, query: Query, context: QueryContext) -> Evidence:
        """What the chosen method finds. The trace shows which it is, and what it was chosen by."""
        share = await context.walk.subjects()
        method = Weave(top_k=self.top_k) if share >= self.least_subjects else Fuse(top_k=self.top_k)
        # The share is shown as the score of the choice.
        context.note("chose", Scored("weave" if isinstance(method, Weave) else "fuse", share))
        return await method.retrieve(query, context)
