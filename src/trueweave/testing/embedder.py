"""An embedder without a model: it hashes words into a vector. Deterministic and fast; similar texts are near."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from trueweave.core.graph import Metric
from trueweave.core.model_calls import TextRole
from trueweave.core.protocols import Vectors

_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class HashEmbedder:
    """Counts a text's words, each at the position and with the sign given by its hash, and scales the result to length
    one."""

    dimensions: int = 64
    name: str = "hash"
    metric: Metric = "cosine"

    @property
    def model(self) -> str:
        return f"testing/{self.name}"

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        rows: list[int] = []
        codes: list[int] = []
        for row, text in enumerate(texts):
            words = _WORD.findall(text.lower())
            rows.extend([row] * len(words))
            codes.extend(crc32(word.encode()) for word in words)
        matrix = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        code = np.array(codes, dtype=np.uint32)
        signs = np.where(code >> 31, 1.0, -1.0).astype(np.float32)
        np.add.at(matrix, (np.array(rows, dtype=np.intp), code % self.dimensions), signs)
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        # A text without words has no direction, but its vector must not be zero.
        matrix[lengths[:, 0] == 0, 0] = 1.0
        return np.divide(matrix, np.where(lengths == 0, 1, lengths), dtype=np.float32)
