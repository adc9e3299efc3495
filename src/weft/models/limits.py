"""No faster than agreed: calls wait for their turn among those of all processes."""

from __future__ import annotations

from collections.abc import Sequence

from weft.models.budget import most_tokens
from weft.protocols import LLM, Embedder, Pace, Vectors
from weft.types import Metric, Prompt, Purpose, Reply

_BYTES_A_TOKEN = 3  # of most text; pacing needs no exact count


class LimitedLLM:
    """A chat model that is called at an agreed pace."""

    def __init__(self, llm: LLM, pace: Pace) -> None:
        self._llm = llm
        self._pace = pace

    @property
    def model(self) -> str:
        return self._llm.model

    async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        """The model's reply, when it is this call's turn."""
        async with self._pace.turn(most_tokens(prompt) // _BYTES_A_TOKEN + prompt.max_tokens):
            return await self._llm.complete(prompt, purpose)


class LimitedEmbedder:
    """An embedding model that is called at an agreed pace."""

    def __init__(self, embedder: Embedder, pace: Pace) -> None:
        self._embedder = embedder
        self._pace = pace

    @property
    def model(self) -> str:
        return self._embedder.model

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    @property
    def metric(self) -> Metric:
        return self._embedder.metric

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text, in order, when it is this call's turn."""
        async with self._pace.turn(sum(len(text.encode()) for text in texts) // _BYTES_A_TOKEN):
            return await self._embedder.embed(texts)
