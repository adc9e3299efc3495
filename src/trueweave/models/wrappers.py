"""Wrappers of models. They report the wrapped model's name, and wrappers of embedders its embedding space."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Self

from trueweave.core.errors import BadReply
from trueweave.core.graph import Metric
from trueweave.core.model_calls import Prompt, Purpose, Reply
from trueweave.core.protocols import Embedder, Reranker, StreamingLLM, forget_reply

Ask = Callable[[], AsyncIterator[str | Reply]]
Stream = AsyncGenerator[str | Reply, None]


class ReplyStream:
    """The pieces of a reply as they come. `reply` is the whole reply, once all pieces were read; `begun` says whether
    any was."""

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
        """Stop reading, and close the stream behind it."""
        if isinstance(self._pieces, AsyncGenerator):
            await self._pieces.aclose()


@dataclass(frozen=True)
class LLMWrapper(ABC):
    """A wrapper of a chat model. It treats a whole reply as a stream without pieces, so that each wrapper is written
    once."""

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
        """Delete the cached reply to this, if a wrapper further in has a cache."""
        await forget_reply(self.llm, prompt)

    @abstractmethod
    def _call(self, prompt: Prompt, purpose: Purpose, ask: Ask) -> Stream:
        """The stream that the wrapper gives. Each call of `ask` asks the wrapped model once."""


@dataclass(frozen=True)
class ReplyWrapper(LLMWrapper):
    """A wrapper that does something with each whole reply, and passes its pieces on as they come."""

    async def _call(self, prompt: Prompt, purpose: Purpose, ask: Ask) -> Stream:
        async with aclosing(ReplyStream(ask())) as heard:
            async for piece in heard:
                yield piece
        yield await self._received(prompt, purpose, heard.reply, begun=heard.begun)

    @abstractmethod
    async def _received(self, prompt: Prompt, purpose: Purpose, reply: Reply, *, begun: bool) -> Reply:
        """The reply that the wrapper gives. `begun` says whether the caller has read pieces of it."""


async def _whole(reply: Awaitable[Reply]) -> Stream:
    yield await reply


@dataclass(frozen=True)
class EmbedderWrapper:
    """A wrapper of an embedder."""

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
    """A wrapper of a reranker."""

    reranker: Reranker

    @property
    def model(self) -> str:
        return self.reranker.model
