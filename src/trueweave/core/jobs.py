"""Documents on their way into the index, and the state of the work. All are immutable."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID


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
class IngestProgress:
    """Documents that became part of the index, that wait to be worked, and that are in the record and not yet settled;
    descriptions that wait to be summed up; and documents that are marked as failed."""

    came_in: int
    waiting: int
    unsettled: int
    descriptions: int
    failed: int
