"""Rate limits: calls wait for their turn among those of all processes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import dataclass

from trueweave.core.model_calls import Prompt, Purpose, TextRole
from trueweave.core.protocols import RateLimiter, Vectors
from trueweave.models.budget import mark_unasked, most_tokens, pairs
from trueweave.models.wrappers import Ask, EmbedderWrapper, LLMWrapper, ReplyStream, RerankerWrapper, Stream

_BYTES_A_TOKEN = 3  # of most text; pacing needs no exact count


@dataclass(frozen=True)
class LimitedLLM(LLMWrapper):
    """A chat model that is called within the limits of a rate limiter."""

    limiter: RateLimiter

    async def _call(self, prompt: Prompt, purpose: Purpose, ask: Ask) -> Stream:
        """The model's reply, when it is this call's turn. The turn ends with the reply."""
        tokens = most_tokens(prompt) // _BYTES_A_TOKEN + prompt.max_tokens
        async with self._turn(tokens), aclosing(ReplyStream(ask())) as heard:
            async for piece in heard:
                yield piece
        yield heard.reply

    @asynccontextmanager
    async def _turn(self, tokens: int) -> AsyncIterator[None]:
        """The turn of a call. Whoever is cancelled while waiting for it has not asked the model, and owes nothing."""
        async with AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(self.limiter.acquire(tokens))
            except BaseException as error:
                mark_unasked(error)
                raise
            yield


@dataclass(frozen=True)
class BoundedLLM(LLMWrapper):
    """A chat model that this process makes so many calls to at a time, those included that wait for their turn. What is
    held back for them is booked as lost if the process is killed, so it must not be much."""

    places: asyncio.Semaphore

    async def _call(self, prompt: Prompt, purpose: Purpose, ask: Ask) -> Stream:
        """The model's reply, when there is a place."""
        async with self.places, aclosing(ReplyStream(ask())) as heard:
            async for piece in heard:
                yield piece
        yield heard.reply


@dataclass(frozen=True)
class LimitedEmbedder(EmbedderWrapper):
    """An embedding model that is called within the limits of a rate limiter."""

    limiter: RateLimiter

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        """One row per text, in order, when it is this call's turn."""
        async with self.limiter.acquire(sum(len(text.encode()) for text in texts) // _BYTES_A_TOKEN):
            return await self.embedder.embed(texts, role)


@dataclass(frozen=True)
class LimitedReranker(RerankerWrapper):
    """A reranker that is called within the limits of a rate limiter."""

    limiter: RateLimiter

    async def score(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """One score per text, in order, when it is this call's turn."""
        async with self.limiter.acquire(sum(len(text.encode()) for text in pairs(question, texts)) // _BYTES_A_TOKEN):
            return await self.reranker.score(question, texts)
