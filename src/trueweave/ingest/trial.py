"""Tries an extractor on one chunk: the prompt, the reply, and what is kept. Nothing is stored."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

from trueweave.core.errors import BadReply, ConfigError, InvalidDocument
from trueweave.core.model_calls import ExtractionTrial, ModelExchange, Prompt, Purpose, Reply
from trueweave.core.protocols import Chunker, Extractor, StreamingLLM, forget_reply
from trueweave.core.record import DroppedFinding, Extraction, Source
from trueweave.ingest.extract.units import units
from trueweave.ingest.recipe import Recipe

_BY_THE_WHOLE = ("capitals", "nlp")  # their results for a chunk depend on the other chunks, and cost nothing


@dataclass(frozen=True)
class TrialLog:
    """What is recorded during a trial."""

    calls: list[ModelExchange] = field(default_factory=list)
    left_out: list[DroppedFinding] = field(default_factory=list)

    def listening(self, llm: StreamingLLM) -> RecordedLLM:
        """The model; its prompts and replies are recorded here."""
        return RecordedLLM(llm, self.calls.append)


@dataclass(frozen=True)
class RecordedLLM:
    """A chat model that reports each call."""

    llm: StreamingLLM
    told: Callable[[ModelExchange], None]

    @property
    def model(self) -> str:
        return self.llm.model

    async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        """The model's complete reply."""
        reply = await self.llm.complete(prompt, purpose)
        self.told(ModelExchange(purpose.stage, prompt, reply))
        return reply

    async def stream(self, prompt: Prompt, purpose: Purpose) -> AsyncIterator[str | Reply]:
        """The pieces of the reply, and at the end the whole of it."""
        async for piece in self.llm.stream(prompt, purpose):
            if isinstance(piece, Reply):
                self.told(ModelExchange(purpose.stage, prompt, piece))
            yield piece

    async def forget(self, prompt: Prompt) -> None:
        """Remove the reply to this prompt from the cache."""
        await forget_reply(self.llm, prompt)


async def try_extract(
    source: Source, number: int, recipe: Recipe, extractor: Extractor, chunker: Chunker, log: TrialLog
) -> ExtractionTrial:
    """The result of the extractor for the chunk of this number, counted from 1. A reply that is unusable twice is
    reported as the trial's problem, not raised."""
    chunks = await chunker.chunk(source, recipe.sizes)
    if not chunks:
        raise InvalidDocument(f"{source.uri} has no text. Name another file.")
    if not 1 <= number <= len(chunks):
        raise ConfigError(f"{source.uri} has no chunk {number}. Name one from 1 to {len(chunks)}.")
    chunk = chunks[number - 1]
    found, problem = Extraction(), ""
    try:
        if recipe.extractor in _BY_THE_WHOLE:
            found = (await extractor.extract(source, chunks))[number - 1]
        else:
            together = next(u for u in units(source, chunks, recipe.extraction_chunk_size) if chunk in u.chunks)
            found = (await extractor.extract(source, together.chunks))[together.chunks.index(chunk)]
    except BadReply as error:
        problem = str(error)
    told = tuple(log.calls), tuple(log.left_out)
    return ExtractionTrial(
        source.uri, recipe.extractor, recipe.chunker, chunk, number, len(chunks), found, *told, problem
    )
