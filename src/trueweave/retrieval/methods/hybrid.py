"""`hybrid`: local and global together."""

from __future__ import annotations

from asyncio import gather

from pydantic import Field
from pydantic.dataclasses import dataclass

from trueweave.core.evidence import Evidence, Query
from trueweave.retrieval.context import Method, QueryContext
from trueweave.retrieval.methods.global_ import Global
from trueweave.retrieval.methods.local import Local
from trueweave.retrieval.methods.merge import interleaved
from trueweave.retrieval.methods.parameters import CHECKED


@dataclass(frozen=True, config=CHECKED)
class Hybrid:
    """What local and global find, interleaved and without duplicates."""

    parts: tuple[Method, ...] = Field(default=(Local(), Global()), description="The methods to gather from.")

    async def retrieve(self, query: Query, context: QueryContext) -> Evidence:
        """The evidence of all parts; passages keep the scores from their part."""
        return interleaved(await gather(*(part.retrieve(query, context) for part in self.parts)))
