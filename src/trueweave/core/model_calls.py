"""Calls of language models: prompts, purposes and replies. All are immutable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal
from uuid import UUID

from trueweave.core.record import Chunk, DroppedFinding, Extraction

# The roles of language models: extraction of entities and relations; keywords and other needs of a search; the answer;
# community reports; judging answers; describing pictures.
ModelRole = Literal["extract", "keywords", "answer", "report", "judge", "vision"]
TextRole = Literal["query", "document"]  # a text to search for, and a stored text
Role = Literal["system", "user", "assistant"]
Finish = Literal["stop", "length"]


@dataclass(frozen=True, slots=True)
class Image:
    """An image in a prompt: a JPEG or PNG file of `width` x `height` pixels."""

    media_type: str
    data: bytes = field(repr=False)
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Message:
    """A message to a model, or of one. Images come before the text."""

    role: Role
    content: str
    images: tuple[Image, ...] = ()


@dataclass(frozen=True, slots=True)
class Prompt:
    """Everything that a model's reply depends on, except the model itself. Equal prompts are sent and paid for once.

    With a `schema` (JSON schema, written as JSON) the reply must be JSON that matches it.
    """

    messages: tuple[Message, ...]
    max_tokens: int
    schema: str = ""
    temperature: float = 0.0


@dataclass(frozen=True, slots=True)
class Purpose:
    """What a model call is for, as the receipt lists it: `extract`, `glean`, `repair`, `summarise` …, and for which
    document. `text_hash` is that of the text that it is about, if there is one: the reply is kept as long as the
    text. If that is made of several chunks, `chunk_hashes` are theirs: the reply is kept as long as all of them."""

    stage: str
    document: str = ""
    text_hash: UUID | None = None
    chunk_hashes: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """A model call that is about to be made, and its maximum cost. An unknown price is None."""

    model: str
    purpose: Purpose
    tokens_in: int
    tokens_out: int
    price: Decimal | None


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply, the tokens that the server counted, and whether it is complete or was cut off.

    `price` is its cost, if known. A reply that was `kept` from an earlier call cost nothing. `problems` are those with
    the server's count.
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
    """One call to a model: its purpose, the prompt and the reply."""

    stage: str
    prompt: Prompt
    reply: Reply


@dataclass(frozen=True, slots=True)
class ModelNames:
    """The models that a workspace uses: language models by role, the embedding model and the extractor; those that are
    not set are missing, or empty."""

    chat: Mapping[ModelRole, str]
    embedding: str
    extractor: str


@dataclass(frozen=True, slots=True)
class ExtractionTrial:
    """The result of an extractor for one chunk of a document with `chunks` chunks: the calls that it made, what is
    kept, what is dropped and why. `problem` is the reason if a reply was unusable."""

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
        """Tokens sent to the model: replies from the cache took none."""
        return sum(call.reply.tokens_in for call in self.calls if not call.reply.kept)

    @property
    def tokens_out(self) -> int:
        """Tokens received from the model."""
        return sum(call.reply.tokens_out for call in self.calls if not call.reply.kept)

    @property
    def price(self) -> Decimal | None:
        """The cost; None if unknown."""
        prices = [Decimal(0) if call.reply.kept else call.reply.price for call in self.calls]
        known = [price for price in prices if price is not None]
        return sum(known, start=Decimal(0)) if len(known) == len(prices) else None
