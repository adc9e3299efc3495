"""What is put round a model goes by the model's own name, and round an embedder it is of the same embedding space."""

from __future__ import annotations

from dataclasses import dataclass

from weft.protocols import LLM, Embedder
from weft.types import Metric


@dataclass(frozen=True)
class AroundLLM:
    """Something round a chat model."""

    llm: LLM

    @property
    def model(self) -> str:
        return self.llm.model


@dataclass(frozen=True)
class AroundEmbedder:
    """Something round an embedder."""

    embedder: Embedder

    @property
    def model(self) -> str:
        return self.embedder.model

    @property
    def dimensions(self) -> int:
        return self.embedder.dimensions

    @property
    def metric(self) -> Metric:
        return self.embedder.metric
