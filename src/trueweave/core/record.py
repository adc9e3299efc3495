"""Documents and their contents, as callers and extractors submit them. All are immutable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Literal

from trueweave.core.errors import ConfigError, InvalidDocument

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]
Span = tuple[int, int]
Resolution = Literal["fuzzy", "exact", "off"]
Sameness = Literal["name_and_type", "name"]
PlaceKind = Literal["page", "heading", "picture", "block"]
Box = tuple[float, ...]  # left, top, right and bottom, as parts of the width and height of a page
_MOST = 2**31
_SMALLEST_CHUNK = 16  # a character is up to four tokens, and a chunk must hold at least two of the smallest pieces
_DEEPEST = 100  # levels of metadata; JSON parsers are recursive
_LARGEST_INTEGER = 10**1000  # Python parses at most 4,300 digits
_LEAST_STRENGTH = 0.001  # strengths are stored in thousandths
_MOST_STRENGTH = 1_000_000
_LONGEST_URI = 2000  # bytes; PostgreSQL cannot index longer values
_LONGEST_GROUP = 200
EVERY_GROUP = "*"  # of a caller who can read all documents


def is_storable(text: str) -> bool:
    """Whether PostgreSQL can store a text: it accepts neither NUL nor unpaired surrogates.

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
    """Where a page, a section, the description of a picture or a block of a scanned page begins in a document's text.

    `offset` is the position in the file itself, in characters, for text formats; None for others. Pictures and blocks
    have the position where their text ends, and their box on the page, if it is known.
    """

    start: int
    kind: PlaceKind
    label: str
    level: int = 0
    offset: int | None = None
    box: Box | None = None
    end: int | None = None

    def __post_init__(self) -> None:
        if self.box is not None:
            object.__setattr__(self, "box", tuple(self.box))  # JSON has lists


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of a document, which `model` is to describe. Its text in the document, which is its caption, is at
    `start` to `end`; `data` is a JPEG or PNG file of `width` x `height` pixels."""

    start: int
    end: int
    data: bytes = field(repr=False)
    media_type: str
    width: int
    height: int
    model: str
    caption: str = ""
    box: Box | None = None

    def __post_init__(self) -> None:
        if self.box is not None:
            object.__setattr__(self, "box", tuple(self.box))  # JSON has lists


@dataclass(frozen=True, slots=True)
class Source:
    """A document as it was loaded: its text, and a map from there back to pages, headings and the file.

    The notes report problems with reading it, and `origin` is the place it was read from, for messages. `pictures` are
    those that a model is to describe. `readers` are the groups that can read it: see `Document`.
    """

    uri: str
    text: str
    title: str = ""
    metadata: Mapping[str, Json] = field(default_factory=dict)
    places: tuple[Place, ...] = ()
    notes: tuple[str, ...] = ()
    origin: str = field(default="", compare=False)
    pictures: tuple[Picture, ...] = field(default=(), repr=False)
    readers: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        _require_uri(self.uri)
        object.__setattr__(self, "readers", _readers(self.uri, self.readers))
        _require(
            all(map(is_storable, (self.uri, self.title, self.text))),
            f"{self.uri!r} contains a NUL or an unpaired surrogate; remove it",
        )
        _require_metadata(self.uri, self.metadata)


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file with its own uri instead of its path: its documents and all messages use the uri. Its extension selects
    the loader."""

    path: Path
    uri: str

    def __post_init__(self) -> None:
        _require_uri(self.uri)
        _require(is_storable(self.uri), f"{self.uri!r} contains a NUL or an unpaired surrogate; remove it")


@dataclass(frozen=True, slots=True)
class Mention:
    """One mention of an entity in a chunk. Spans are character offsets within the chunk."""

    name: str
    type: str = ""
    description: str = ""
    emphasis: int = 5
    spans: tuple[Span, ...] = ()

    def __post_init__(self) -> None:
        _require(1 <= self.emphasis <= 9, f"emphasis of {self.name!r} is {self.emphasis}; it must be between 1 and 9")


