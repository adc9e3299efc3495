"""A question, and the evidence that a method finds for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from itertools import takewhile
from typing import Generic, Literal, TypeVar
from uuid import UUID

from trueweave.core.graph import Entity, Relation
from trueweave.core.ranges import Range
from trueweave.core.record import Json, Place

T_co = TypeVar("T_co", covariant=True)
Scalar = str | int | float | bool
SearchedBy = Literal["vectors", "words"]


@dataclass(frozen=True, slots=True)
class Filter:
    """Which documents may speak: those of these uris, if any are given, with one of these values, or one in one of
    these ranges, under each of these keys of their metadata. A list in a document's metadata has every value in it."""

    uris: tuple[str, ...] = ()
    metadata: Mapping[str, Scalar | Range | Sequence[Scalar | Range]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.uris or self.metadata)


@dataclass(frozen=True, slots=True)
class Query:
    """A question, and which documents may answer it."""

    text: str
    filter: Filter = field(default_factory=Filter)


@dataclass(frozen=True, slots=True)
class Copy:
    """Where else the text of a passage stands."""

    uri: str
    title: str
    start: int
    source: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A chunk as evidence: an exact span of a document, where that is, and how well it fits (more is better).

    `page` and `headings` are those over its first character. `places` has these and all that begin further in, so that
    each stretch of the passage can be told where it is.

    A text that stands in several places is one passage: `copies` says in how many others, `also` where the first of
    them are.
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

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def source(self) -> str:
        """Where it is from, fit for a reader: the document, and the pages or sections in it."""
        return self.source_of(self.start, self.end)

    def at(self, offset: int) -> tuple[str, tuple[str, ...]]:
        """The page and the headings over a character of the document that is in this passage."""
        return place_at(self.places, offset) if self.places else (self.page, self.headings)

    def source_of(self, start: int, end: int) -> str:
        """Where a stretch of the document that is in this passage is from, fit for a reader."""
        first, last = self.at(start), self.at(max(end - 1, start))
        place = _pages(first[0], last[0]) or _sections(self._below_title(first[1]), self._below_title(last[1]))
        return ", ".join(part for part in (self.title or self.uri, place) if part)

    def _below_title(self, headings: tuple[str, ...]) -> tuple[str, ...]:
        return headings[1:] if headings[:1] == (self.title,) else headings


def place_at(places: Sequence[Place], offset: int) -> tuple[str, tuple[str, ...]]:
    """The page and the headings, outermost first, over a character of a document whose places are in order."""
    page = ""
    over: list[Place] = []
    for place in places:
        if place.start > offset:
            break
        if place.kind == "page":
            page = place.label
        else:
            over = [*(one for one in over if one.level < place.level), place]
    return page, tuple(place.label for place in over)


def _pages(first: str, last: str) -> str:
    known = list(dict.fromkeys(filter(None, (first, last))))
    return f"page{'s' if len(known) > 1 else ''} {'–'.join(known)}" if known else ""


def _sections(first: tuple[str, ...], last: tuple[str, ...]) -> str:
    """The headings that a stretch is under; where it goes from one section to another, what both are under, and the
    first and last of them."""
    shared = [a for a, _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))]
    ends = [section[len(shared)] for section in (first, last) if len(section) > len(shared)]
    return " > ".join([*shared, *([" … ".join(ends)] if len(ends) > 1 else [])])


@dataclass(frozen=True, slots=True)
class Scored(Generic[T_co]):
    """Something, and how well it fits. More is better."""

    item: T_co
    score: float


@dataclass(frozen=True, slots=True)
class Path:
    """A chain of relations, each of which begins or ends where the one before did; and the names along it."""

    names: tuple[str, ...]
    relations: tuple[Relation, ...]


@dataclass(frozen=True, slots=True)
class Hits(Generic[T_co]):
    """What fits a text, best first, and how it was looked for: by its meaning, by its words, or by both."""

    items: tuple[Scored[T_co], ...]
    by: tuple[SearchedBy, ...]


@dataclass(frozen=True, slots=True)
class EntityDetails:
    """An entity with its heaviest relations, and passages that mention it, those that emphasise it most first."""

    entity: Entity
    relations: tuple[Relation, ...]
    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class DocumentDetails:
    """A document: some of its chunks in their order, of `chunks` in all, and the entities that it mentions most, each
    with the number of its mentions there as the score."""

    uri: str
    title: str
    metadata: Mapping[str, Json]
    added: datetime
    notes: tuple[str, ...]
    chunks: int
    passages: tuple[Passage, ...]
    entities: tuple[Scored[Entity], ...]


@dataclass(frozen=True, slots=True)
class PathStep:
    """One relation on a path, and passages that state it. `forward`: it leads the way that the path goes."""

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
    """What is known of one community of entities. `passages` are those of the evidence that this rests on, by id."""

    id: UUID
    title: str
    text: str
    score: float
    passages: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class Keywords:
    """What a question is about: low-level keywords name specific things, high-level ones themes."""

    low: tuple[str, ...] = ()
    high: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Connection:
    """An entity that led to a passage, and those of its neighbours in the graph that the passage mentions as well."""

    passage: UUID
    entity: str
    neighbours: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Usage:
    """What models took: calls that were made, replies that were already kept and cost nothing, tokens, and money.

    `price` is None where a call was made whose price is not known.
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
    """One thing that was done for a question: what was searched, how much that found, the best of it, and how long."""

    what: str
    searched: str
    found: int
    best: tuple[Scored[str], ...]
    seconds: float
    statements: int = 0


@dataclass(frozen=True, slots=True)
class Trace:
    """How evidence was found, step by step, and what that took."""

    method: str = ""
    steps: tuple[Step, ...] = ()
    seconds: float = 0.0
    usage: Usage = field(default_factory=Usage)

    @property
    def statements(self) -> int:
        """How many statements the database was given."""
        return sum(step.statements for step in self.steps)

    @property
    def nodes(self) -> int:
        """How many chunks, names, entities and relations its searches brought up, each as often as one did."""
        return sum(step.found for step in self.steps if step.statements)


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a method found, best first, and how. Where that is nothing for a reason of the method's own, such as a
    threshold, `reason` says what happened and what to change. Methods that look for keywords tell which, and
    `connections` say by which entities passages were found."""

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
