"""Questions: retrieving evidence, answering from it, and comparing methods."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from trueweave.answering.ask import Answering
from trueweave.answering.conversation import standalone
from trueweave.core.answers import Answer, Compared, Comparison
from trueweave.core.errors import ConfigError, TrueweaveError
from trueweave.core.events import Retrieved, Rewritten, tell
from trueweave.core.evidence import NO_DOCUMENTS, Evidence, Filter, MethodInfo, Query, Trace
from trueweave.core.model_calls import Message
from trueweave.core.protocols import Embedder, Readers, Reranker, StreamingLLM
from trueweave.core.telemetry.measurements import QuestionAnswered, Searched, measure
from trueweave.core.telemetry.spans import carried, open_span, span
from trueweave.models.prompts import BUILT_IN, PromptSet
from trueweave.models.question import QuestionLLM, UsageMeter
from trueweave.retrieval.context import Method, Need, QueryContext
from trueweave.retrieval.methods import registry
from trueweave.retrieval.methods.combine import reranked
from trueweave.retrieval.methods.needs import lacks, needs_of

_NO_DOCUMENT = "no document matches the filter. `trueweave documents` lists the documents."


@dataclass(frozen=True)
class Models:
    """The models that questions use, None if not set. `llm` answers, `searching` is asked what to search for."""

    embedder: Embedder | None = None
    llm: StreamingLLM | None = None
    searching: StreamingLLM | None = None
    reranker: Reranker | None = None


@dataclass(frozen=True)
class Asking:
    """Questions to one workspace, with these models and prompts. Each question has its own readers."""

    open_readers: Callable[[Filter], Readers]
    models: Models
    with_disagreements: Callable[[Filter, Answer], Awaitable[Answer]]
    prompts: PromptSet = BUILT_IN
    most_tokens: int = 14_000  # limit for one prompt

    async def methods(self, default: str) -> list[MethodInfo]:
        """All methods, and whether each can be used in this workspace."""
        context = QueryContext(self.open_readers(Filter()), self.models.embedder, self.models.searching)
        lacking = await lacks(context)
        found = [self._method(name, lacking, default) for name in registry.names()]
        broken = [MethodInfo(one.name, "", {}, one.name == default, one.problem) for one in registry.broken()]
        return found + broken

    def _method(self, name: str, lacking: Mapping[Need, str], default: str) -> MethodInfo:
        needed = needs_of(registry.make(name))
        problem = " ".join(sentence for need, sentence in lacking.items() if need in needed)
        return MethodInfo(name, registry.describe(name).summary, registry.schema(name), name == default, problem)

    async def retrieve(self, query: Query, method: Method) -> Evidence:
        """What a method finds, with a trace of how."""
        return await self._retrieve(query, method, UsageMeter())

    async def _retrieve(self, query: Query, method: Method, meter: UsageMeter) -> Evidence:
        begun, before, name = time.perf_counter(), meter.usage, registry.name_of(method)
        readers = self.open_readers(query.filter)
        llm = self._metered(self.models.searching, meter)
        context = QueryContext(readers, self.models.embedder, llm, self.models.reranker, self.prompts)
        with span(f"retrieval {name}", {"gen_ai.operation.name": "retrieval", "trueweave.method": name}) as opened:
            if "graph_vectors" in needs_of(method):
                await context.check_graph_vectors()  # before a language model is asked for keywords
            evidence = await method.retrieve(query, context)
            opened.set_attribute("trueweave.passages", len(evidence.passages))
        if not evidence and await context.is_empty():
            evidence = replace(evidence, reason=_NO_DOCUMENT if query.filter else NO_DOCUMENTS)
        trace = Trace(name, context.steps, time.perf_counter() - begun, meter.usage - before)
        measure(Searched(trace))
        if await context.is_restricted():
            return _without_scores(replace(evidence, trace=replace(trace, steps=())))
        return replace(evidence, trace=trace)

    async def stream(
        self, query: Query, method: Method, answering: Answering, history: Sequence[Message] = (), *, context_only: bool
    ) -> AsyncGenerator[str | Answer, None]:
        """The answer in pieces as the model writes them, and at the end the complete, checked answer.

        With `context_only` the model is not called: the answer has no text, only the context that the model would be
        shown.
        """
        name = registry.name_of(method)
        with open_span(f"ask {name}", {"trueweave.method": name}) as asked:
            pieces = self._stream(query, method, answering, history, context_only=context_only)
            async with aclosing(carried(asked, pieces)) as stream:
                async for piece in stream:
                    yield piece

    async def _stream(
        self, query: Query, method: Method, answering: Answering, history: Sequence[Message], *, context_only: bool
    ) -> AsyncGenerator[str | Answer, None]:
        begun, meter = time.perf_counter(), UsageMeter()
        llm, searching = self._metered(self.models.llm, meter), self._metered(self.models.searching, meter)
        if llm is None and not context_only:
            raise ConfigError(
                "no language model is set, so questions cannot be answered. Set one in trueweave.toml, as in model = "
                '"ollama/llama3.1:8b", or ask for the context only, which shows what was found.'
            )
        await asyncio.to_thread(answering.check_size, query.text)
        looked_for = query
        if history:
            looked_for = replace(query, text=await standalone(query.text, history, searching, self.prompts))
        if looked_for != query:
            tell(Rewritten(looked_for.text))
        rewriting = meter.usage
        evidence = await self._retrieve(looked_for, method, meter)
        tell(Retrieved(evidence))
        if llm is None or context_only:
            context = await asyncio.to_thread(answering.context, evidence, history)
            yield Answer(query.text, "", bool(evidence), (), (), evidence, context.text, meter.usage)
            return
        async with aclosing(answering.stream(query.text, evidence, llm, history)) as pieces:
            async for piece in pieces:
                if isinstance(piece, Answer):
                    piece = replace(piece, usage=rewriting + piece.usage)
                    piece = await self.with_disagreements(query.filter, piece)
                    measure(QuestionAnswered(evidence.trace.method, time.perf_counter() - begun))
                yield piece

    async def compare(self, query: Query, methods: Sequence[Method], answering: Answering | None) -> Comparison:
        """Compare methods, one after the other so that none slows another; with answers if `answering` is given.

        A method that cannot be used here is listed with the reason.
        """
        return Comparison(query.text, tuple([await self._compared(query, method, answering) for method in methods]))

    async def _compared(self, query: Query, method: Method, answering: Answering | None) -> Compared:
        name = registry.name_of(method)
        try:
            if answering is None:
                return Compared(name, await self.retrieve(query, method))
            answer = await whole(self.stream(query, method, answering, context_only=False))
        except TrueweaveError as error:
            return Compared(name, Evidence(), problem=str(error))
        return Compared(name, answer.evidence, answer)

    def _metered(self, llm: StreamingLLM | None, meter: UsageMeter) -> QuestionLLM | None:
        return QuestionLLM(llm, self.most_tokens, meter) if llm else None


def _without_scores(evidence: Evidence) -> Evidence:
    """Evidence for a caller who does not see all documents. Scores depend on statistics of all of them."""
    return replace(evidence, passages=tuple(replace(one, score=0.0) for one in evidence.passages))


async def whole(pieces: AsyncIterator[str | Answer]) -> Answer:
    """The complete answer, which is the last item of the stream."""
    last: str | Answer = ""
    async for piece in pieces:
        last = piece
    assert isinstance(last, Answer), "a stream of pieces ends with the answer"
    return last


def chosen(method: str | Method, *, rerank: bool = False) -> Method:
    """A method by its name, or the method itself; wrapped in reranking if `rerank` is set."""
    found = registry.make(method) if isinstance(method, str) else method
    return reranked(found) if rerank else found
