"""The values that Trueweave passes around: what documents say, what models are asked, and what it adds up to.

The first part is what a caller submits (the record), the last what a caller gets back (the view).
All are immutable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from math import isfinite
from pathlib import Path
from typing import Any, Literal
from uuid import UUID

from trueweave.core.errors import ConfigError, InvalidDocument

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]
Span = tuple[int, int]
RuleKind = Literal["merge", "split", "rename", "retype", "describe", "suppress", "add"]
Resolution = Literal["fuzzy", "exact", "off"]
Sameness = Literal["name_and_type", "name"]
Metric = Literal["cosine", "l2", "inner"]
# What a language model is asked for: entities and relations of texts; keywords and all else that a search needs; the
# answer; reports about communities; whether an answer is right.
ModelRole = Literal["extract", "keywords", "answer", "report", "judge"]
TextRole = Literal["query", "document"]  # what is looked for, and what is found
VectorKind = Literal["chunk", "entity", "relation", "community"]
PlaceKind = Literal["page", "heading"]
Role = Literal["system", "user", "assistant"]
Finish = Literal["stop", "length"]
Written = Literal["written", "stale", "unwritten", "small"]

_MOST = 2**31
_SMALLEST_CHUNK = 16  # a character is up to four tokens, and a chunk takes two of the smallest pieces at least
_DEEPEST = 100  # levels of metadata; readers of JSON go down a level by calling themselves
_LARGEST_INTEGER = 10**1000  # Python reads no more than 4,300 digits back
_LEAST_STRENGTH = 0.001  # strengths are kept in thousandths
_MOST_STRENGTH = 1_000_000
_LONGEST_URI = 2000  # bytes; PostgreSQL indexes no longer ones

VECTOR_KINDS: tuple[VectorKind, ...] = ("chunk", "entity", "relation", "community")


# --- what documents say -------------------------------------------------------------------------------


def is_storable(text: str) -> bool:
    """Whether PostgreSQL can store a text: it takes neither NUL nor lone surrogates.

    No regular expression is used, because one takes half a second for a text of 16 MB, in one step.
    """
    if "\x00" in text:
        return False
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return False
    return True


@dataclass(frozen=True, slots=True)
class Place:
    """Where a page or a section begins in a document's text.

    `offset` is where that is in the file itself, in characters, for formats that are text; None for others.
    """

    start: int
    kind: PlaceKind
    label: str
    level: int = 0
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A document as it was loaded: its text, and a map from there back to pages, headings and the file.

    The notes say what was odd about reading it, and `origin` where it was read, for messages.
    """

    uri: str
    text: str
    title: str = ""
    metadata: Mapping[str, Json] = field(default_factory=dict)
    places: tuple[Place, ...] = ()
    notes: tuple[str, ...] = ()
    origin: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        _require_uri(self.uri)
        _require(
            all(map(is_storable, (self.uri, self.title, self.text))),
            f"{self.uri!r} holds a NUL or half a character; take it out",
        )
        _require_metadata(self.uri, self.metadata)


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file that goes by a uri of its own, and not by its path: its documents and all messages name it so. Its ending
    tells how it is read."""

    path: Path
    uri: str

    def __post_init__(self) -> None:
        _require_uri(self.uri)
        _require(is_storable(self.uri), f"{self.uri!r} holds a NUL or half a character; take it out")


@dataclass(frozen=True, slots=True)
class Mention:
    """One entity as one chunk speaks of it. Spans are character offsets within the chunk."""

    name: str
    type: str = ""
    description: str = ""
    emphasis: int = 5
    spans: tuple[Span, ...] = ()

    def __post_init__(self) -> None:
        _require(1 <= self.emphasis <= 9, f"emphasis of {self.name!r} is {self.emphasis}; it goes from 1 to 9")


@dataclass(frozen=True, slots=True)
class Link:
    """One relation as one chunk speaks of it, between two names.

    A name that the chunk does not mention otherwise becomes a mention by being linked. The types say which
    of two homonyms is meant; left empty, the chunk's mention of that name decides. Extractors give strengths from 1 to
    10; any other positive number will do as well, to three decimals. The first keyword is the relation's type.
    """

    source: str
    target: str
    description: str = ""
    keywords: tuple[str, ...] = ()
    strength: float = 5
    emphasis: int = 5
    spans: tuple[Span, ...] = ()
    source_type: str = ""
    target_type: str = ""

    def __post_init__(self) -> None:
        what = f"{self.source!r} -> {self.target!r}"
        _require(
            _LEAST_STRENGTH <= self.strength <= _MOST_STRENGTH,
            f"strength of {what} is {self.strength}; it goes from {_LEAST_STRENGTH} to {_MOST_STRENGTH:,}",
        )
        _require(1 <= self.emphasis <= 9, f"emphasis of {what} is {self.emphasis}; it goes from 1 to 9")


@dataclass(frozen=True, slots=True)
class Chunk:
    """An exact span of a document, and what was said in it."""

    text: str
    start: int = 0
    tokens: int = 0
    mentions: tuple[Mention, ...] = ()
    links: tuple[Link, ...] = ()

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    def __post_init__(self) -> None:
        _require(is_storable(self.text), "a chunk's text holds a NUL or half a character; take it out")
        _require(0 <= self.start < _MOST, f"a chunk starts at {self.start}; offsets go from 0 to {_MOST}")
        _require(0 <= self.tokens < _MOST, f"a chunk has {self.tokens} tokens; counts go from 0 to {_MOST}")


@dataclass(frozen=True, slots=True)
class ChunkSizes:
    """How long chunks are, in tokens: at most `max_chunk_size`, and at least `min_chunk_size` where the text allows.

    With an `overlap`, a chunk begins with the last sentences of the one before, up to that many tokens.
    """

    min_chunk_size: int = 400
    max_chunk_size: int = 800
    overlap: int = 0

    def __post_init__(self) -> None:
        most, half = self.max_chunk_size, self.max_chunk_size // 2
        if most < _SMALLEST_CHUNK:
            raise ConfigError(f"max_chunk_size is {most} tokens; make it {_SMALLEST_CHUNK} or more")
        if not 0 <= self.overlap <= half:
            raise ConfigError(f"overlap is {self.overlap} tokens; make it 0 to {half}, half of max_chunk_size")
        if not 1 <= self.min_chunk_size <= self.fresh:
            raise ConfigError(
                f"min_chunk_size is {self.min_chunk_size} tokens; make it 1 to {self.fresh}, which is max_chunk_size "
                "less overlap"
            )

    @property
    def fresh(self) -> int:
        """What a chunk holds at most besides its overlap."""
        return self.max_chunk_size - self.overlap


@dataclass(frozen=True, slots=True)
class Extraction:
    """What an extractor found in one chunk, and what a person should know of how it went ("the reply was repaired")."""

    mentions: tuple[Mention, ...] = ()
    links: tuple[Link, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DroppedFinding:
    """An entity (by its name) or a relation (as `source -> target`) that a model found and that is not kept, and
    why."""

    kind: Literal["entity", "relation"]
    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Document:
    """A document as it is now. Its uri is its identity: another with the same uri replaces it.

    `origin` is where it was read, for messages.
    """

    uri: str
    chunks: tuple[Chunk, ...]
    title: str = ""
    metadata: Mapping[str, Json] = field(default_factory=dict)
    places: tuple[Place, ...] = ()
    origin: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        _require_uri(self.uri)
        _require(
            all(map(is_storable, (self.uri, self.title))),
            f"uri or title of {self.uri!r} holds a NUL or half a character; take it out",
        )
        _require_metadata(self.uri, self.metadata)


@dataclass(frozen=True, slots=True)
class NameKey:
    """A name as it is written, and its type: what people's rules speak of. Without a type, all names written so."""

    name: str
    type: str = ""

    @classmethod
    def from_typed(cls, text: str) -> NameKey:
        """The name and its type from NAME or NAME::TYPE."""
        name, colons, type_ = text.rpartition("::")
        return cls(name, type_) if colons else cls(text)

    @property
    def typed(self) -> str:
        """NAME or NAME::TYPE, as commands take it."""
        return f"{self.name}::{self.type}" if self.type or "::" in self.name else self.name


