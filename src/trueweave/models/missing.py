"""Stand-ins for models that are missing, or that must not be called."""

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
    """An embedder whose files are missing. Any use of it raises that error; searches by words do not use it."""

    error: ModelFilesMissing

    @property
    def model(self) -> str:
        self._raise()

    @property
    def dimensions(self) -> int:
        self._raise()

    @property
    def metric(self) -> Metric:
        self._raise()

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        """Raises the error."""
        self._raise()

    def _raise(self) -> NoReturn:
        raise ModelFilesMissing(f"{self.error} Methods that search by words, such as keyword, need no model.")


@dataclass(frozen=True)
class UnaskedLLM:
    """A chat model that is only a name, for estimates."""

    model: str

    async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        """Raises, because an estimate makes no calls."""
        raise AssertionError(f"{self.model} is only counted for")

    async def stream(self, prompt: Prompt, purpose: Purpose) -> AsyncIterator[str | Reply]:
        """Raises, because an estimate makes no calls."""
        yield await self.complete(prompt, purpose)
