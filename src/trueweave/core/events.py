"""What happens during ingest and questions, as typed events. Progress bars, logs and metrics are listeners."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, replace
from typing import Generic, NamedTuple, TypeVar

from trueweave.core.evidence import Evidence


@dataclass(frozen=True, slots=True)
class Found:
    """Documents were read from files: new ones were submitted, unchanged ones were left alone."""

    new: int
    unchanged: int = 0


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file could not be read."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Refused:
    """A document cannot be used as it is, such as one row of a file; the others can."""

    place: str
    reason: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file was skipped: hidden, ignored, secret, Trueweave's own, or of a type without a reader."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Working:
    """A long document is being worked, and so many of its chunks are done. Of none: it is being cut into chunks."""

    uri: str
    done: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class Extracted:
    """A document is in the record, with so many chunks; the notes say what was odd about it."""

    uri: str
    chunks: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Failed:
    """A document failed. It is tried again, or failed."""

    uri: str
    error: str
    final: bool


@dataclass(frozen=True, slots=True)
class Settled:
    """So many versions of documents became part of the index."""

    documents: int


@dataclass(frozen=True, slots=True)
class Removed:
    """Documents were removed, as their files are gone."""

    uris: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Summarised:
    """So many long descriptions were summed up."""

    descriptions: int


@dataclass(frozen=True, slots=True)
class Reported:
    """So many reports about communities were written; so many of them without the model that was to write them."""

    reports: int = 0
    without_model: int = 0

    def after(self, event: Event) -> Reported:
        """These and the reports of an event."""
        if not isinstance(event, Reported):
            return self
        return Reported(self.reports + event.reports, self.without_model + event.without_model)


@dataclass(frozen=True, slots=True)
class Projected:
    """So many more things were written to the copy of a workspace in another store."""

    store: str
    workspace: int
    things: int


@dataclass(frozen=True, slots=True)
class ModelDownload:
    """A file of a model is being downloaded, and so many of its bytes are here."""

    model: str
    file: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Windowed:
    """So many texts were longer than what the embedding model reads at once, and were embedded in parts."""

    model: str
    most_tokens: int
    texts: int


@dataclass(frozen=True, slots=True)
class Waiting:
    """Work waits for something that time or a person must bring: a budget, a model, a database. It has waited for so
    many seconds, and tries again after `pause` seconds where that is known."""

    reason: str
    waited: float = 0.0
    pause: float = 0.0


@dataclass(frozen=True, slots=True)
class Noted:
    """Something odd that is nobody's document: a server that counts wrongly."""

    what: str


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A question is looked for as this, as it is to be understood from what was said before."""

    question: str


@dataclass(frozen=True, slots=True)
class Retrieved:
    """This was found for a question, before anything is answered from it."""

    evidence: Evidence


@dataclass(frozen=True, slots=True)
class WorkFailed:
    """Work other than that on a document failed by a bug of Trueweave. It is marked so, and all else goes on."""

    kind: str
    about: str
    error: str


@dataclass(frozen=True, slots=True)
class Added:
    """What a run has come to so far."""

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
    | Settled
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
Total = TypeVar("Total", Added, Reported)


def ignore(_: Event) -> None:
    """A listener that does not listen."""


def unseen(_: int) -> None:
    """Progress that nobody looks at."""


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


_MANY = 10  # chunks: a document of fewer is done soon
_STEPS = 100

_NO_RUN = _Run(ignore, is_question=False, is_watched=False)
# Models are shared by all that goes on in a process. Whoever they are asked for is known from the context of the task.
_run: ContextVar[_Run] = ContextVar("run", default=_NO_RUN)


@contextmanager
def in_run(listener: Listener, *, is_question: bool = False, is_watched: bool = False) -> Iterator[None]:
    """What happens inside, and in tasks that are begun inside, is told to this listener.

    With `is_question` somebody waits for the answer, and a model that cannot be reached is not waited for. With
    `is_watched` somebody waits for the end of the run: a model that cannot be reached is waited for only if it has
    answered before.
    """
    before = _run.set(_Run(listener, is_question, is_watched))
    try:
        yield
    finally:
        _run.reset(before)


def tell(event: Event) -> None:
    """Tell the listener of the run that goes on here."""
    _run.get().listener(event)


def chunks_done(uri: str, total: int) -> Callable[[int], None]:
    """A function that tells the run which goes on here how many chunks of a document are done, where there are many.

    It may be called in any thread; listeners are called in that of the event loop.
    """
    loop, context, step = asyncio.get_running_loop(), copy_context(), max(total // _STEPS, 1)

    def told(done: int) -> None:
        if total >= _MANY and done % step == 0:
            loop.call_soon_threadsafe(tell, Working(uri, done, total), context=context)

    return told


def is_given_up(*, has_answered: bool) -> bool:
    """Whether a model that cannot be reached is not waited for in the run that goes on here."""
    run = _run.get()
    return run.is_question or (run.is_watched and not has_answered)