@dataclass(frozen=True, slots=True)
class ResolutionSettings:
    """What makes two names the same entity in one workspace. See docs/adr/0005-resolution.md."""

    mode: Resolution = "exact"
    threshold: int = 90
    same: Sameness = "name_and_type"

    def __post_init__(self) -> None:
        if not 70 <= self.threshold <= 100:
            raise ValueError(f"threshold is {self.threshold}; it goes from 70 (loose) to 100 (equal names only)")


# --- what models are asked ----------------------------------------------------------------------------


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
class Price:
    """What a model costs, for a million tokens."""

    tokens_in: Decimal
    tokens_out: Decimal

    def of(self, tokens_in: int, tokens_out: int) -> Decimal:
        return (self.tokens_in * tokens_in + self.tokens_out * tokens_out) / 1_000_000


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


# --- what it adds up to -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Entity:
    """One thing, as all live mentions of its names describe it; a long description in short, where a model wrote it."""

    id: UUID
    name: str
    type: str
    description: str
    aliases: tuple[str, ...]
    count: int
    emphasis: tuple[int, ...]
    degree: int
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Relation:
    """What all live links from one entity to another say together. `weight` is the sum of their strengths.

    Both ends are named as those links most often write them. `type` is the keyword that most of them give first, in
    lower case; empty where none has a keyword.
    """

    id: UUID
    source: UUID
    target: UUID
    source_name: str
    target_name: str
    description: str
    keywords: tuple[str, ...]
    weight: float
    count: int
    emphasis: tuple[int, ...]
    summary: str = ""
    type: str = ""

    @property
    def directed(self) -> bool:
        """Whether it leads from its source to its target. One that says nothing, such as sharing a sentence, does
        not."""
        return bool(self.type or self.keywords or self.description or self.summary)


