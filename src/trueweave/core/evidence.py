"""A question, and the evidence that a method finds for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from itertools import chain, takewhile
from typing import Any, Generic, Literal, TypeVar
from uuid import UUID

from trueweave.core.errors import InvalidArgument
from trueweave.core.graph import Entity, Relation
from trueweave.core.ranges import Range
from trueweave.core.record import Box, Json, Place, Span

T_co = TypeVar("T_co", covariant=True)
Scalar = str | int | float | bool
SearchedBy = Literal["vectors", "words"]

MOST_FILTERS = 100  # combined in one, because each is a condition of one SQL statement

NO_DOCUMENTS = "there are no documents in this workspace yet. `trueweave add PATH` adds some."  # a reason of Evidence


@dataclass(frozen=True, slots=True)
class Filter:
    """Restricts a search to documents that meet all of these conditions: with one of these `uris`, if any are given;
    with a uri that begins with `prefix`; with one of these values, or a value in one of these ranges, for each of these
    `metadata` keys; that pass all filters of `all_of`, at least one of `any_of` if any are given, none of `none_of`.

    `a & b` is a filter that a document passes if it passes both, `a | b` if it passes at least one, and `~a` if it does
    not pass `a`. A list in the metadata of a document counts as each of its values.
    """

    uris: tuple[str, ...] = ()
    metadata: Mapping[str, Scalar | Range | Sequence[Scalar | Range]] = field(default_factory=dict)
    prefix: str = ""
    all_of: tuple[Filter, ...] = ()
    any_of: tuple[Filter, ...] = ()
    none_of: tuple[Filter, ...] = ()

    def __post_init__(self) -> None:
        if (size := self.size) > MOST_FILTERS:
            raise InvalidArgument(
                f"a filter combines {size} filters, and {MOST_FILTERS} is the most. Give several values for one key, "
                "or several uris in one filter, instead of a filter for each."
            )

    @property
    def size(self) -> int:
        """The number of filters in it, with itself."""
        return 1 + sum(one.size for one in (*self.all_of, *self.any_of, *self.none_of))

    def __bool__(self) -> bool:
        return bool(self.uris or self.metadata or self.prefix or self.all_of or self.any_of or self.none_of)

    def __and__(self, other: Filter) -> Filter:
        if not (self and other):
            return self or other
        both = (one.all_of if one == Filter(all_of=one.all_of) else (one,) for one in (self, other))
        return Filter(all_of=tuple(chain.from_iterable(both)))

    def __or__(self, other: Filter) -> Filter:
        both = (one.any_of if one and one == Filter(any_of=one.any_of) else (one,) for one in (self, other))
        return Filter(any_of=tuple(chain.from_iterable(both)))

    def __invert__(self) -> Filter:
        return Filter(none_of=(self,))


@dataclass(frozen=True, slots=True)
class Query:
    """A question, and the documents to search."""

    text: str
    filter: Filter = field(default_factory=Filter)


@dataclass(frozen=True, slots=True)
class Copy:
    """Another place where the text of a passage occurs."""

    uri: str
    title: str
    start: int
    source: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk as evidence: an exact span of a document, its position, and its score (higher is better).

    `page` and `headings` are those of its first character. `places` also has those that begin later in the passage, so
    that every part of it can be located.

    A text that occurs in several places is one passage: `copies` is the number of other places, `also` lists the first
    of them. `date` is that of the document, in ISO 8601; empty if its metadata has none.
    """

    id: UUID
    uri: str
    title: str
    text: str
    start: int
    score: float
    page: str = ""
    headings: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()
    copies: int = 0
    also: tuple[Copy, ...] = ()
    date: str = ""

    @property
    def day(self) -> str:
        """The date without the time, for display."""
        return self.date[:10]

    @property
    def end(self) -> int:
        """Where it ends in the document, in characters."""
        return self.start + len(self.text)

    @property
    def source(self) -> str:
        """The source for display: the document, and its pages or sections."""
        return self.source_of(self.start, self.end)

    def at(self, offset: int) -> tuple[str, tuple[str, ...]]:
        """The page and the headings of a character of the document that is in this passage."""
        return place_at(self.places, offset) if self.places else (self.page, self.headings)

    def source_of(self, start: int, end: int) -> str:
        """The source, for display, of a span of the document that is in this passage."""
        first, last = self.at(start), self.at(max(end - 1, start))
        place = _pages(first[0], last[0]) or _sections(self._below_title(first[1]), self._below_title(last[1]))
        return ", ".join(part for part in (self.title or self.uri, place) if part)

    def box_of(self, start: int, end: int) -> Box | None:
        """The box on the page around a span of the document, if the positions of its blocks or pictures are known."""
        page = self.at(start)[0]
        boxes = [
            place.box
            for place in self.places
            if place.box and place.start < end and start < (place.end or 0) and self.at(place.start)[0] == page
        ]
        if not boxes:
            return None
        lefts, tops, rights, bottoms = zip(*boxes, strict=True)
        return min(lefts), min(tops), max(rights), max(bottoms)

    def _below_title(self, headings: tuple[str, ...]) -> tuple[str, ...]:
        return headings[1:] if headings[:1] == (self.title,) else headings


