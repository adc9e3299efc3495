"""The embedding model of `trueweave demo`: vectors that come with the package, and the model itself for other texts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from trueweave.core.errors import ConfigError, ModelFilesMissing
from trueweave.core.graph import Metric
from trueweave.core.model_calls import TextRole
from trueweave.core.protocols import Vectors
from trueweave.demo import MODEL
from trueweave.demo.vectors import Row, ShippedVectors
from trueweave.models import catalogue, hub
from trueweave.models.onnx import OnnxEmbedder


class DemoEmbedder:
    """Has the embedding space of the model that the vectors are from. A text without one is embedded by that model: it
    is downloaded for a document, and for a question it must be on this machine already."""

    metric: Metric = "cosine"

    def __init__(self, folder: Path | None = None) -> None:
        self._shipped = ShippedVectors.read()
        self._folder = folder
        self._opening = asyncio.Lock()
        self._opened: OnnxEmbedder | None = None
        self.model = self._shipped.model
        self.dimensions = self._shipped.dimensions

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        """One row per text, in order."""
        rows: list[Row | None] = [self._shipped.find(text, role) for text in texts]
        missing = [at for at, row in enumerate(rows) if row is None]
        if missing:
            real = await self._real(role)
            for at, row in zip(missing, await real.embed([texts[at] for at in missing], role), strict=True):
                rows[at] = row
        return np.array(rows, np.float32).reshape(len(texts), self.dimensions)

    async def _real(self, role: TextRole) -> OnnxEmbedder:
        async with self._opening:
            if self._opened is None:
                self._opened = await self._open(role)
        return self._opened

    async def _open(self, role: TextRole) -> OnnxEmbedder:
        known = catalogue.named(MODEL)
        if role == "query" and not await asyncio.to_thread(hub.find, known, self._folder):
            raise ModelFilesMissing(
                "the demo has vectors of its own questions only, and the embedding model is not on this machine. "
                f"`trueweave models fetch {MODEL}` downloads it. Methods that search by words, such as keyword, need "
                "no model."
            )
        opened = await OnnxEmbedder.open(
            (await hub.ready(known, self._folder)).folder,
            name=f"local/{MODEL}",
            pooling=known.pooling,
            most_tokens=known.most_tokens,
            prefixes=known.prefixes,
        )
        if opened.model != self.model:
            raise ConfigError(
                f"the files of {MODEL} on this machine are not those that the demo's vectors are from: they are "
                f"{opened.model}, the vectors {self.model}. Remove them, and run `trueweave models fetch {MODEL}`."
            )
        return opened