@dataclass(frozen=True, slots=True)
class Rule:
    """A person's decision about names and facts. Part of the settings: it survives any rebuild and can be undone.

    With a `target` it is about the relation from the entity of its one name to that of the target. `by` is who made it,
    as far as that was said.
    """

    id: UUID
    kind: RuleKind
    names: tuple[NameKey, ...]
    label: str = ""
    target: NameKey | None = None
    by: str = ""
    made: datetime | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class NamePassage:
    """What stands around a name in a document."""

    uri: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class SuggestedName:
    """One of two names that may be one thing: its entity now, how often it is mentioned, and where."""

    name: NameKey
    entity: UUID
    mentions: int
    passages: tuple[NamePassage, ...]


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Two names that may be one thing, for a person to decide, and how alike they are in per cent.

    The id stays the same; the number is the place in the last list.
    """

    id: UUID
    number: int
    score: float
    one: SuggestedName
    other: SuggestedName


@dataclass(frozen=True, slots=True)
class Hit:
    """Something found by its vector. A smaller distance is nearer."""

    id: UUID
    distance: float


StoreName = Literal["neo4j", "chroma"]
ProjectedKind = Literal["document", "chunk", "entity", "relation", "community"]
ChangeKind = Literal["document", "chunk", "entity", "relation", "community", "report", "space"]


@dataclass(frozen=True, slots=True)
class Change:
    """One entry of the outbox: these things were written or removed by one transaction. A report has the id of its
    community. `space` has no ids: all vectors are others now."""

    position: int
    kind: ChangeKind
    removed: bool
    ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class Consumer:
    """Who follows the outbox: the last position that it has applied, when that was, and how many entries are left."""

    name: str
    position: int
    seen: datetime
    behind: int


@dataclass(frozen=True, slots=True)
class ProjectedDocument:
    """A document as other stores copy it."""

    id: UUID
    uri: str
    title: str
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ProjectedChunk:
    """A chunk as other stores copy it: each (name, emphasis) that it mentions, and each (source, target, strength) that
    it links. These are names, as a name may come to another entity without any chunk being changed."""

    id: UUID
    document: UUID
    n: int
    text: str
    mentions: tuple[tuple[UUID, int], ...]
    links: tuple[tuple[UUID, UUID, float], ...]


@dataclass(frozen=True, slots=True)
class ProjectedEntity:
    """An entity as other stores copy it, with the names that it has and the smallest community that it is in."""

    entity: Entity
    names: tuple[UUID, ...]
    community: UUID | None = None


@dataclass(frozen=True, slots=True)
class ProjectedRelation:
    """A relation as other stores copy it, with the pairs of names that it is made of."""

    relation: Relation
    pairs: tuple[tuple[UUID, UUID], ...]


@dataclass(frozen=True, slots=True)
class ProjectedCommunity:
    """A community as other stores copy it. `members` are those that are in no smaller one."""

    id: UUID
    level: int
    parent: UUID | None
    size: int
    title: str
    summary: str
    members: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class ProjectedBatch:
    """What a projection writes at once: things as they are now, and those that are gone.

    `entity_of` has the entity of each name, and `relation_of` the relation of each pair of names, as far as they are
    mentioned here. A name or pair that belongs to nothing is left out of them.
    """

    documents: Sequence[ProjectedDocument] = ()
    chunks: Sequence[ProjectedChunk] = ()
    entities: Sequence[ProjectedEntity] = ()
    relations: Sequence[ProjectedRelation] = ()
    communities: Sequence[ProjectedCommunity] = ()
    entity_of: Mapping[UUID, UUID] = field(default_factory=dict)
    relation_of: Mapping[tuple[UUID, UUID], UUID] = field(default_factory=dict)
    vectors: Mapping[VectorKind, Mapping[UUID, Sequence[float]]] = field(default_factory=dict)
    gone: Mapping[ProjectedKind, Sequence[UUID]] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """How many things are written or removed."""
        written = self.documents, self.chunks, self.entities, self.relations, self.communities
        return sum(map(len, (*written, *self.gone.values())))


@dataclass(frozen=True, slots=True)
class ProjectionCopy:
    """One copy of a workspace in another store: its id, the workspace, and the embedding space of its vectors (the
    model, its dimensions and the metric), if there are any."""

    id: str
    workspace: int
    space: tuple[str, int, Metric] | None = None


@dataclass(frozen=True, slots=True)
class ProjectionStatus:
    """How far the copy of a workspace in another store is.

    `behind` changes are not applied yet, the oldest of which was made at `oldest`. `live`: there is a copy to answer
    questions from; `building`: one is being built. `running`: a projector is at work on it. `problem` says why it
    cannot go on.
    """

    store: StoreName
    live: bool
    building: bool
    running: bool
    position: int
    behind: int
    oldest: datetime | None
    applied: datetime | None
    switched: datetime | None
    problem: str


@dataclass(frozen=True, slots=True)
class ProjectionDifference:
    """One thing that a copy has otherwise than the record; None where one of them does not have it."""

    kind: ProjectedKind
    id: UUID
    record: str | None
    copy: str | None


@dataclass(frozen=True, slots=True)
class Spent:
    """What was spent on one stage by one model. `price` is None where it is not known; `lost` calls were cut off, and
    are booked with the most that they may have cost."""

    stage: str
    model: str
    calls: int
    lost: int
    tokens_in: int
    tokens_out: int
    price: Decimal | None


@dataclass(frozen=True, slots=True)
class SpentOn:
    """What was spent on one document by one model. `price` is None where it is not known."""

    document: str
    model: str
    calls: int
    tokens_in: int
    tokens_out: int
    price: Decimal | None


@dataclass(frozen=True, slots=True)
class Budget:
    """What a workspace may spend in all, has spent, and holds back for calls under way. A cap of None is none."""

    price_cap: Decimal | None
    token_cap: int | None
    price: Decimal
    tokens: int
    held_price: Decimal
    held_tokens: int


@dataclass(frozen=True, slots=True)
class BulkReport:
    """What a bulk load brought: the documents, chunks, names and entities that were built; how many of the documents
    were there before; what could not be loaded; and which files were passed over, each with the reason."""

    documents: int
    chunks: int
    names: int
    entities: int
    kept: int = 0
    failed: tuple[tuple[str, str], ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()


def money(price: Decimal, currency: str) -> str:
    """A price with as many digits as tell something: `$1,234.50`, `0.0042 EUR`."""
    if price and abs(price) < Decimal("0.0001"):
        return f"less than {_in(currency, '0.0001')}"
    return _in(currency, f"{price:,.2f}" if price >= 1 or not price else f"{price:.4f}")


def _in(currency: str, amount: str) -> str:
    return f"${amount}" if currency == "USD" else f"{amount} {currency}"


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """What there is of a document: its name and title, how many chunks it has, when it came in, and what was odd."""

    uri: str
    title: str
    chunks: int
    added: datetime
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Note:
    """Something odd, about how many documents it was noted, and the names of the first of them."""

    text: str
    documents: int
    uris: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A document that has the very text of another, which was there before."""

    uri: str
    equals: str


