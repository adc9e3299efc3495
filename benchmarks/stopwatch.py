"""Where the time of a run goes: functions of Trueweave with a stopwatch round them, and the stages of a bulk load."""

from __future__ import annotations

import functools
import inspect
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pkgutil import resolve_name
from typing import Any
from unittest.mock import patch


class Stopwatch:
    """Processor seconds by stage, each without those of the stages inside it.

    A coroutine is charged for what it does between its waits, and not for what it waits for.
    """

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self._adding = threading.Lock()
        self._here = threading.local()

    @contextmanager
    def round(self, functions: Mapping[str, str]) -> Iterator[None]:
        """Watch these functions ("module:name" to stage) for as long as the context lasts."""
        with ExitStack() as patches:
            for where, stage in functions.items():
                watched = self._watched(stage, resolve_name(where))
                patches.enter_context(patch(where.replace(":", "."), watched))
            yield

    def _watched(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def later(*args: Any, **given: Any) -> Any:
                return await _Steps(self, stage, function(*args, **given))

            return later

        @functools.wraps(function)
        def now(*args: Any, **given: Any) -> Any:
            with self.on(stage):
                return function(*args, **given)

        return now

    @contextmanager
    def on(self, stage: str) -> Iterator[None]:
        """Charge a stage until the context is left; the one that was charged before is charged again then."""
        stages = self._here.__dict__.setdefault("stages", [])
        self._charge(stages)
        stages.append(stage)
        try:
            yield
        finally:
            self._charge(stages)
            stages.pop()

    def _charge(self, stages: list[str]) -> None:
        now = time.thread_time()
        if stages:
            with self._adding:
                self.seconds[stages[-1]] += now - self._here.since
        self._here.since = now


class _Steps:
    """A coroutine that is charged for each of its steps."""

    def __init__(self, watch: Stopwatch, stage: str, coroutine: Any) -> None:
        self._watch = watch
        self._stage = stage
        self._coroutine = coroutine

    def __await__(self) -> Generator[Any, Any, Any]:
        step = functools.partial(self._coroutine.send, None)
        while True:
            with self._watch.on(self._stage):
                try:
                    pending = step()
                except StopIteration as done:
                    return done.value
            try:
                step = functools.partial(self._coroutine.send, (yield pending))
            except BaseException as error:  # noqa: BLE001 (whatever it is, it is the coroutine's to deal with)
                step = functools.partial(self._coroutine.throw, error)


class Stages:
    """How long each stage of a bulk load took, from its first word to that of the next."""

    def __init__(self) -> None:
        self._now = "Starting"
        self._since = time.perf_counter()
        self._seconds: dict[str, float] = {}

    def told(self, stage: str, done: int, total: int) -> None:
        """Called by a bulk load as it goes on."""
        if stage != self._now:
            self._end()
            self._now = stage
            print(f"    {stage}", file=sys.stderr, flush=True)

    def ended(self) -> dict[str, float]:
        """Seconds by stage."""
        self._end()
        return self._seconds

    def _end(self) -> None:
        now = time.perf_counter()
        self._seconds[self._now] = self._seconds.get(self._now, 0.0) + now - self._since
        self._since = now