def place_at(places: Sequence[Place], offset: int) -> tuple[str, tuple[str, ...]]:
    """The page and the headings, outermost first, of a character of a document. `places` are in order."""
    page = ""
    over: list[Place] = []
    for place in places:
        if place.start > offset:
            break
        if place.kind == "page":
            page = place.label
        elif place.kind == "heading":
            over = [*(one for one in over if one.level < place.level), place]
    return page, tuple(place.label for place in over)


def _pages(first: str, last: str) -> str:
    known = list(dict.fromkeys(filter(None, (first, last))))
    return f"page{'s' if len(known) > 1 else ''} {'–'.join(known)}" if known else ""


def _sections(first: tuple[str, ...], last: tuple[str, ...]) -> str:
    """The headings of a span; if it covers several sections, their common headings, and the first and last section."""
    shared = [a for a, _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))]
    ends = [section[len(shared)] for section in (first, last) if len(section) > len(shared)]
    return " > ".join([*shared, *([" … ".join(ends)] if len(ends) > 1 else [])])


@dataclass(frozen=True, slots=True)
class Scored(Generic[T_co]):
    """An item with its score. Higher is better."""

    item: T_co
    score: float


@dataclass(frozen=True, slots=True)
class Path:
    """A chain of connected relations, and the names along it."""

    names: tuple[str, ...]
    relations: tuple[Relation, ...]


@dataclass(frozen=True, slots=True)
class Hits(Generic[T_co]):
    """The matches for a text, best first, and how they were found: by meaning, by words, or by both."""

    items: tuple[Scored[T_co], ...]
    by: tuple[SearchedBy, ...]


@dataclass(frozen=True, slots=True)
class EntityDetails:
    """An entity with its strongest relations, and passages that mention it, those that emphasise it most first."""

    entity: Entity
    relations: tuple[Relation, ...]
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class DocumentDetails:
    """A document: some of its `chunks` chunks, in order, and the entities that it mentions most, with the number of
    mentions as the score. `readers` are the groups that can read it; empty for everybody."""

    uri: str
    title: str
    metadata: Mapping[str, Json]
    added: datetime
    notes: tuple[str, ...]
    chunks: int
    passages: tuple[Passage, ...]
    entities: tuple[Scored[Entity], ...]
    readers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentOutline:
    """The structure of a document: its length in characters, the number of its chunks, and `total` pages and sections.
    `places` are some of them, in order."""

    uri: str
    title: str
    length: int
    chunks: int
    total: int
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class EntitySpan:
    """A span of a document that mentions an entity. `start` and `end` are positions in the document; `chunk` is the
    chunk that the span is in, and `name` and `type` are those of the entity."""

    start: int
    end: int
    chunk: UUID
    entity: UUID
    name: str
    type: str


@dataclass(frozen=True, slots=True)
class EntityMention:
    """A mention of an entity in a document: the name from `start` to `end`, in the sentence `text`, which begins at
    `text_start`. All are positions in the document. If the passage does not write the name, `start` equals `end`, and
    the sentence is the first of the passage."""

    uri: str
    title: str
    chunk: UUID
    start: int
    end: int
    text: str
    text_start: int


