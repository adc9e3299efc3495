"""How much one key may ask of this server: so many requests at once, so many a minute, and so many questions at once.

Each server counts by itself. Behind a balancer a key may ask as much of each of them.
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

_MOST_KEYS = 10_000  # that are remembered while they ask nothing


@dataclass
class _Usage:
    """What a key has asked lately: requests under way, and how many it may begin at `since`."""

    under_way: int
    left: float
    since: float


class Throttle:
    """Limits on each caller, by its id. A caller may begin a minute's requests at once, and then as fast as they come
    again (a token bucket)."""

    def __init__(self, at_once: int, per_minute: int | None, now: Callable[[], float] = time.monotonic) -> None:
        self._at_once = at_once
        self._per_minute = per_minute
        self._now = now
        self._usage: OrderedDict[str, _Usage] = OrderedDict()

    @contextmanager
    def request(self, caller: str) -> Iterator[None]:
        """One request of a caller, for as long as it takes. Refusal where the caller has asked too much."""
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
    """Questions that are under way: of each caller, and in each workspace, by what its settings say."""

    def __init__(self, of_caller: int | None) -> None:
        self._of_caller = of_caller
        self._under_way: Counter[str | int] = Counter()

    @contextmanager
    def one(self, caller: str, trueweave: AsyncTrueweave) -> Iterator[None]:
        """One question, for as long as it takes. Refusal where as many as there may be are under way."""
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
