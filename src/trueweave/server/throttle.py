"""Limits per key on this server: concurrent requests, requests per minute, and concurrent questions.

Each server counts separately: behind a load balancer, the limits apply to each of them.
"""

from __future__ import annotations

import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil

from trueweave.engine.trueweave import AsyncTrueweave
from trueweave.server.problems import Refusal

_MOST_KEYS = 10_000  # remembered while idle


@dataclass
class _Usage:
    """Recent use of a key: requests in progress, and how many more it could start at `since`."""

    under_way: int
    left: float
    since: float


class Throttle:
    """Limits for each caller, by id. It is a token bucket: a caller may start a minute's requests at once, and then
    only as fast as the bucket refills."""

    def __init__(self, at_once: int, per_minute: int | None, now: Callable[[], float] = time.monotonic) -> None:
        self._at_once = at_once
        self._per_minute = per_minute
        self._now = now
        self._usage: OrderedDict[str, _Usage] = OrderedDict()

    @contextmanager
    def request(self, caller: str) -> Iterator[None]:
        """Count one request of a caller inside this context. Raises Refusal if the caller has reached a limit."""
        usage = self._refilled(caller)
        if usage.under_way >= self._at_once:
            raise _too_many(f"This key has {usage.under_way:,} requests in progress, which is its maximum.", 1)
        if self._per_minute is not None:
            if usage.left < 1:
                wait = ceil((1 - usage.left) * 60 / self._per_minute)
                raise _too_many(f"This key is limited to {self._per_minute:,} requests a minute.", wait)
            usage.left -= 1
        usage.under_way += 1
        try:
            yield
        finally:
            usage.under_way -= 1

    def _refilled(self, caller: str) -> _Usage:
        now, full = self._now(), float(self._per_minute or 0)
        usage = self._usage.setdefault(caller, _Usage(0, full, now))
        self._usage.move_to_end(caller)
        usage.left = min(full, usage.left + (now - usage.since) * full / 60)
        usage.since = now
        if len(self._usage) > _MOST_KEYS:
            oldest = next(iter(self._usage))
            if not self._usage[oldest].under_way:
                del self._usage[oldest]
        return usage


class Questions:
    """Limits concurrent questions of each caller, and of each workspace according to its settings."""

    def __init__(self, of_caller: int | None) -> None:
        self._of_caller = of_caller
        self._under_way: Counter[str | int] = Counter()

    @contextmanager
    def one(self, caller: str, trueweave: AsyncTrueweave) -> Iterator[None]:
        """Count one question inside this context. Raises Refusal if the maximum is already in progress."""
        workspace, in_workspace = trueweave.workspace.id, trueweave.settings.workspace_questions_at_once
        for whose, who, most in (("This key", caller, self._of_caller), ("This workspace", workspace, in_workspace)):
            if most is not None and self._under_way[who] >= most:
                raise _too_many(f"{whose} has {most:,} questions in progress, which is the maximum.", 1)
        self._under_way.update((caller, workspace))
        try:
            yield
        finally:
            for who in (caller, workspace):
                self._under_way[who] -= 1
                if not self._under_way[who]:
                    del self._under_way[who]


def _too_many(detail: str, seconds: int) -> Refusal:
    wait = "1 second" if seconds == 1 else f"{seconds} seconds"
    return Refusal(429, "too_many_requests", detail, f"Try again in {wait}.", {"Retry-After": str(seconds)})