@dataclass(frozen=True, slots=True)
class Link:
    """One relation between two names, as stated in a chunk.

    Linking a name that the chunk does not mention adds a mention. The types distinguish homonyms; if empty, the chunk's
    mention of that name decides. Extractors use strengths from 1 to 10; any other positive number is also accepted, to
    three decimals. The first keyword is the relation's type.
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
            f"strength of {what} is {self.strength}; it must be between {_LEAST_STRENGTH} and {_MOST_STRENGTH:,}",
        )
        _require(1 <= self.emphasis <= 9, f"emphasis of {what} is {self.emphasis}; it must be between 1 and 9")


@dataclass(frozen=True, slots=True)
class Chunk:
    """An exact span of a document, with its mentions and links."""

    text: str
    start: int = 0
    tokens: int = 0
    mentions: tuple[Mention, ...] = ()
    links: tuple[Link, ...] = ()

    @property
    def end(self) -> int:
        """Where it ends in the document, in characters."""
        return self.start + len(self.text)

    def __post_init__(self) -> None:
        _require(is_storable(self.text), "a chunk's text contains a NUL or an unpaired surrogate; remove it")
        _require(0 <= self.start < _MOST, f"a chunk starts at {self.start}; offsets must be between 0 and {_MOST}")
        _require(0 <= self.tokens < _MOST, f"a chunk has {self.tokens} tokens; counts must be between 0 and {_MOST}")


@dataclass(frozen=True, slots=True)
class ChunkSizes:
    """The size of chunks in tokens: at most `max_chunk_size`, and at least `min_chunk_size` if the text allows.

    With an `overlap`, a chunk begins with the last sentences of the previous one, up to that many tokens.
    """

    min_chunk_size: int = 400
    max_chunk_size: int = 800
    overlap: int = 0

    def __post_init__(self) -> None:
        most, half = self.max_chunk_size, self.max_chunk_size // 2
        if most < _SMALLEST_CHUNK:
            raise ConfigError(f"max_chunk_size is {most} tokens; it must be at least {_SMALLEST_CHUNK}")
        if not 0 <= self.overlap <= half:
            raise ConfigError(
                f"overlap is {self.overlap} tokens; it must be between 0 and {half}, half of max_chunk_size"
            )
        if not 1 <= self.min_chunk_size <= self.fresh:
            raise ConfigError(
                f"min_chunk_size is {self.min_chunk_size} tokens; it must be between 1 and {self.fresh}, which is "
                "max_chunk_size minus overlap"
            )

    @property
    def fresh(self) -> int:
        """The maximum tokens of a chunk without its overlap."""
        return self.max_chunk_size - self.overlap


@dataclass(frozen=True, slots=True)
class Extraction:
    """What an extractor found in one chunk, and notes for people ("the reply was repaired")."""

    mentions: tuple[Mention, ...] = ()
    links: tuple[Link, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DroppedFinding:
    """An entity (by its name) or a relation (as `source -> target`) that a model found and that was dropped, with the
    reason."""

    kind: Literal["entity", "relation"]
    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Document:
    """The current version of a document. Its uri is its identity: another document with the same uri replaces it.

    `origin` is the place it was read from, for messages. `readers` are the groups that can read it, and none (an empty
    tuple) means everybody in the workspace. If they are not given (None), the document keeps those that it was given
    before, or else has those of the access rule for its uri, if there is one.
    """

    uri: str
    chunks: tuple[Chunk, ...]
    title: str = ""
    metadata: Mapping[str, Json] = field(default_factory=dict)
    places: tuple[Place, ...] = ()
    origin: str = field(default="", compare=False)
    readers: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        _require_uri(self.uri)
        object.__setattr__(self, "readers", _readers(self.uri, self.readers))
        _require(
            all(map(is_storable, (self.uri, self.title))),
            f"uri or title of {self.uri!r} contains a NUL or an unpaired surrogate; remove it",
        )
        _require_metadata(self.uri, self.metadata)


@dataclass(frozen=True, slots=True)
class NameKey:
    """A name as written, and its type, as used in rules. Without a type, it means all names with that spelling."""

    name: str
    type: str = ""

    @classmethod
    def from_typed(cls, text: str) -> NameKey:
        """The name and its type from NAME or NAME::TYPE."""
        name, colons, type_ = text.rpartition("::")
        return cls(name, type_) if colons else cls(text)

    @property
    def typed(self) -> str:
        """NAME or NAME::TYPE, as on the command line."""
        return f"{self.name}::{self.type}" if self.type or "::" in self.name else self.name


@dataclass(frozen=True, slots=True)
class ResolutionSettings:
    """When two names are the same entity in a workspace. See docs/adr/0005-resolution.md."""

    mode: Resolution = "exact"
    threshold: int = 90
    same: Sameness = "name_and_type"

    def __post_init__(self) -> None:
        if not 70 <= self.threshold <= 100:
            raise ValueError(f"threshold is {self.threshold}; it must be between 70 (loose) and 100 (equal names only)")


def _require_uri(uri: str) -> None:
    _require(bool(uri), "a document has no uri; give each a stable, unique name")
    size = len(uri.encode(errors="replace"))
    _require(size <= _LONGEST_URI, f"the uri {uri[:60]!r}… has {size:,} bytes; the maximum is {_LONGEST_URI:,}")


def groups_of(given: Iterable[str]) -> tuple[str, ...]:
    """Names of groups, each once and in order. Raises ValueError for one that cannot be a name."""
    if isinstance(given, str):  # its characters would be groups
        raise ValueError(f"{given!r} is one text; give a list of groups")  # noqa: TRY004 (as for any other name)
    found = tuple(sorted(set(given)))
    for group in found:
        if not is_group(group):
            raise ValueError(
                f"{group!r} cannot be the name of a group: it must have 1 to {_LONGEST_GROUP} characters, and no "
                "spaces at its ends"
            )
    return found


def is_group(name: str) -> bool:
    """Whether this can be the name of a group."""
    return name == name.strip() and 1 <= len(name) <= _LONGEST_GROUP and is_storable(name)


def stated_readers(uri: str, stated: Json) -> tuple[str, ...]:
    """The readers of a document as a file states them: a list of groups, or a text with commas between them."""
    found = [] if stated is None else split_groups(stated) if isinstance(stated, str) else stated
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise InvalidDocument(f"{uri!r}: its readers are {stated!r:.60}. Write names of groups, as in: legal, hr")
    return _readers(uri, [str(one) for one in found]) or ()


def split_groups(text: str) -> list[str]:
    """The groups in a text with commas between them."""
    return [one for part in text.split(",") if (one := part.strip())]


def _readers(uri: str, given: Iterable[str] | None) -> tuple[str, ...] | None:
    if given is None:
        return None
    try:
        found = groups_of(given)
    except ValueError as error:
        raise InvalidDocument(f"{uri!r}: {error}") from error
    _require(EVERY_GROUP not in found, f"{uri!r}: the group {EVERY_GROUP!r} means all documents; it cannot be a reader")
    return found


def _require_metadata(uri: str, metadata: Mapping[str, Json]) -> None:
    """Refuse metadata that PostgreSQL cannot store as JSON, or that could not be read back."""
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
        _require(not problem, f"{uri!r}: its metadata {problem}; change that value or remove it")


def _json_problem(value: object) -> str:
    """Why a value cannot be stored as JSON; empty if it can."""
    if isinstance(value, str):
        return "" if is_storable(value) else "contains a NUL or an unpaired surrogate"
    if isinstance(value, float):
        return "" if isfinite(value) else f"contains {value}, which is not a number in JSON"
    if isinstance(value, int):
        return "" if abs(value) < _LARGEST_INTEGER else "contains a number with more than 1,000 digits"
    return "" if value is None else f"contains a {type(value).__name__}, which JSON does not support"


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise InvalidDocument(otherwise)
