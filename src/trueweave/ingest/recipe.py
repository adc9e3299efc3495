"""A recipe: how a document is to be worked. It travels with the document, so that every worker does the same."""

from __future__ import annotations

import json
from typing import Literal

from pydantic import BaseModel, ConfigDict

from trueweave.text.chunking import ChunkSizes

# In every recipe that is written down. One that is added later is written only where it is not what it was before.
_ALWAYS = frozenset(
    {
        "extractor", "model", "pipeline", "entity_types", "max_gleaning", "max_paths_per_chunk", "max_reply_tokens",
        "min_chunk_size", "max_chunk_size", "chunk_overlap",
    }
)  # fmt: skip

ExtractorName = Literal["llm", "nlp", "capitals"]


class Recipe(BaseModel):
    """Which extractor, with which parameters, on chunks of which size. What a parameter does not concern is empty."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    extractor: ExtractorName
    model: str = ""
    pipeline: str = ""
    entity_types: dict[str, str] = {}
    max_gleaning: int = 1
    max_paths_per_chunk: int = 20
    max_reply_tokens: int = 4096
    min_chunk_size: int = 400
    max_chunk_size: int = 800
    chunk_overlap: int = 0
    prompts: dict[str, str] = {}  # the versions of those that are a user's own

    @property
    def sizes(self) -> ChunkSizes:
        return ChunkSizes(self.min_chunk_size, self.max_chunk_size, self.chunk_overlap)

    def packed(self) -> str:
        """The recipe as JSON, always the same for the same recipe, also by a version of Trueweave with more fields."""
        named = self.model_dump()
        changed = self.model_dump(exclude_defaults=True).keys() | _ALWAYS
        return json.dumps({name: named[name] for name in changed}, sort_keys=True)
