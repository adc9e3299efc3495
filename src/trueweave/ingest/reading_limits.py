"""Limits on reading the files of one upload: bytes that they unpack to, and seconds. Files of one's own have none.

Loaders take no settings, so the limits are in the context of the task or thread that reads.
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
    """What reading some files may take, all together. The time is that in `running` alone, without what is done with
    the documents meanwhile."""

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
        """End the reading at its next check, as nobody waits for it any more."""
        self._is_stopped.set()

    def check(self) -> None:
        """UnreadableFile where the time is over; CancelledError where the reading was stopped."""
        if self._is_stopped.is_set():
            raise CancelledError
        if not self.seconds_left:
            raise UnreadableFile(f"Reading the upload took more than {self._most_seconds:g} s. Split it.")

    def unpack(self, size: int) -> None:
        """So many more bytes are unpacked. UnreadableFile where they are too many."""
        self._unpacked += size
        if self._unpacked > self._most_unpacked:
            raise UnreadableFile(f"The upload unpacks to more than {self._most_unpacked // _MIB:,} MiB. Split it.")
        self.check()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Files are read."""
        self._since = time.monotonic()
        try:
            yield
        finally:
            self._seconds += time.monotonic() - self._since
            self._since = None


_current: ContextVar[ReadingLimits | None] = ContextVar("reading_limits", default=None)


def current() -> ReadingLimits:
    """The limits of this task or thread; limits that nothing reaches where there are none."""
    return _current.get() or ReadingLimits(2**63, float("inf"))


@contextmanager
def limited(limits: ReadingLimits) -> Iterator[None]:
    """Read within these limits, also in tasks and threads that are begun in here. The reading is stopped at the end."""
    token = _current.set(limits)
    try:
        yield
    finally:
        limits.stop()
        _current.reset(token)
