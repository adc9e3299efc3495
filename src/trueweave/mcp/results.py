"""What tools give, in fields: the structured content of their results.

All text in it is bounded by a `Room`.
"""

from __future__ import annotations

from dataclasses import dataclass

from trueweave.mcp.marking import NOTICE_FOR_FIELDS


@dataclass(frozen=True, kw_only=True)
class ToolOutput:
    """What all results have: that they are data, whether something was cut or left out, and how to get it."""

    notice: str = NOTICE_FOR_FIELDS
    truncated: bool = False
    more: str = ""


@dataclass(frozen=True)
class QuotedPassage:
    """A stretch of a document. `source` is where that is, for a reader; `truncated`: the passage goes on at `end`."""

    uri: str
    source: str
    start: int
    end: int
    score: float
    text: str
    truncated: bool


@dataclass(frozen=True)
class EntityEntry:
    """An entity, and what is said of it."""

    id: str
    name: str
    type: str
    description: str
    aliases: list[str]
    mentions: int
    relations: int


@dataclass(frozen=True)
class RelationEntry:
    """A relation between two entities, and what is said of it."""

    source: str
    target: str
    type: str
    description: str
    weight: float


@dataclass(frozen=True)
class PathStepEntry:
    """A relation on a path, which it leads along `forward` or backward, and passages that state it."""

    relation: RelationEntry
    forward: bool
    passages: list[QuotedPassage]


@dataclass(frozen=True)
class ReportEntry:
    """A report about a community. `score` says how near it is to a text; `end` is the character at which it goes on,
    where it is `truncated`."""

    id: str
    title: str
    text: str
    score: float
    end: int
    truncated: bool


@dataclass(frozen=True)
class DocumentEntry:
    """A document in a list."""

    uri: str
    title: str
    chunks: int
    added: str


@dataclass(frozen=True)
class SpanEntry:
    """A stretch of a document: its first character, the one after its last, and where that is for a reader."""

    start: int
    end: int
    source: str
    text: str


@dataclass(frozen=True)
class CitationEntry:
    """What a mark in an answer stands for: the words that it rests on, and where they are. They are `verbatim` if the
    model quoted them, and else the sentence of the passage that comes nearest."""

    mark: int
    uri: str
    source: str
    start: int
    end: int
    quote: str
    verbatim: bool


@dataclass(frozen=True)
class SentenceEntry:
    """A sentence of an answer that the check does not confirm: contradicted, not supported or not checked, and why."""

    text: str
    status: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class SearchOutput(ToolOutput):
    """What `search` gives."""

    passages: list[QuotedPassage]


@dataclass(frozen=True, kw_only=True)
class AnswerOutput(ToolOutput):
    """What `ask` gives. `known` is false where the documents do not say; `unconfirmed` are the sentences that the check
    does not vouch for."""

    answer: str
    known: bool
    citations: list[CitationEntry]
    unconfirmed: list[SentenceEntry]
    method: str


@dataclass(frozen=True, kw_only=True)
class EntityOutput(ToolOutput):
    """What `entity` gives."""

    entity: EntityEntry
    relations: list[RelationEntry]
    passages: list[QuotedPassage]


@dataclass(frozen=True, kw_only=True)
class NeighboursOutput(ToolOutput):
    """What `neighbours` gives."""

    entities: list[EntityEntry]


@dataclass(frozen=True, kw_only=True)
class PathOutput(ToolOutput):
    """What `path` gives: the names along it, and its steps; both empty where no path is `found`."""

    found: bool
    names: list[str]
    steps: list[PathStepEntry]


@dataclass(frozen=True, kw_only=True)
class ReportsOutput(ToolOutput):
    """What `report` gives."""

    reports: list[ReportEntry]


@dataclass(frozen=True, kw_only=True)
class DocumentsOutput(ToolOutput):
    """What `documents` gives; `next_cursor` is empty on the last page."""

    documents: list[DocumentEntry]
    next_cursor: str


@dataclass(frozen=True, kw_only=True)
class DocumentOutput(ToolOutput):
    """What `document` gives; `next_cursor` is empty at the document's end. `metadata` is JSON, cut where it is
    long."""

    uri: str
    title: str
    metadata: str
    chunks: int
    mentions: list[str]
    spans: list[SpanEntry]
    next_cursor: str
