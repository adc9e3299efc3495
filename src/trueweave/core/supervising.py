"""Background tasks: one that fails, or ends too early, is logged and restarted, and the process is not ready until
then.

All background tasks of a process are started by `background` or `running`, and `down` names those that have failed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable
from contextlib import asynccontextmanager

from psycopg import Error

from trueweave.core.errors import ConfigError, DatabaseError

_log = logging.getLogger(__name__)

_FIRST_DELAY, _LONGEST_DELAY = 1.0, 60.0  # seconds before a task is restarted, doubled at each failure
_STEADY = 60.0  # seconds after which a task that runs counts as recovered


class Delays:
    """Growing delays in seconds, one for each key, such as a workspace: doubled at each failure, up to `longest`."""

    def __init__(self, first: float, longest: float) -> None:
        self._first = first
        self._longest = longest
        self._last: dict[Hashable, float] = {}

    def failed(self, key: Hashable) -> float:
        """The delay before the next try."""
        delay = min(2 * self._last.get(key, self._first / 2), self._longest)
        self._last[key] = delay
        return delay

    def succeeded(self, key: Hashable) -> None:
        """Start from the shortest delay at the next failure."""
        self._last.pop(key, None)


_down: dict[object, str] = {}  # the names of tasks that have failed and are waiting to be restarted, by task


def down() -> list[str]:
    """The names of the background tasks of this process that have failed and are waiting to be restarted."""
    return sorted(set(_down.values()))


def background(name: str, act: Callable[[], Awaitable[None]], stop: asyncio.Event | None = None) -> asyncio.Task[None]:
    """A task that runs `act` until it ends after `stop` was set, or until the task is cancelled. When `act` fails or
    ends before, it is run again after a delay, which is cut short by `stop`."""
    return asyncio.create_task(_keep_running(name, act, stop or asyncio.Event()), name=name)


@asynccontextmanager
async def running(name: str, act: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
    """Run a background task during this context, and cancel it at the end."""
    task = background(name, act)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _keep_running(name: str, act: Callable[[], Awaitable[None]], stop: asyncio.Event) -> None:
    task, delays, clock = object(), Delays(_FIRST_DELAY, _LONGEST_DELAY), asyncio.get_running_loop()
    try:
        while True:
            began = clock.time()
            failure = await _failure(act)
            if stop.is_set() and failure is None:
                return
            if clock.time() - began > _STEADY:
                delays.succeeded(name)
            delay = delays.failed(name)
            _down[task] = name
            _report(name, failure, delay)
            if await _is_set_within(stop, delay):
                return
            del _down[task]
    finally:
        _down.pop(task, None)


async def _failure(act: Callable[[], Awaitable[None]]) -> Exception | None:
    try:
        await act()
    except Exception as error:  # noqa: BLE001 (whatever it is, it is logged and the task is restarted)
        return error
    return None


async def _is_set_within(event: asyncio.Event, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True


def _report(name: str, failure: Exception | None, delay: float) -> None:
    about = {"task": name, "error_type": type(failure).__name__ if failure else "", "wait_seconds": delay}
    _log.error(
        "background task %s %s; restarting it in %g s",
        name,
        _said(failure),
        delay,
        extra={"event": "task.down", **about},
    )
    if failure:
        _log.debug("traceback of the task", exc_info=failure, extra={"event": "task.down.traceback", **about})


def _said(failure: Exception | None) -> str:
    """What happened, without the text of an unexpected error, which may quote a document."""
    if failure is None:
        return "ended unexpectedly"
    if isinstance(failure, DatabaseError | ConfigError | Error):
        return f"failed: {next(iter(str(failure).strip().splitlines()), type(failure).__name__)}"
    return f"failed: unexpected {type(failure).__name__}"
