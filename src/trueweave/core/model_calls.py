"""Calls of language models: what is asked, for whom, and what was replied. All are immutable."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal
from uuid import UUID

from trueweave.core.record import Chunk, DroppedFinding, Extraction

# What a language model is asked for: entities and relations of texts; keywords and all else that a search needs; the
# answer; reports about communities; whether an answer is right.
ModelRole = Literal["extract", "keywords", "answer", "report", "judge"]
TextRole = Literal["query", "document"]  # what is looked for, and what is found
Role = Literal["system", "user", "assistant"]
Finish = Literal["stop", "length"]


@dataclass(frozen=True, slots=True)
class Message:
    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """All that a model's reply depends on, but for the model itself. Equal prompts are asked and paid for once.

    With a `schema` (JSON schema, written as JSON) the reply must be JSON of that form.
    """

    messages: tuple[Message, ...]
    max_tokens: int
    schema: str = ""
    temperature: float = 0.0


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a model call is for, as the receipt lists it: `extract`, `glean`, `repair`, `summarise` …, and for which
    document. `text_hash` is of the one text that it is about, if it is about one: the reply is kept as long as that."""

    stage: str
    document: str = ""
    text_hash: UUID | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """A model call that is about to be made, and the most that it may cost. A price that is not known is None."""

    model: str
    purpose: Purpose
    tokens_in: int
    tokens_out: int
    price: Decimal | None


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said, what the server counted for it, and whether it came to its end or was cut off.

    `price` is what it cost now, where that is known. A reply that was `kept` from an earlier call cost nothing.
    `problems` are those with the server's count.
    """

    text: str
    tokens_in: int
    tokens_out: int
    finish: Finish = "stop"
    price: Decimal | None = None
    kept: bool = False
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelExchange:
    """One call to a model: what it was for, what was asked, and what came back."""

    stage: str
    prompt: Prompt
    reply: Reply


@dataclass(frozen=True, slots=True)
class ExtractionTrial:
    """What an extractor makes of one chunk of a document, of which there are so many: the calls that it made, what is
    kept, what is left out and why. `problem` says why a reply was unusable, if it was."""

    uri: str
    extractor: str
    chunker: str
    chunk: Chunk
    number: int
    chunks: int
    found: Extraction
    calls: tuple[ModelExchange, ...] = ()
    left_out: tuple[DroppedFinding, ...] = ()
    problem: str = ""

    @property
    def tokens_in(self) -> int:
        """Tokens to the model now: replies from the cache took none."""
        return sum(call.reply.tokens_in for call in self.calls if not call.reply.kept)

    @property
    def tokens_out(self) -> int:
        """Tokens from the model now."""
        return sum(call.reply.tokens_out for call in self.calls if not call.reply.kept)

    @property
    def price(self) -> Decimal | None:
        """What it cost now; None where that is not known."""
        prices = [Decimal(0) if call.reply.kept else call.reply.price for call in self.calls]
        known = [price for price in prices if price is not None]
        return sum(known, start=Decimal(0)) if len(known) == len(prices) else None