@dataclass(frozen=True, slots=True)
class FailedDocument:
    """A document that failed for good, and why."""

    uri: str
    error: str
    failures: int


JobState = Literal["under way", "done", "failed"]
WorkState = Literal["waiting", "unsettled", "indexed", "failed"]


@dataclass(frozen=True, slots=True)
class DocumentState:
    """How far a document is: it waits to be worked, is worked and not settled yet, is part of the index, or failed for
    good. `error` is that of the last try. What is there of it has so many chunks and these notes, and came in at
    `added`."""

    uri: str
    state: WorkState
    error: str = ""
    chunks: int = 0
    notes: tuple[str, ...] = ()
    added: datetime | None = None


@dataclass(frozen=True, slots=True)
class IngestJob:
    """Documents that were handed in together, and how many of them wait to be worked, are worked and not settled yet,
    are part of the index, and failed for good. Those that were removed since are in none of these. `refused` says why
    files, or rows of files, could not be used: the first hundred."""

    id: UUID
    made: datetime
    documents: int
    waiting: int
    unsettled: int
    indexed: int
    failed: int
    refused: tuple[str, ...] = ()

    @property
    def state(self) -> JobState:
        """Whether it is under way; afterwards, whether some of its documents failed."""
        if self.waiting or self.unsettled:
            return "under way"
        return "failed" if self.failed else "done"


