"""Typed events of ingestion and questions. Progress bars, logs and metrics are listeners."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, replace
from typing import Generic, NamedTuple, TypeVar

from trueweave.core.evidence import Evidence
from trueweave.core.jobs import DocumentState


@dataclass(frozen=True, slots=True)
class Found:
    """Documents were read from files: new ones were submitted, unchanged ones were skipped."""

    new: int
    unchanged: int = 0


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file could not be read."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Refused:
    """A document was refused, such as one row of a file; the others are used."""

    place: str
    reason: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file was skipped: hidden, ignored, secret, Trueweave's own, or of a type without a reader."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Working:
    """A long document is being processed: the number of chunks done, and of all chunks. 0 of 0 while it is being
    chunked."""

    uri: str
    done: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class Extracted:
    """A document is in the record, with its number of chunks; the notes report anything unusual."""

    uri: str
    chunks: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Failed:
    """Processing a document failed. It is retried, or marked as failed."""

    uri: str
    error: str
    final: bool


@dataclass(frozen=True, slots=True)
class Indexed:
    """This many versions of documents were indexed."""

    documents: int


@dataclass(frozen=True, slots=True)
class Removed:
    """Documents were removed because their files no longer exist."""

    uris: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Summarised:
    """This many long descriptions were summarised."""

    descriptions: int


@dataclass(frozen=True, slots=True)
class Reported:
    """The number of community reports written, and how many of them without the model because it failed."""

    reports: int = 0
    without_model: int = 0

    def after(self, event: Event) -> Reported:
        """The sum of both."""
        if not isinstance(event, Reported):
            return self
        return Reported(self.reports + event.reports, self.without_model + event.without_model)


@dataclass(frozen=True, slots=True)
class Projected:
    """This many more items were written to the copy of a workspace in another store."""

    store: str
    workspace: int
    items: int


@dataclass(frozen=True, slots=True)
class ModelDownload:
    """A file of a model is being downloaded: the number of bytes so far."""

    model: str
    file: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Windowed:
    """This many texts were longer than the input of the embedding model, and were embedded in parts."""

    model: str
    most_tokens: int
    texts: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """Work is waiting for a budget, a model or a database. It has waited for `seconds`, and retries after `pause`
    seconds if that is known."""

    reason: str
    waited: float = 0.0
    pause: float = 0.0


@dataclass(frozen=True, slots=True)
class Noted:
    """Something unusual that concerns no document, such as a server that counts tokens wrongly."""

    what: str


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The question that is searched for, rewritten from the conversation."""

    question: str


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The evidence for a question, before the answer."""

    evidence: Evidence


@dataclass(frozen=True, slots=True)
class WorkFailed:
    """Background work other than on a document failed because of a bug in Trueweave. It is marked as failed, and
    everything else continues."""

    kind: str
    about: str
    error: str


@dataclass(frozen=True, slots=True)
class Added:
    """The progress of a run."""

    new: int = 0
    unchanged: int = 0
    unreadable: int = 0
    refused: int = 0
    skipped: int = 0
    extracted: int = 0
    chunks: int = 0
    noted: int = 0
    failed: int = 0
    removed: int = 0

    def after(self, event: Event) -> Added:
        match event:
            case Found(new, unchanged):
                return replace(self, new=self.new + new, unchanged=self.unchanged + unchanged)
            case Unreadable():
                return replace(self, unreadable=self.unreadable + 1)
            case Refused():
                return replace(self, refused=self.refused + 1)
            case Skipped():
                return replace(self, skipped=self.skipped + 1)
            case Extracted(_, chunks, notes):
                done, noted = self.extracted + 1, self.noted + bool(notes)
                return replace(self, extracted=done, chunks=self.chunks + chunks, noted=noted)
            case Removed(uris):
                return replace(self, removed=self.removed + len(uris))
            case Failed(final=True):
                return replace(self, failed=self.failed + 1)
        return self


Event = (
    Found
    | Unreadable
    | Refused
    | Skipped
    | Working
    | Extracted
    | Failed
    | Indexed
    | Removed
    | Summarised
    | Reported
    | Projected
    | ModelDownload
    | Windowed
    | Waiting
    | Noted
    | Rewritten
    | Retrieved
    | WorkFailed
)
Listener = Callable[[Event], None]
Progress = Callable[[int], None]
StepListener = Callable[[str], None]
Total = TypeVar("Total", Added, Reported)


def outcome(document: DocumentState) -> Extracted | Failed:
    """What became of a document that no longer waits."""
    if document.state == "failed":
        return Failed(document.uri, document.error, final=True)
    return Extracted(document.uri, document.chunks, document.notes)


def ignore(_: Event) -> None:
    """A listener that ignores all events."""


def unheard(_: str) -> None:
    """Ignore a step."""


def unseen(_: int) -> None:
    """A progress callback that does nothing."""


# --- runs -----------------------------------------------------------------------------------------------


class CountingListener(Generic[Total]):
    """A listener that keeps a running total and passes every event on."""

    def __init__(self, listener: Listener, total: Total) -> None:
        self._listener = listener
        self.total: Total = total

    def __call__(self, event: Event) -> None:
        self.total = self.total.after(event)
        self._listener(event)


class _Run(NamedTuple):
    listener: Listener
    is_question: bool
    is_watched: bool


_MANY = 10  # chunks: a smaller document is done soon
_STEPS = 100

_NO_RUN = _Run(ignore, is_question=False, is_watched=False)
# Models are shared by everything in a process. The context of the task tells which run a call belongs to.
_run: ContextVar[_Run] = ContextVar("run", default=_NO_RUN)


@contextmanager
def in_run(listener: Listener, *, is_question: bool = False, is_watched: bool = False) -> Iterator[None]:
    """Send the events of this context, and of tasks started in it, to this listener.

    With `is_question` a caller waits for the answer, so calls do not wait for an unreachable model. With `is_watched` a
    caller waits for the end of the run, so calls wait for an unreachable model only if it has answered before.
    """
    before = _run.set(_Run(listener, is_question, is_watched))
    try:
        yield
    finally:
        _run.reset(before)


def tell(event: Event) -> None:
    """Send an event to the listener of the current run."""
    _run.get().listener(event)


def chunks_done(uri: str, total: int) -> Callable[[int], None]:
    """A function that reports to the current run how many chunks of a large document are done.

    It may be called in any thread; listeners are called in the thread of the event loop.
    """
    loop, context, step = asyncio.get_running_loop(), copy_context(), max(total // _STEPS, 1)

    def told(done: int) -> None:
        if total >= _MANY and done % step == 0:
            loop.call_soon_threadsafe(tell, Working(uri, done, total), context=context)

    return told


def is_given_up(*, has_answered: bool) -> bool:
    """Whether the current run does not wait for an unreachable model."""
    run = _run.get()
    return run.is_question or (run.is_watched and not has_answered)
