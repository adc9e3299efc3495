"""Limits on reading the files of one upload: unpacked bytes, and seconds. Local files have no limits.

Loaders have no settings, so the limits are in the context of the task or thread that reads.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from contextvars import ContextVar

from trueweave.core.errors import UnreadableFile

_MIB = 2**20


class ReadingLimits:
    """The limits for reading some files, in total. Only the time in `running` counts, not the processing of the
    documents."""

    def __init__(self, unpacked: int, seconds: float) -> None:
        self._most_unpacked = unpacked
        self._most_seconds = seconds
        self._unpacked = 0
        self._seconds = 0.0
        self._since: float | None = None
        self._is_stopped = threading.Event()

    @property
    def unpacked_left(self) -> int:
        """Bytes that may still be unpacked."""
        return max(self._most_unpacked - self._unpacked, 0)

    @property
    def seconds_left(self) -> float:
        """Seconds that reading may still take."""
        running = time.monotonic() - self._since if self._since is not None else 0.0
        return max(self._most_seconds - self._seconds - running, 0.0)

    def stop(self) -> None:
        """Stop reading at the next check, because nobody waits for it any more."""
        self._is_stopped.set()

    def check(self) -> None:
        """UnreadableFile if the time is over; CancelledError if reading was stopped."""
        if self._is_stopped.is_set():
            raise CancelledError
        if not self.seconds_left:
            raise UnreadableFile(f"Reading the upload took more than {self._most_seconds:g} s. Split it.")

    def unpack(self, size: int) -> None:
        """Count unpacked bytes. UnreadableFile if there are too many."""
        self._unpacked += size
        if self._unpacked > self._most_unpacked:
            raise UnreadableFile(f"The upload unpacks to more than {self._most_unpacked // _MIB:,} MiB. Split it.")
        self.check()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Measures the time spent reading."""
        self._since = time.monotonic()
        try:
            yield
        finally:
            self._seconds += time.monotonic() - self._since
            self._since = None


_current: ContextVar[ReadingLimits | None] = ContextVar("reading_limits", default=None)


def current() -> ReadingLimits:
    """The limits of this task or thread; without any, infinite ones."""
    return _current.get() or ReadingLimits(2**63, float("inf"))


@contextmanager
def limited(limits: ReadingLimits) -> Iterator[None]:
    """Apply these limits, also in tasks and threads started in this context. Reading is stopped at the end."""
    token = _current.set(limits)
    try:
        yield
    finally:
        limits.stop()
        _current.reset(token)
