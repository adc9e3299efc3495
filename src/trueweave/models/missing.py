"""Stand-ins for models that cannot be used, or are not to be."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

from trueweave.core.errors import ModelFilesMissing
from trueweave.core.graph import Metric
from trueweave.core.model_calls import Prompt, Purpose, Reply, TextRole
from trueweave.core.protocols import Vectors


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


@dataclass(frozen=True)
class UnaskedLLM:
    """A chat model by its name alone, for who counts what it would be asked."""

    model: str

    async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        """Raises, as nothing is to be asked."""
        raise AssertionError(f"{self.model} is only counted for")

    async def stream(self, prompt: Prompt, purpose: Purpose) -> AsyncIterator[str | Reply]:
        """Raises, as nothing is to be asked."""
        yield await self.complete(prompt, purpose)
