"""The trace of a question: its steps, with their results and usage."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from trueweave.core.evidence import Scored, Step
from trueweave.core.telemetry.spans import span

_SHOWN = 5  # of what was found

_current: ContextVar[OpenStep | None] = ContextVar("_current", default=None)


class OpenStep:
    """A step in progress."""

    def __init__(self) -> None:
        self.found = 0
        self.statements = 0
        self.best: tuple[Scored[str], ...] = ()

    def list(self, found: Iterable[Scored[str]]) -> None:
        """Record the results; the best are shown."""
        everything = list(found)
        self.found = len(everything)
        self.best = tuple(sorted(everything, key=lambda s: -s.score)[:_SHOWN])


class StepLog:
    """The steps of one question, in the order in which they ended."""

    def __init__(self) -> None:
        self.steps: list[Step] = []

    @contextmanager
    def step(self, what: str, searched: str) -> Iterator[OpenStep]:
        """A step; statements sent in it count for it."""
        open_ = OpenStep()
        begun = time.perf_counter()
        token = _current.set(open_)
        try:
            with span(what) as opened:
                yield open_
                if opened.is_recording():
                    opened.set_attributes({"trueweave.found": open_.found, "trueweave.statements": open_.statements})
        finally:
            _current.reset(token)
        took = time.perf_counter() - begun
        self.steps.append(Step(what, searched, open_.found, open_.best, took, open_.statements))

    def note(self, what: str, *found: Scored[str]) -> None:
        """Add a step that searched nothing, such as the choice of keywords."""
        self.steps.append(Step(what, "", len(found), found[:_SHOWN], 0.0))


def count_statement() -> None:
    """Called by a store for each statement that it sends: it counts for the current step."""
    if open_ := _current.get():
        open_.statements += 1
