"""Models whose calls are measured, one by one: a call that is tried again counts each time."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass

from trueweave.errors import TrueweaveError
from trueweave.measuring import ModelCalled, Operation, measure
from trueweave.models.wrappers import Ask, EmbedderWrapper, LLMWrapper, ReplyStream, RerankerWrapper, Stream
from trueweave.protocols import Vectors
from trueweave.types import Prompt, Purpose, TextRole


@dataclass(frozen=True)
class ObservedLLM(LLMWrapper):
    """A chat model whose calls are measured."""

    async def _call(self, prompt: Prompt, purpose: Purpose, ask: Ask) -> Stream:
        with _observed("chat", self.model):
            async with aclosing(ReplyStream(ask())) as heard:
                async for piece in heard:
                    yield piece
        yield heard.reply


@dataclass(frozen=True)
class ObservedEmbedder(EmbedderWrapper):
    """An embedding model whose calls are measured."""

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        """One row per text, in order."""
        with _observed("embeddings", self.model):
            return await self.embedder.embed(texts, role)


@dataclass(frozen=True)
class ObservedReranker(RerankerWrapper):
    """A reranker whose calls are measured."""

    async def score(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """One score per text, in order."""
        with _observed("rerank", self.model):
            return await self.reranker.score(question, texts)


@contextmanager
def _observed(operation: Operation, model: str) -> Iterator[None]:
    """One call of a model."""
    began, failure = time.perf_counter(), ""
    try:
        yield
    except BaseException as error:
        failure = failure_name(error)
        raise
    finally:
        measure(ModelCalled(operation, model, time.perf_counter() - began, failure))


def failure_name(error: BaseException) -> str:
    """What went wrong, as one of few names: an error of Trueweave's own, a bug, or that nobody waited any longer."""
    if isinstance(error, TrueweaveError):
        return type(error).__name__
    return "bug" if isinstance(error, Exception) else "cancelled"
