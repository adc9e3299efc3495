"""What is put round a model goes by the model's own name, and round an embedder it is of the same embedding space."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Self

from trueweave.errors import BadReply
from trueweave.protocols import Embedder, Reranker, StreamingLLM, forget_reply
from trueweave.types import Metric, Prompt, Purpose, Reply

Ask = Callable[[], AsyncIterator[str | Reply]]
Stream = AsyncGenerator[str | Reply, None]


class ReplyStream:
    """The pieces of a reply as they come. `reply` is the whole of it, once all were heard; `begun`, whether any was."""

    reply: Reply

    def __init__(self, pieces: AsyncIterator[str | Reply]) -> None:
        self._pieces = pieces
        self.begun = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        piece = await anext(self._pieces, None)
        if isinstance(piece, str):
            self.begun = True
            return piece
        if piece is None:
            raise BadReply("a model's stream ended without the whole reply, which is to be its last item.")
        self.reply = piece
        raise StopAsyncIteration

    async def aclose(self) -> None:
        """Hear no more: whoever is speaking is stopped."""
        if isinstance(self._pieces, AsyncGenerator):
            await self._pieces.aclose()


@dataclass(frozen=True)
class LLMWrapper(ABC):
    """Something round a chat model. What it does, it does for replies that are streamed and for those that are not: to
    it, one that comes whole is a stream without pieces."""

    llm: StreamingLLM

    @property
    def model(self) -> str:
        return self.llm.model

    async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        """The model's whole reply."""
        whole = self._call(prompt, purpose, lambda: _whole(self.llm.complete(prompt, purpose)))
        async with aclosing(ReplyStream(whole)) as heard:
            async for _ in heard:
                pass
        return heard.reply

    def stream(self, prompt: Prompt, purpose: Purpose) -> Stream:
        """The pieces of the reply as they come, and at the end the whole of it."""
        return self._call(prompt, purpose, lambda: self.llm.stream(prompt, purpose))

    async def forget(self, prompt: Prompt) -> None:
        """Keep the reply to this no longer, where one is kept further in."""
        await forget_reply(self.llm, prompt)

    @abstractmethod
    def _call(self, prompt: Prompt, purpose: Purpose, ask: Ask) -> Stream:
        """What comes of asking the model, which each call of `ask` does once."""


async def _whole(reply: Awaitable[Reply]) -> Stream:
    yield await reply


@dataclass(frozen=True)
class EmbedderWrapper:
    """Something round an embedder."""

    embedder: Embedder

    @property
    def model(self) -> str:
        return self.embedder.model

    @property
    def dimensions(self) -> int:
        return self.embedder.dimensions

    @property
    def metric(self) -> Metric:
        return self.embedder.metric


@dataclass(frozen=True)
class RerankerWrapper:
    """Something round a model that reranks."""

    reranker: Reranker

    @property
    def model(self) -> str:
        return self.reranker.model
