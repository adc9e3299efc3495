"""Embedding on this machine: any folder with model.onnx and tokenizer.json. Needs the extra `local`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self

import numpy as np

from trueweave.errors import ConfigError
from trueweave.models.local import BATCH_TOKENS, LocalModel, Mask, settings
from trueweave.models.prefixes import NO_PREFIXES, Prefixes
from trueweave.protocols import Vectors
from trueweave.types import Metric, TextRole

if TYPE_CHECKING:
    from onnxruntime import InferenceSession  # type: ignore[import-untyped]

MOST_TOKENS = 256  # of a text, where neither the caller nor the model's folder says

Pooling = Literal["none", "mean", "first"]


@dataclass(frozen=True)
class OnnxEmbedder:
    """An embedding model in this process. `await OnnxEmbedder.open(folder)` makes one.

    Vectors have length one. Of a text longer than `most_tokens` only the beginning is embedded.
    """

    dimensions: int
    _local: LocalModel
    _pooling: Pooling
    prefixes: Prefixes = NO_PREFIXES
    metric: Metric = "cosine"

    @classmethod
    async def open(
        cls,
        path: Path,
        *,
        tokenizer: Path | None = None,
        most_tokens: int | None = None,
        threads: int = 1,
        batch_tokens: int = BATCH_TOKENS,
        prefixes: Prefixes = NO_PREFIXES,
    ) -> Self:
        """The model in a folder, or in a .onnx file with its `tokenizer` elsewhere.

        `most_tokens` is the model's own limit unless given; `threads` are those that one run of the model uses.
        `prefixes` are put before the texts.
        """
        local = await LocalModel.open(
            path,
            usual_tokens=MOST_TOKENS,
            tokenizer=tokenizer,
            most_tokens=most_tokens,
            threads=threads,
            batch_tokens=batch_tokens,
        )
        pooling, dimensions = _pooling(local.session, local.folder)
        opened = cls(dimensions, local, pooling, prefixes)
        # Graphs may leave their dimension open.
        return (
            opened
            if dimensions
            else replace(opened, dimensions=(await opened.embed(["trueweave"], "document")).shape[1])
        )

    @property
    def model(self) -> str:
        plain = self._local.name
        return plain if self.prefixes == NO_PREFIXES else f"{plain} with {self.prefixes}"

    @property
    def most_tokens(self) -> int:
        return self._local.most_tokens

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        """One row per text, in order."""
        prefix = self.prefixes.of(role)
        return await asyncio.to_thread(self._embed, [prefix + text for text in texts])

    def _embed(self, texts: list[str]) -> Vectors:
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.float32)
        outputs = None if self._pooling != "none" else ["sentence_embedding"]
        return self._local.run(self._local.tokenizer.encode_batch_fast(texts), self._vectors, outputs)

    def _vectors(self, found: Vectors, mask: Mask) -> Vectors:
        pooled = _pool(found, mask, self._pooling)
        lengths = np.linalg.norm(pooled, axis=1, keepdims=True)
        return np.divide(pooled, np.where(lengths == 0, 1, lengths), dtype=np.float32)


def _pooling(session: InferenceSession, folder: Path) -> tuple[Pooling, int]:
    """How one vector is made of the model's output, and its dimension; 0 where the graph leaves it open."""
    outputs = {node.name: node.shape for node in session.get_outputs()}
    shape = outputs.get("sentence_embedding") or next(iter(outputs.values()))
    if not 2 <= len(shape) <= 3:
        raise ConfigError(f"the model's output has {len(shape)} axes. Is it an embedding model?")
    dimensions = shape[-1] if isinstance(shape[-1], int) else 0
    if "sentence_embedding" in outputs:
        return "none", dimensions
    said = settings(folder / "1_Pooling" / "config.json")
    modes = {name for name, on in said.items() if name.startswith("pooling_mode_") and on is True}
    if modes - {"pooling_mode_mean_tokens", "pooling_mode_cls_token"} or len(modes) > 1:
        raise ConfigError(f"{folder} wants {', '.join(sorted(modes))}; Trueweave pools by mean or by first token only.")
    return ("first" if "pooling_mode_cls_token" in modes else "mean"), dimensions


def _pool(found: Vectors, mask: Mask, pooling: Pooling) -> Vectors:
    if pooling == "none":
        return found
    if pooling == "first":
        return found[:, 0]
    weights = mask.astype(np.float32)
    summed: Vectors = np.einsum("bsd,bs->bd", found, weights)
    mean: Vectors = summed / np.maximum(weights.sum(axis=1, keepdims=True), 1)
    return mean
