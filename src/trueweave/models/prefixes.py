"""Prefixes of texts, by which a model distinguishes queries from documents."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from trueweave.core.model_calls import TextRole
from trueweave.core.protocols import Vectors
from trueweave.models.embedder_wrapper import EmbedderWrapper


@dataclass(frozen=True, slots=True)
class Prefixes:
    """The prefixes that a model was trained with, for texts of each role."""

    query: str = ""
    document: str = ""

    def of(self, role: TextRole) -> str:
        return self.query if role == "query" else self.document

    def __str__(self) -> str:
        return f"prefixes {json.dumps(self.query)} and {json.dumps(self.document)}"


NO_PREFIXES = Prefixes()


@dataclass(frozen=True)
class PrefixedEmbedder(EmbedderWrapper):
    """An embedder that adds a prefix to texts according to their role. Another prefix makes another embedding space.

    It wraps `PaidEmbedder`, so that cache, budget and rate limit apply to the texts as sent.
    """

    prefixes: Prefixes

    @property
    def model(self) -> str:
        return f"{self.embedder.model} with {self.prefixes}"

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        """One row per text, in order."""
        prefix = self.prefixes.of(role)
        return await self.embedder.embed([prefix + text for text in texts], role)
