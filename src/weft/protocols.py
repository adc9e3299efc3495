"""The seams: what a part must do to take its place in Weft."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from weft.types import Metric

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into vectors. (model, dimensions, metric) name its embedding space."""

    @property
    def model(self) -> str: ...
    @property
    def dimensions(self) -> int: ...
    @property
    def metric(self) -> Metric: ...

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text, in order."""
        ...
