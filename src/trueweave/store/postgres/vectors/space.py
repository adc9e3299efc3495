"""Embedding spaces, and which kinds of vectors a workspace has."""

from __future__ import annotations

from typing import NamedTuple

from trueweave.core.errors import SpaceMismatch
from trueweave.core.graph import GRAPH_KINDS, VECTOR_KINDS, GraphVectors, Metric, VectorKind
from trueweave.core.protocols import Embedder


class Space(NamedTuple):
    """An embedding space: what makes vectors comparable."""

    id: int
    model: str
    dimensions: int
    metric: Metric

    def is_of(self, embedder: Embedder) -> bool:
        own = (self.model, self.dimensions, self.metric)
        return own == (embedder.model, embedder.dimensions, embedder.metric)

    def check(self, embedder: Embedder | None) -> None:
        """Raise SpaceMismatch unless this is the embedder's space."""
        if embedder is None or not self.is_of(embedder):
            raise SpaceMismatch(
                f"this workspace's vectors come from {self.model} ({self.dimensions} dimensions, {self.metric}), "
                f"and the embedding model is {embedder.model if embedder else 'not set'}. Set embedding_model and "
                "its prefixes back, or run `trueweave reembed MODEL` to embed everything with another model."
            )

    def similarity(self, distance: float) -> float:
        """The similarity for a distance: higher is nearer, and for cosine 1 means the same direction."""
        if self.metric == "l2":
            return 1 / (1 + distance)
        return 1 - distance if self.metric == "cosine" else -distance


def kinds(graph: GraphVectors) -> tuple[VectorKind, ...]:
    """The kinds of vectors that are embedded when documents change."""
    return tuple(kind for kind in VECTOR_KINDS if graph != "none" or kind not in GRAPH_KINDS)


def complete_kinds(graph: GraphVectors) -> tuple[VectorKind, ...]:
    """The kinds of which each object has a vector."""
    return VECTOR_KINDS if graph == "kept" else kinds("none")
