"""Limits failed logins of each address on this server."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable
from math import ceil

from trueweave.server.problems import Refusal

_MOST = 10
_SECONDS = 60.0
_ADDRESSES = 10_000


class LoginAttempts:
    """Failed logins by address within the last minute."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._failed: OrderedDict[str, deque[float]] = OrderedDict()

    def check(self, address: str) -> None:
        """Raise Refusal if the address has failed too often."""
        failed = self._failed.get(address)
        if failed and len(failed) == _MOST and (wait := _SECONDS - (self._now() - failed[0])) > 0:
            raise Refusal(
                429,
                "too_many_requests",
                f"{_MOST} logins from this address failed within a minute.",
                f"Try again in {ceil(wait)} seconds.",
                {"Retry-After": str(ceil(wait))},
            )

    def fail(self, address: str) -> None:
        """Count a failed login."""
        self._failed.setdefault(address, deque(maxlen=_MOST)).append(self._now())
        self._failed.move_to_end(address)
        while len(self._failed) > _ADDRESSES:
            self._failed.popitem(last=False)