@dataclass(frozen=True, slots=True)
class SyncPlan:
    """What bringing an index up to date with some folders would do: how many documents are new, changed and unchanged,
    how many could not be read, and the uris of those that are gone."""

    new: int
    changed: int
    unchanged: int
    unreadable: int
    gone: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Estimate:
    """What adding documents would take. Prices are None where they are not known.

    `tokens_in` is counted, on the very prompts that would be sent. What a model replies cannot be counted before:
    `tokens_out` is what it wrote for as much text so far in this workspace (`learnt`), or else an assumption, and
    `most_tokens_out` is what it may write at most. `answered` chunks have a reply already and cost nothing.
    The notes say where nothing can be counted beforehand.
    """

    documents: int
    unchanged: int
    unreadable: int
    chunks: int
    tokens: int
    answered: int
    model: str
    calls: int
    tokens_in: int
    tokens_out: int
    most_tokens_out: int
    learnt: bool
    price: Decimal | None
    most_price: Decimal | None
    embedding_model: str
    embedding_price: Decimal | None
    extractor: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EmbeddingEstimate:
    """What embedding everything with another model would take: so many texts and tokens. `present` ones are embedded
    already, by an earlier try. The price is None where it is not known."""

    model: str
    texts: int
    tokens: int
    present: int
    price: Decimal | None


@dataclass(frozen=True, slots=True)
class Status:
    """How large a workspace is, and what still waits to be settled: documents, and names after a change of rules."""

    documents: int
    chunks: int
    entities: int
    relations: int
    waiting_documents: int
    waiting_names: int
    embedding_model: str


WorkKind = Literal["settle", "names", "link", "summary", "report"]


@dataclass(frozen=True, slots=True)
class FailedWork:
    """Work that failed by a bug of Trueweave: of which kind, about what, how often, and when last.

    It is left out until it is asked for again, or until what it is about changes.
    """

    kind: WorkKind
    about: str
    error: str
    count: int
    failed: datetime


# --- communities --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Level:
    """One level of communities, 0 being the outermost: how many there are, of which size, and what is written of them.

    `small` ones have too few members to be written about.
    """

    level: int
    communities: int
    members: int
    largest: int
    written: int
    stale: int
    small: int


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """The communities of a workspace as a whole: how and when they were found, and how well they part the graph.

    `alone` entities have no relation, and so are in no community. `modularity` is of the outermost level. `behind`: the
    graph has changed since.
    """

    library: str
    seed: int
    resolution: float
    most: int
    entities: int
    alone: int
    modularity: float
    found: datetime
    behind: bool
    levels: tuple[Level, ...]


