"""No faster than agreed: calls wait for their turn among those of all processes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass

from trueweave.models.around import AroundEmbedder, AroundLLM, AroundReranker, Ask, Listening, Stream
from trueweave.models.budget import most_tokens, pairs
from trueweave.protocols import Pace, Vectors
from trueweave.types import Prompt, Purpose

_BYTES_A_TOKEN = 3  # of most text; pacing needs no exact count


@dataclass(frozen=True)
class LimitedLLM(AroundLLM):
    """A chat model that is called at an agreed pace."""

    pace: Pace

    async def _pass_on(self, prompt: Prompt, purpose: Purpose, ask: Ask) -> Stream:
        """The model's reply, when it is this call's turn, which is over when the reply is."""
        tokens = most_tokens(prompt) // _BYTES_A_TOKEN + prompt.max_tokens
        async with self.pace.turn(tokens), aclosing(Listening(ask())) as heard:
            async for piece in heard:
                yield piece
        yield heard.reply


@dataclass(frozen=True)
class LimitedEmbedder(AroundEmbedder):
    """An embedding model that is called at an agreed pace."""

    pace: Pace

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text, in order, when it is this call's turn."""
        async with self.pace.turn(sum(len(text.encode()) for text in texts) // _BYTES_A_TOKEN):
            return await self.embedder.embed(texts)


@dataclass(frozen=True)
class LimitedReranker(AroundReranker):
    """A model that reranks, called at an agreed pace."""

    pace: Pace

    async def score(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """One score per text, in order, when it is this call's turn."""
        async with self.pace.turn(sum(len(text.encode()) for text in pairs(question, texts)) // _BYTES_A_TOKEN):
            return await self.reranker.score(question, texts)
