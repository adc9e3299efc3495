"""A recipe: how a document is processed. It is stored with the document, so that every worker does the same."""

from __future__ import annotations

import json

from pydantic import BaseModel, ConfigDict

from trueweave.core.model_options import ModelOptions
from trueweave.core.record import ChunkSizes

# Fields of every stored recipe. Fields added later are stored only if they differ from the earlier behaviour.
_ALWAYS = frozenset(
    {
        "extractor", "model", "pipeline", "entity_types", "max_gleaning", "max_paths_per_chunk", "max_reply_tokens",
        "min_chunk_size", "max_chunk_size", "chunk_overlap",
    }
)  # fmt: skip


class Recipe(BaseModel):
    """The extractor with its parameters, and the sizes of chunks. Parameters that do not apply are empty."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    extractor: str
    model: str = ""
    pipeline: str = ""
    entity_types: dict[str, str] = {}
    max_gleaning: int = 1
    max_paths_per_chunk: int = 20
    max_reply_tokens: int = 4096
    min_chunk_size: int = 400
    max_chunk_size: int = 800
    chunk_overlap: int = 0
    prompts: dict[str, str] = {}  # the versions of custom components
    relation_types: dict[str, str] = {}
    relation_patterns: tuple[tuple[str, str, str], ...] = ()
    strict_schema: bool = False
    extractor_fingerprint: str = ""  # of a custom component
    chunker: str = "structure"
    chunker_fingerprint: str = ""  # of a custom component
    chunk_embedding: str = ""  # the model whose vectors the chunker semantic cuts by
    break_percentile: float = 0.0
    model_options: ModelOptions = {}
    short_names: bool = False  # whether full names take the place of short ones within the document
    extraction_chunk_size: int = 0  # tokens of neighbouring chunks that the model reads together; 0: each by itself

    @property
    def sizes(self) -> ChunkSizes:
        return ChunkSizes(self.min_chunk_size, self.max_chunk_size, self.chunk_overlap)

    def packed(self) -> str:
        """The recipe as canonical JSON, stable even if a later version of Trueweave has more fields."""
        named = self.model_dump()
        changed = self.model_dump(exclude_defaults=True).keys() | _ALWAYS
        return json.dumps({name: named[name] for name in changed}, sort_keys=True)
