"""The values that Weft passes around: what documents say, and what it adds up to.

The first half is what a caller hands in (the record), the second what a caller gets back (the view).
All are immutable.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from uuid import UUID

from weft.errors import InvalidDocument

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]
Span = tuple[int, int]
RuleKind = Literal["merge", "split", "rename"]
Resolution = Literal["fuzzy", "exact", "off"]
Sameness = Literal["name_and_type", "name"]
Metric = Literal["cosine", "l2", "inner"]
VectorKind = Literal["chunk", "entity", "relation"]

_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")  # PostgreSQL takes neither NUL nor lone surrogates
_MOST = 2**31

VECTOR_KINDS: tuple[VectorKind, ...] = ("chunk", "entity", "relation")


# --- what documents say -------------------------------------------------------------------------------


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
    of two homonyms is meant; left empty, the chunk's mention of that name decides.
    """

    source: str
    target: str
    description: str = ""
    keywords: tuple[str, ...] = ()
    strength: int = 5
    emphasis: int = 5
    spans: tuple[Span, ...] = ()
    source_type: str = ""
    target_type: str = ""

    def __post_init__(self) -> None:
        what = f"{self.source!r} -> {self.target!r}"
        _require(1 <= self.strength <= 10, f"strength of {what} is {self.strength}; it goes from 1 to 10")
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
        _require(not _UNSTORABLE.search(self.text), "a chunk's text holds a NUL or half a character; take it out")
        _require(0 <= self.start < _MOST, f"a chunk starts at {self.start}; offsets go from 0 to {_MOST}")
        _require(0 <= self.tokens < _MOST, f"a chunk has {self.tokens} tokens; counts go from 0 to {_MOST}")


@dataclass(frozen=True, slots=True)
class Document:
    """A document as it is now. Its uri is its identity: another with the same uri replaces it."""

    uri: str
    chunks: tuple[Chunk, ...]
    title: str = ""
    metadata: Mapping[str, Json] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _require(bool(self.uri), "a document has no uri; give each one a stable name of its own")
        _require(
            not _UNSTORABLE.search(self.uri + self.title),
            f"uri or title of {self.uri!r} holds a NUL or half a character; take it out",
        )


@dataclass(frozen=True, slots=True)
class NameKey:
    """A name as it is written, and its type: what people's rules speak of."""

    name: str
    type: str = ""


@dataclass(frozen=True, slots=True)
class ResolutionSettings:
    """What makes two names the same entity in one workspace. See docs/adr/0005-resolution.md."""

    mode: Resolution = "fuzzy"
    threshold: int = 90
    same: Sameness = "name_and_type"

    def __post_init__(self) -> None:
        if not 70 <= self.threshold <= 100:
            raise ValueError(f"threshold is {self.threshold}; it goes from 70 (loose) to 100 (equal names only)")


# --- what it adds up to -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Entity:
    """One thing, as all live mentions of its names describe it."""

    id: UUID
    name: str
    type: str
    description: str
    aliases: tuple[str, ...]
    count: int
    emphasis: tuple[int, ...]
    degree: int


@dataclass(frozen=True, slots=True)
class Relation:
    """What all live links from one entity to another say together. `weight` is the sum of their strengths.

    Both ends are named as those links most often write them.
    """

    id: UUID
    source: UUID
    target: UUID
    source_name: str
    target_name: str
    description: str
    keywords: tuple[str, ...]
    weight: int
    count: int
    emphasis: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """A person's decision about names. Part of the settings: it survives any rebuild and can be undone."""

    id: UUID
    kind: RuleKind
    names: tuple[NameKey, ...]
    label: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """Something found by its vector. A smaller distance is nearer."""

    id: UUID
    distance: float


@dataclass(frozen=True, slots=True)
class Change:
    """One entry of the outbox: these things were written or removed by one settled batch."""

    position: int
    kind: str
    removed: bool
    ids: tuple[UUID, ...]


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


@dataclass(frozen=True, slots=True)
class Difference:
    """One line in which the index and its rebuild disagree; None where one of them has nothing."""

    section: str
    key: str
    index: str | None
    rebuilt: str | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What `verify` found: both digests, and the first differences."""

    digest: str
    rebuilt: str
    differences: tuple[Difference, ...]

    @property
    def exact(self) -> bool:
        return self.digest == self.rebuilt


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise InvalidDocument(otherwise)
