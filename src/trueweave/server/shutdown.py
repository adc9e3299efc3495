"""How a server that is told to stop ends in time, whatever hangs."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
import time

_log = logging.getLogger(__name__)

_CLOSING = 5.0  # seconds, of those that a server has to stop, for closing what it has open


class Shutdown:
    """The time that a server has to stop. Requests and jobs under way may use most of it, and are cancelled then; in
    the rest connections are closed. `stopping` is set as soon as the server is told to stop."""

    def __init__(self, seconds: float) -> None:
        self.stopping = asyncio.Event()
        self._seconds = seconds
        self.grace = seconds - min(_CLOSING, seconds / 3)
        self._began: float | None = None
        self._timer: threading.Timer | None = None

    def begin(self) -> None:
        """Count from now on, unless this was called before."""
        if self._began is None:
            self._began = time.monotonic()

    @property
    def grace_left(self) -> float:
        """Seconds that what is under way has left."""
        spent = 0.0 if self._began is None else time.monotonic() - self._began
        return max(0.0, self.grace - spent)

    def enforce(self) -> None:
        """End the process when its time is over, even if tasks cannot be cancelled because a database does not answer.
        Others take over what it was doing when its lease ends."""
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
