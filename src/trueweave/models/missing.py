"""A stand-in for an embedding model whose files are not here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from trueweave.errors import ModelFilesMissing
from trueweave.protocols import Vectors
from trueweave.types import Metric, TextRole


@dataclass(frozen=True)
class MissingEmbedder:
    """An embedder that cannot be used: whoever looks at it is told why. Who searches by words alone does not look."""

    error: ModelFilesMissing

    @property
    def model(self) -> str:
        self._tell()

    @property
    def dimensions(self) -> int:
        self._tell()

    @property
    def metric(self) -> Metric:
        self._tell()

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        """Raises what is missing."""
        self._tell()

    def _tell(self) -> NoReturn:
        raise ModelFilesMissing(f"{self.error} Methods that search by words, such as keyword, need no model.")
