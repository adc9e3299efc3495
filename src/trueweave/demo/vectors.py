"""Vectors that come with the package, by the text and its role. They are stored as bytes, scaled to length one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from trueweave.demo import VECTORS

_KEY = 8  # bytes
_LARGEST = 127

Row = NDArray[np.float32]


@dataclass(frozen=True)
class ShippedVectors:
    """Vectors by text and role, and the model that they are from."""

    model: str
    dimensions: int
    _rows: Mapping[bytes, NDArray[np.int8]]

    @classmethod
    def read(cls, path: Path = VECTORS) -> Self:
        """The vectors in a file."""
        with np.load(path) as stored:
            keys, rows, model = stored["keys"], stored["rows"], str(stored["model"])
        return cls(model, rows.shape[1], {key.tobytes(): row for key, row in zip(keys, rows, strict=True)})

    def __len__(self) -> int:
        return len(self._rows)

    def find(self, text: str, role: str) -> Row | None:
        """The vector of a text; None if it is not here."""
        found = self._rows.get(_key(text, role))
        if found is None:
            return None
        row = found.astype(np.float32)
        return np.asarray(row / np.linalg.norm(row), np.float32)


def write(path: Path, model: str, texts: Iterable[tuple[str, str]], vectors: NDArray[np.float32]) -> None:
    """Store the vectors of these texts and roles, in the order of their keys."""
    keys = np.array([list(_key(text, role)) for text, role in texts], np.uint8)
    scaled = np.rint(vectors / np.abs(vectors).max(axis=1, keepdims=True) * _LARGEST).astype(np.int8)
    order = np.lexsort(keys.T[::-1])
    np.savez(path, keys=keys[order], rows=scaled[order], model=np.array(model))


def _key(text: str, role: str) -> bytes:
    return blake2b(f"{role}\0{text}".encode(), digest_size=_KEY).digest()
