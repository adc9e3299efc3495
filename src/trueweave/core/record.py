"""What documents say: the values that callers and extractors submit. All are immutable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Literal

from trueweave.core.errors import ConfigError, InvalidDocument

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]
Span = tuple[int, int]
Resolution = Literal["fuzzy", "exact", "off"]
Sameness = Literal["name_and_type", "name"]
PlaceKind = Literal["page", "heading"]
_MOST = 2**31
_SMALLEST_CHUNK = 16  # a character is up to four tokens, and a chunk takes two of the smallest pieces at least
_DEEPEST = 100  # levels of metadata; readers of JSON go down a level by calling themselves
_LARGEST_INTEGER = 10**1000  # Python reads no more than 4,300 digits back
_LEAST_STRENGTH = 0.001  # strengths are kept in thousandths
_MOST_STRENGTH = 1_000_000
_LONGEST_URI = 2000  # bytes; PostgreSQL indexes no longer ones


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
