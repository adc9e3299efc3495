"""`llm`: entities and relations that a language model finds in each chunk.

A chunk costs one call, or several neighbouring chunks together (see `units.py`). The prompt depends only on their text
and the settings, so equal texts, in any document, are sent once. An unreadable reply is sent back to the model once,
with the error.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import count

from trueweave.core.errors import BadReply, ConfigError
from trueweave.core.events import chunks_done
from trueweave.core.model_calls import Message, Prompt, Purpose, Reply
from trueweave.core.protocols import LLM
from trueweave.core.record import Chunk, DroppedFinding, Extraction, Source
from trueweave.ingest.extract.findings import ExtractionBuilder, example
from trueweave.ingest.extract.graph_schema import GraphSchema
from trueweave.ingest.extract.schema import Findings, schema
from trueweave.ingest.extract.units import Unit, units
from trueweave.models.json_reply import Unusable, read
from trueweave.models.prompts import BUILT_IN, PromptSet, fence
from trueweave.text.names import key

VERSION = "1"  # version of the parser of replies: changes with its results
PROMPTS = ("extract", "glean", "repair")
MAX_TOKENS = 4096
MAX_PATHS_PER_CHUNK = 20

_SHOWN_TO_MODEL = 8000  # characters of a reply that are sent back to the model
_SHOWN_TO_PEOPLE = 200
_QUICK = 4000
_BLANK = "the chunk is blank, so no model was called"


class LLMExtractor:
    """Entities of the types of a schema, or of the types given (each with a description, or none), and their relations.

    `max_gleaning` is the number of passes over a chunk: 1 is one call, and each further call shows the model its
    findings and asks for what it missed, until nothing new is found. Unusable replies are passed to `forget`, so that
    the next attempt calls the model again. `left_out` is called with dropped findings. With a `unit_size`, neighbouring
    chunks are read together, up to that many tokens.
    """

    def __init__(
        self,
        llm: LLM,
        types: Mapping[str, str] | GraphSchema,
        *,
        max_gleaning: int = 1,
        max_paths_per_chunk: int = MAX_PATHS_PER_CHUNK,
        max_tokens: int = MAX_TOKENS,
        forget: Callable[[Prompt], Awaitable[None]] | None = None,
        prompts: PromptSet = BUILT_IN,
        left_out: Callable[[DroppedFinding], None] | None = None,
        unit_size: int = 0,
    ) -> None:
        self._llm = llm
        self._unit_size = unit_size
        self._left_out = left_out
        self._prompts = prompts
        self._forget = forget
        self._graph = types if isinstance(types, GraphSchema) else GraphSchema.of(types)
        self._passes = _at_least_one("max_gleaning", max_gleaning)
        self._most = _at_least_one("max_paths_per_chunk", max_paths_per_chunk)
        self.max_tokens = _at_least_one("max_tokens", max_tokens)
        self._schema = schema(list(self._graph.entity_types), list(self._graph.relation_types))
        self._instructions = self._written_out()

    @property
    def fingerprint(self) -> str:
        versions = [self._prompts.load(name).version for name in PROMPTS]
        figures = [str(n) for n in (self._passes, self._most, self.max_tokens, self._unit_size) if n]
        return key("llm", VERSION, self._llm.model, *versions, self._schema, *figures, *self._graph.parts).hex

    async def extract(self, source: Source, chunks: Sequence[Chunk]) -> Sequence[Extraction]:
        """What the model finds in each chunk, in order. BadReply if it has no usable answer for one of them.

        Units are processed concurrently. When one fails, the others are still awaited: they are paid for, and their
        replies are in the cache for the next attempt.
        """
        read = self.units(source, chunks)
        first: dict[str, Unit] = {}
        for unit in read:
            first.setdefault(unit.text, unit)
        done, told = count(1), chunks_done(source.uri, len(first))

        async def extract(unit: Unit) -> Extraction:
            found = await self._extract(source.uri, unit)
            told(next(done))
            return found

        outcomes = await asyncio.gather(*map(extract, first.values()), return_exceptions=True)
        found = dict(zip(first, outcomes, strict=True))
        return [each for unit in read for each in unit.divided(_or_raise(found[unit.text]))]

    def units(self, source: Source, chunks: Sequence[Chunk]) -> list[Unit]:
        """What the model reads at once: chunks of a document, in order."""
        return units(source, chunks, self._unit_size)

    def prompt(self, unit: Unit) -> Prompt:
        """The first prompt for a unit."""
        return self._prompt(self._question(unit))

    def _prompt(self, messages: tuple[Message, ...]) -> Prompt:
        return Prompt(messages, self.max_tokens, self._schema)

    def _question(self, unit: Unit) -> tuple[Message, ...]:
        return Message("system", self._instructions), Message("user", fence(unit.text))

    async def _extract(self, uri: str, unit: Unit) -> Extraction:
        if not unit.text.strip():
            return Extraction(notes=(_BLANK,))
        asked = self._question(unit)
        harvest = ExtractionBuilder(unit.text, self._graph, self._left_out)
        findings, notes = await self._findings(asked, "extract", uri, unit)
        harvest.add(findings)
        for _ in range(self._passes - 1):
            more = Message("user", self._prompts.load("glean").render(most=str(self._most)))
            again = (*asked, Message("assistant", harvest.as_json()), more)
            findings, further = await self._findings(again, "glean", uri, unit)
            notes += further
            if not harvest.add(findings):
                break
        return harvest.extraction(self._most, notes)

    async def _findings(
        self, messages: tuple[Message, ...], stage: str, uri: str, unit: Unit
    ) -> tuple[Findings, tuple[str, ...]]:
        """The reply, after one more call if the first was unusable."""
        reply = await self._ask(messages, stage, uri, unit)
        try:
            return await _read(reply)
        except Unusable as problem:
            complaint = self._prompts.load("repair").render(problem=str(problem))
            wrong = reply.text[:_SHOWN_TO_MODEL] or "(nothing)"
            noted = f"the first reply was unusable ({problem}); the model was called once more"
        again = (*messages, Message("assistant", wrong), Message("user", complaint))
        reply = await self._ask(again, "repair", uri, unit)
        try:
            findings, notes = await _read(reply)
        except Unusable as problem:
            if self._forget:
                await self._forget(self._prompt(messages))
                await self._forget(self._prompt(again))
            raise BadReply(self._failure(uri, unit, reply, problem)) from problem
        return findings, (noted, *notes)

    async def _ask(self, messages: tuple[Message, ...], stage: str, uri: str, unit: Unit) -> Reply:
        return await self._llm.complete(self._prompt(messages), Purpose(stage, uri, *unit.hashes))

    def _written_out(self) -> str:
        return self._prompts.load("extract").render(
            types=self._graph.told_of_entities(),
            relation_types=self._graph.told_of_relations(),
            most=str(self._most),
            example=example(self._graph),
        )

    def _failure(self, uri: str, unit: Unit, reply: Reply, problem: Unusable) -> str:
        cut_off = reply.finish == "length"
        cure = (
            f"Raise max_reply_tokens from {self.max_tokens}, or make chunks smaller" if cut_off else "Try another model"
        )
        return (
            f"{uri}: the reply of {self._llm.model} for the chunk at character {unit.start} is unusable, twice: "
            f"{problem}. It begins {reply.text[:_SHOWN_TO_PEOPLE]!r}. {cure}, and add it again."
        )


async def _read(reply: Reply) -> tuple[Findings, tuple[str, ...]]:
    cut_off = reply.finish == "length"
    if len(reply.text) < _QUICK:
        return read(Findings, reply.text, cut_off=cut_off)
    # In a thread, because repairing a long and broken reply can take a second.
    return await asyncio.to_thread(read, Findings, reply.text, cut_off=cut_off)


def _at_least_one(name: str, value: int) -> int:
    if value < 1:
        raise ConfigError(f"{name} is {value}; it must be at least 1")
    return value


def _or_raise(outcome: Extraction | BaseException) -> Extraction:
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome
