"""A method: search by the words of the question, then once more by the names in what was found."""

from __future__ import annotations

import re

from pydantic import Field
from pydantic.dataclasses import dataclass

from trueweave import Evidence
from trueweave.extend import Query, QueryContext


@dataclass(frozen=True)
class Follow:
    """Passages that match the question's words, and passages that match the names in those."""

    top_k: int = Field(default=6, ge=2, description="How many passages to keep, half of them from each search.")

    async def retrieve(self, query: Query, context: QueryContext) -> Evidence:
        first = await context.chunks_matching(query.text, limit=self.top_k // 2)
        names = {name for passage in first for name in re.findall(r"[A-Z][a-z]+ [A-Z][a-z]+", passage.text)}
        second = await context.chunks_matching(" ".join(sorted(names)), limit=self.top_k) if names else []
        found = {passage.id: passage for passage in (*first, *second)}  # each once, the first search first
        return Evidence(tuple(found.values())[: self.top_k])