@dataclass(frozen=True, slots=True)
class Community:
    """Entities that hang together, named by those that are related to most others.

    The id follows it through changes of its members. `written` says what there is of a report, `changed` when its
    members, their relations or what is said of them last did.
    """

    id: UUID
    level: int
    parent: UUID | None
    names: tuple[str, ...]
    size: int
    relations: int
    parts: int
    title: str
    rating: float | None
    written: Written
    since: datetime
    changed: datetime


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a report says, and what it rests on: entities, relations, and chunks that speak of them."""

    summary: str
    text: str
    entities: tuple[UUID, ...] = ()
    relations: tuple[UUID, ...] = ()
    chunks: tuple[UUID, ...] = ()

    @property
    def rests_on_something(self) -> bool:
        return bool(self.entities or self.relations)


@dataclass(frozen=True, slots=True)
class CommunityReport:
    """What is written about a community.

    `rating` says from 0 to 10 how much it matters, `reason` why. `author` is the model that wrote it; without one it is
    extractive, made of names and sentences of the documents, and `problem` says why, where a model was to write it.
    `stale`: the community has changed since.
    """

    title: str
    summary: str
    rating: float
    reason: str
    findings: tuple[Finding, ...]
    author: str = ""
    problem: str = ""
    stale: bool = False
    made: datetime | None = None

    @property
    def text(self) -> str:
        """All that it says, for a reader."""
        parts = (f"{one.summary}\n{one.text}".strip() for one in self.findings)
        return "\n\n".join((self.summary, *parts))


@dataclass(frozen=True, slots=True)
class RetiredCommunity:
    """A community that is no more, and since when."""

    id: UUID
    level: int
    size: int
    title: str
    gone: datetime


@dataclass(frozen=True, slots=True)
class CommunityChanges:
    """What finding communities anew has changed: how many came, have other contents, are as they were, and went."""

    came: int
    changed: int
    same: int
    gone: int


@dataclass(frozen=True, slots=True)
class ReportEstimate:
    """What writing all reports that are missing or stale would take. Prices are None where they are not known.

    Communities that are written from the reports of others are counted as if these were as long as they may be.
    """

    reports: int
    current: int
    model: str
    calls: int
    answered: int
    tokens_in: int
    most_tokens_out: int
    most_price: Decimal | None


@dataclass(frozen=True, slots=True)
class OutOfDate:
    """Documents that would be worked otherwise now. `settings` are those that differ, which adding the documents again
    sees to; without any, the extractor, its prompts or its schema have changed, and they are to be refreshed."""

    documents: int
    settings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Swept:
    """What sweeping took away: names that no document mentions, replies and changes that were kept for long enough,
    what removed documents and killed processes had left. `calls` are in the sums of their days from now on."""

    names: int
    replies: int
    changes: int
    calls: int
    documents: int
    spaces: int
    workspaces: int


@dataclass(frozen=True, slots=True)
class Difference:
    """One line in which the index and its rebuild disagree; None where one of them has nothing."""

    section: str
    key: str
    index: str | None
    rebuilt: str | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What `verify` found: the digests of what was compared, and the first differences.

    What waits to be settled is not in the view yet, and was not compared: so many documents, names after a change of
    rules, and texts that have to be searched for names. `left_out` are the sections that cannot be compared for that
    reason, or because communities were found for an earlier graph. `changed`: the view changed meanwhile, so that the
    two cannot be compared.
    """

    digest: str
    rebuilt: str
    differences: tuple[Difference, ...]
    waiting_documents: int = 0
    waiting_names: int = 0
    waiting_texts: int = 0
    left_out: tuple[str, ...] = ()
    changed: bool = False

    @property
    def exact(self) -> bool:
        return self.digest == self.rebuilt and not self.differences and not self.changed


def _require_uri(uri: str) -> None:
    _require(bool(uri), "a document has no uri; give each one a stable name of its own")
    size = len(uri.encode(errors="replace"))
    _require(size <= _LONGEST_URI, f"the uri {uri[:60]!r}… has {size:,} bytes; it may have {_LONGEST_URI:,}")


def _require_metadata(uri: str, metadata: Mapping[str, Json]) -> None:
    """Refuse what PostgreSQL cannot hold as JSON, or what could not be read back."""
    waiting: list[tuple[object, int]] = [(metadata, 0)] if metadata else []
    while waiting:
        value, depth = waiting.pop()
        if depth > _DEEPEST:
            problem = f"is nested more than {_DEEPEST} levels deep"
        elif isinstance(value, Mapping):
            waiting += ((one, depth + 1) for pair in value.items() for one in pair)
            continue
        elif isinstance(value, list | tuple):
            waiting += ((one, depth + 1) for one in value)
            continue
        else:
            problem = _json_problem(value)
        _require(not problem, f"{uri!r}: its metadata {problem}; change that value or take it out")


def _json_problem(value: object) -> str:
    """Why a value cannot be kept as JSON; empty, if it can."""
    if isinstance(value, str):
        return "" if is_storable(value) else "holds a NUL or half a character"
    if isinstance(value, float):
        return "" if isfinite(value) else f"holds {value}, which is no number in JSON"
    if isinstance(value, int):
        return "" if abs(value) < _LARGEST_INTEGER else "holds a number of more than 1,000 digits"
    return "" if value is None else f"holds something of type {type(value).__name__}, which JSON has not"


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise InvalidDocument(otherwise)