@dataclass(frozen=True, slots=True)
class DocumentMentions:
    """A document, and how often it mentions an entity."""

    uri: str
    title: str
    mentions: int


@dataclass(frozen=True, slots=True)
class MentionCounts:
    """How often documents mention an entity: in all, in how many documents, and in those that do so most."""

    mentions: int
    documents: int
    by_document: tuple[DocumentMentions, ...]


@dataclass(frozen=True, slots=True)
class RelationStatement:
    """A relation as a document states it, in the sentence `text`, which begins at `text_start` of the document. `names`
    are the positions in the document of both names in the sentence, as far as it writes them; `source` and `target`
    are these names. `date` is that of the document; empty if it has none."""

    uri: str
    title: str
    chunk: UUID
    text: str
    text_start: int
    names: tuple[Span, ...]
    source: str
    target: str
    description: str
    keywords: tuple[str, ...]
    strength: float
    date: str = ""


@dataclass(frozen=True, slots=True)
class PathStep:
    """One relation on a path, and passages that state it. `forward`: it has the direction of the path."""

    relation: Relation
    forward: bool
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class EntityPath:
    """A path from the first of these entities to the last: each step leads from one to the next."""

    entities: tuple[Entity, ...]
    steps: tuple[PathStep, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """What is known about one community of entities. `passages` are the ids of the supporting passages of the
    evidence."""

    id: UUID
    title: str
    text: str
    score: float
    passages: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class Keywords:
    """The keywords of a question: low-level keywords name specific things, high-level ones themes."""

    low: tuple[str, ...] = ()
    high: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MethodInfo:
    """A method in a workspace: what it does, its parameters as a JSON schema, and whether it is the default. If it
    cannot be used here, such as without vectors, `problem` says why."""

    name: str
    summary: str
    parameters: Mapping[str, Any]
    default: bool
    problem: str

    @property
    def usable(self) -> bool:
        """Whether the method can be used."""
        return not self.problem


@dataclass(frozen=True, slots=True)
class Connection:
    """An entity that led to a passage, and those of its neighbours in the graph that the passage mentions as well."""

    passage: UUID
    entity: str
    neighbours: tuple[str, ...]
    entity_id: UUID


@dataclass(frozen=True, slots=True)
class Usage:
    """Model usage: calls, replies from the cache (which cost nothing), tokens, and money.

    `price` is None if the price of a call is not known.
    """

    calls: int = 0
    kept: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    price: Decimal | None = Decimal(0)

    def __add__(self, other: Usage) -> Usage:
        price = None if self.price is None or other.price is None else self.price + other.price
        sums = (self.calls + other.calls, self.kept + other.kept)
        return Usage(*sums, self.tokens_in + other.tokens_in, self.tokens_out + other.tokens_out, price)

    def __sub__(self, before: Usage) -> Usage:
        price = None if self.price is None or before.price is None else self.price - before.price
        sums = (self.calls - before.calls, self.kept - before.kept)
        return Usage(*sums, self.tokens_in - before.tokens_in, self.tokens_out - before.tokens_out, price)


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a search: what was searched, the number of results, the best of them, and the time."""

    what: str
    searched: str
    found: int
    best: tuple[Scored[str], ...]
    seconds: float
    statements: int = 0


@dataclass(frozen=True, slots=True)
class Trace:
    """How evidence was found, step by step, with the usage."""

    method: str = ""
    steps: tuple[Step, ...] = ()
    seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)

    @property
    def statements(self) -> int:
        """The number of database statements."""
        return sum(step.statements for step in self.steps)

    @property
    def nodes(self) -> int:
        """The number of chunks, names, entities and relations that its searches returned, including repetitions."""
        return sum(step.found for step in self.steps if step.statements)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a method found, best first, and how. If it found nothing for a reason of its own, such as a threshold,
    `reason` says what happened and what to change. Methods that use keywords list them, and `connections` are the
    entities that led to passages."""

    passages: tuple[Passage, ...] = ()
    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    paths: tuple[Path, ...] = ()
    reports: tuple[Report, ...] = ()
    trace: Trace = field(default_factory=Trace)
    reason: str = ""
    keywords: Keywords = Keywords()
    connections: tuple[Connection, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.passages or self.entities or self.relations or self.paths or self.reports)
