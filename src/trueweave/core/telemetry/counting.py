"""Listeners that keep count."""

from __future__ import annotations

from typing import Generic, TypeVar

from trueweave.core.events import Added, Event, Listener, Reported

Total = TypeVar("Total", Added, Reported)


class CountingListener(Generic[Total]):
    """A listener that keeps count, and passes everything on."""

    def __init__(self, listener: Listener, total: Total) -> None:
        self._listener = listener
        self.total: Total = total

    def __call__(self, event: Event) -> None:
        self.total = self.total.after(event)
        self._listener(event)
