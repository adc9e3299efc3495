"""An embedder that passes texts on to another one."""

from __future__ import annotations

from dataclasses import dataclass

from trueweave.core.graph import Metric
from trueweave.core.protocols import Embedder


@dataclass(frozen=True)
class EmbedderWrapper:
    """Has the embedding space of the embedder that it wraps."""

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
