"""Makes sure that a server stops in time, even if something hangs."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
import time

_log = logging.getLogger(__name__)

_CLOSING = 5.0  # seconds of the shutdown time that are reserved for closing connections


class Shutdown:
    """The time limit for stopping a server. Requests and jobs in progress may use most of it and are then cancelled;
    the rest is for closing connections. `stopping` is set as soon as the server starts to stop."""

    def __init__(self, seconds: float) -> None:
        self.stopping = asyncio.Event()
        self._seconds = seconds
        self.grace = seconds - min(_CLOSING, seconds / 3)
        self._began: float | None = None
        self._timer: threading.Timer | None = None

    def begin(self) -> None:
        """Start the clock, unless it is already running."""
        if self._began is None:
            self._began = time.monotonic()

    @property
    def grace_left(self) -> float:
        """Seconds left for requests and jobs in progress."""
        spent = 0.0 if self._began is None else time.monotonic() - self._began
        return max(0.0, self.grace - spent)

    def enforce(self) -> None:
        """End the process when its time is up, even if tasks cannot be cancelled because a database does not answer.
        Other processes take over its work when its lease expires."""
        if self._timer is None:
            self.begin()
            self._timer = threading.Timer(self._seconds, self._end)
            self._timer.daemon = True
            self._timer.start()

    def _end(self) -> None:
        said = "the server did not stop within shutdown_seconds (%g s), so the process ends now"
        _log.error(said, self._seconds, extra={"event": "server.forced_end"})
        sys.stderr.flush()
        os._exit(1)
