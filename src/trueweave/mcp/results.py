"""The structured content of the results of tools.

All text in it is limited by a `Room`.
"""

from __future__ import annotations

from dataclasses import dataclass

from trueweave.mcp.marking import NOTICE_FOR_FIELDS


@dataclass(frozen=True, kw_only=True)
class ToolOutput:
    """Fields of all results: a notice that they are data, whether something was cut or left out, and how to get it."""

    notice: str = NOTICE_FOR_FIELDS
    truncated: bool = False
    more: str = ""


@dataclass(frozen=True)
class QuotedPassage:
    """A span of a document. `source` says where it is, for a reader; if `truncated`, the passage continues at `end`.
    `date` is that of the document, or empty."""

    uri: str
    source: str
    start: int
    end: int
    score: float
    text: str
    truncated: bool
    date: str


@dataclass(frozen=True)
class EntityEntry:
    """An entity, and its description."""

    id: str
    name: str
    type: str
    description: str
    aliases: list[str]
    mentions: int
    relations: int


@dataclass(frozen=True)
class RelationEntry:
    """A relation between two entities, and its description."""

    source: str
    target: str
    type: str
    description: str
    weight: float


@dataclass(frozen=True)
class StatementEntry:
    """A sentence of a document, the character at which it begins, and the date of the document, or none."""

    uri: str
    date: str
    start: int
    text: str


@dataclass(frozen=True)
class ConflictValueEntry:
    """One of several values: the latest date of the documents that state it, whether it is later than those of all
    others, the number of documents, and what some of them say."""

    name: str
    date: str
    newest: bool
    documents: int
    statements: list[StatementEntry]


@dataclass(frozen=True)
class ConflictEntry:
    """An entity of which documents state several values of a relation that has only one. `status` is "contradiction" or
    "may have changed"."""

    name: str
    relation: str
    status: str
    values: list[ConflictValueEntry]


@dataclass(frozen=True)
class PathStepEntry:
    """A relation on a path, followed `forward` or backward, and passages that state it."""

    relation: RelationEntry
    forward: bool
    passages: list[QuotedPassage]


@dataclass(frozen=True)
class ReportEntry:
    """A report about a community. `score` says how near it is to a text; if `truncated`, it continues at `end`."""

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
    """A span of a document: its first character, the one after its last, and where it is, for a reader."""

    start: int
    end: int
    source: str
    text: str


@dataclass(frozen=True)
class CitationEntry:
    """A citation in an answer: the words that support it, and where they are. They are `verbatim` if the model quoted
    them; otherwise they are the nearest sentence of the passage."""

    number: int
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
    """The result of `search`."""

    passages: list[QuotedPassage]


@dataclass(frozen=True, kw_only=True)
class AnswerOutput(ToolOutput):
    """The result of `ask`. `known` is false if the documents do not say; `unconfirmed` are the sentences that the check
    does not confirm, and `disagreements` what sources state differently."""

    answer: str
    known: bool
    citations: list[CitationEntry]
    unconfirmed: list[SentenceEntry]
    disagreements: list[str]
    method: str


@dataclass(frozen=True, kw_only=True)
class EntityOutput(ToolOutput):
    """The result of `entity`."""

    entity: EntityEntry
    relations: list[RelationEntry]
    passages: list[QuotedPassage]


@dataclass(frozen=True, kw_only=True)
class NeighboursOutput(ToolOutput):
    """The result of `neighbours`."""

    entities: list[EntityEntry]


@dataclass(frozen=True, kw_only=True)
class ConflictsOutput(ToolOutput):
    """The result of `conflicts`."""

    conflicts: list[ConflictEntry]


@dataclass(frozen=True, kw_only=True)
class PathOutput(ToolOutput):
    """The result of `path`: the names along it, and its steps; both are empty if no path was `found`."""

    found: bool
    names: list[str]
    steps: list[PathStepEntry]


@dataclass(frozen=True, kw_only=True)
class ReportsOutput(ToolOutput):
    """The result of `report`."""

    reports: list[ReportEntry]


@dataclass(frozen=True, kw_only=True)
class DocumentsOutput(ToolOutput):
    """The result of `documents`; `next_cursor` is empty on the last page."""

    documents: list[DocumentEntry]
    next_cursor: str


@dataclass(frozen=True, kw_only=True)
class DocumentOutput(ToolOutput):
    """The result of `document`; `next_cursor` is empty at the document's end. `metadata` is JSON, cut if it is long."""

    uri: str
    title: str
    metadata: str
    chunks: int
    mentions: list[str]
    spans: list[SpanEntry]
    next_cursor: str


@dataclass(frozen=True, kw_only=True)
class RememberedOutput(ToolOutput):
    """The result of `remember`: the document that was stored, which is found once it has been indexed."""

    uri: str


@dataclass(frozen=True, kw_only=True)
class ForgottenOutput(ToolOutput):
    """The result of `forget`: how many of the memories existed."""

    forgotten: int
