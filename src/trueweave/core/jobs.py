"""Documents being ingested, and the state of the work. All are immutable."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal
from uuid import UUID

from trueweave.core.graph import GraphVectors


@dataclass(frozen=True, slots=True)
class BulkReport:
    """The result of a bulk load: the number of documents, chunks, names and entities; how many of the documents existed
    before; what could not be loaded; and which files were skipped, each with the reason."""

    documents: int
    chunks: int
    names: int
    entities: int
    kept: int = 0
    failed: tuple[tuple[str, str], ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()


JobState = Literal["under way", "done", "failed"]
WorkState = Literal["waiting", "indexing", "indexed", "failed", "off"]
ListedState = Literal["", "any", "waiting", "indexing", "indexed", "failed", "off"]
DocumentOrder = Literal["uri", "added"]


@dataclass(frozen=True, slots=True)
class DocumentInfo:
    """A document in a list: its uri and title, number of chunks, the time it was added, and notes. `state` is that of
    its latest version, and `error` that of the last attempt to process it. `readers` are the groups that can read it;
    empty for everybody."""

    uri: str
    title: str
    chunks: int
    added: datetime
    notes: tuple[str, ...]
    state: WorkState = "indexed"
    error: str = ""
    readers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Note:
    """A note, the number of documents that have it, and the first of them."""

    text: str
    documents: int
    uris: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A document with the same text as an earlier one."""

    uri: str
    equals: str


@dataclass(frozen=True, slots=True)
class FailedDocument:
    """A document that failed for good, and why."""

    uri: str
    error: str
    failures: int


@dataclass(frozen=True, slots=True)
class DocumentState:
    """The state of a document: queued, processed but not indexed yet, indexed, failed for good, or switched off.
    `error` is that of the last attempt. The stored version has `chunks` chunks and these notes, and was stored at
    `added`."""

    uri: str
    state: WorkState
    error: str = ""
    chunks: int = 0
    notes: tuple[str, ...] = ()
    added: datetime | None = None


@dataclass(frozen=True, slots=True)
class IngestJob:
    """Documents that were submitted together, and how many of them are queued, processed but not indexed yet, indexed,
    and failed for good. One that is switched off counts as indexed. Documents that were removed since are in none of
    these. `refused` lists why files, or rows of files, could not be used: the first hundred."""

    id: UUID
    made: datetime
    documents: int
    waiting: int
    indexing: int
    indexed: int
    failed: int
    refused: tuple[str, ...] = ()

    @property
    def state(self) -> JobState:
        """Whether it is in progress; afterwards, whether some of its documents failed."""
        if self.waiting or self.indexing:
            return "under way"
        return "failed" if self.failed else "done"


@dataclass(frozen=True, slots=True)
class SyncPlan:
    """What bringing an index up to date with some folders would do: how many documents are new, changed and unchanged,
    how many could not be read, the uris of those to be removed, and how many of the unchanged get other readers."""

    new: int
    changed: int
    unchanged: int
    unreadable: int
    removed: tuple[str, ...]
    readers: int = 0


@dataclass(frozen=True, slots=True)
class Status:
    """The size of a workspace, and what is not indexed yet: documents, and names after a change of rules.

    `graph_vectors` says whether entities and relations have vectors: they are `kept`, there are `none`, or some are
    missing, because `trueweave vectors make` is `making` them or was interrupted. `off` is the number of documents that
    are switched off, which are not among `documents`.
    """

    documents: int
    chunks: int
    entities: int
    relations: int
    waiting_documents: int
    waiting_names: int
    embedding_model: str
    graph_vectors: GraphVectors
    off: int = 0


WorkKind = Literal["settle", "names", "link", "summary", "report"]


@dataclass(frozen=True, slots=True)
class FailedWork:
    """Work that failed because of a bug in Trueweave: its kind, its subject, how often, and when last.

    It is skipped until it is retried, or until its subject changes.
    """

    kind: WorkKind
    about: str
    error: str
    count: int
    failed: datetime


@dataclass(frozen=True, slots=True)
class OutOfDate:
    """Documents that are out of date: the settings have changed since. `settings` are those that differ; adding the
    documents again applies them. Without any, the extractor, its prompts or its schema have changed, and the documents
    need a refresh."""

    documents: int
    settings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Swept:
    """What a sweep deleted: names that no document mentions, expired replies and changes, leftovers of removed
    documents and killed processes. `calls` are from now on only in the daily sums."""

    names: int
    replies: int
    changes: int
    calls: int
    documents: int
    spaces: int
    workspaces: int


@dataclass(frozen=True, slots=True)
class IngestProgress:
    """The number of documents that were indexed, that are queued, and that are in the record but not indexed yet; of
    descriptions to be summarised; and of documents marked as failed."""

    indexed: int
    waiting: int
    indexing: int
    descriptions: int
    failed: int


WaitsFor = Literal["", "worker", "budget", "retry"]


@dataclass(frozen=True, slots=True)
class Activity:
    """The activity of a workspace: the number of documents that are queued, that are processed but not indexed yet, and
    that failed for good; of descriptions to be summarised, and of reports on communities that workers are to write; and
    of documents processed in the last minute.

    `seconds_left` is an estimate for the queue, None while nothing is processed. If nothing is processed, `waits_for`
    says why: no worker is running, the budget is used up, or failed calls are retried later. `price` and `tokens` are
    what was spent of the budget, whose caps are None if there is no limit. `position` is that of the latest change of
    the index.
    """

    waiting: int
    indexing: int
    failed: int
    descriptions: int
    reports: int
    per_minute: int
    seconds_left: float | None
    waits_for: WaitsFor
    price: Decimal
    tokens: int
    price_cap: Decimal | None
    token_cap: int | None
    position: int
