"""Models whose calls are measured, one by one: a call that is tried again counts each time."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass

from opentelemetry.trace import Span, SpanKind

from trueweave.core.model_calls import Prompt, Purpose, TextRole
from trueweave.core.protocols import Vectors
from trueweave.core.telemetry.measurements import ModelCalled, Operation, measure
from trueweave.core.telemetry.spans import Attributes, failure_name, open_span
from trueweave.models.names import provider_name
from trueweave.models.wrappers import Ask, EmbedderWrapper, LLMWrapper, ReplyStream, RerankerWrapper, Stream

# What OpenTelemetry calls providers, where it is not what they are called here.
_PROVIDERS = {
    "azure": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
}


@dataclass(frozen=True)
class ObservedLLM(LLMWrapper):
    """A chat model whose calls are measured."""

    async def _call(self, prompt: Prompt, purpose: Purpose, ask: Ask) -> Stream:
        about = {"gen_ai.request.max_tokens": prompt.max_tokens, "gen_ai.request.temperature": prompt.temperature}
        with _observed("chat", self.model, {**about, "trueweave.purpose": purpose.stage}) as call:
            async with aclosing(ReplyStream(ask())) as heard:
                async for piece in heard:
                    yield piece
            reply = heard.reply
            call.set_attribute("gen_ai.usage.input_tokens", reply.tokens_in)
            call.set_attribute("gen_ai.usage.output_tokens", reply.tokens_out)
            call.set_attribute("gen_ai.response.finish_reasons", [reply.finish])
        yield heard.reply


@dataclass(frozen=True)
class ObservedEmbedder(EmbedderWrapper):
    """An embedding model whose calls are measured."""

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        """One row per text, in order."""
        about = {"gen_ai.embeddings.dimension.count": self.dimensions, "trueweave.texts": len(texts)}
        with _observed("embeddings", self.model, about):
            return await self.embedder.embed(texts, role)


@dataclass(frozen=True)
class ObservedReranker(RerankerWrapper):
    """A reranker whose calls are measured."""

    async def score(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """One score per text, in order."""
        with _observed("rerank", self.model, {"trueweave.texts": len(texts)}):
            return await self.reranker.score(question, texts)


@contextmanager
def _observed(operation: Operation, model: str, about: Attributes) -> Iterator[Span]:
    """One call of a model, timed and as a span. What it used is set by the caller."""
    provider, name = provider_name(model), model.partition("/")[2]
    attributes = {
        "gen_ai.operation.name": operation,
        "gen_ai.provider.name": _PROVIDERS.get(provider, provider),
        "gen_ai.request.model": name,
        **about,
    }
    began, failure = time.perf_counter(), ""
    try:
        with open_span(f"{operation} {name}", attributes, kind=SpanKind.CLIENT) as call:
            yield call
    except BaseException as error:
        failure = failure_name(error)
        raise
    finally:
        measure(ModelCalled(operation, model, time.perf_counter() - began, failure))
