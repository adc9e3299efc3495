"""Retries of model calls after temporary failures.

A question fails at once if the server accepts no connection: it is not running, or the URL is wrong. Documents being
added wait for it, and the listener receives `Waiting`.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from trueweave.core.errors import ModelUnavailable
from trueweave.core.events import Waiting, is_given_up, tell

_log = logging.getLogger(__name__)

T = TypeVar("T")

_REPORTED = 1.0  # seconds; shorter waits are not reported to the listener


@dataclass(frozen=True, slots=True)
class Patience:
    """How often to try, and how long to wait in between: up to `first` seconds, then up to twice that, and so on.

    No wait is longer than `longest` seconds. If a server asks for a longer one, the call fails at once.
    """

    tries: int = 6
    first: float = 1.0
    longest: float = 60.0

    def __post_init__(self) -> None:
        if self.tries < 1 or self.first < 0 or self.longest < 0:
            raise ValueError(f"{self} is invalid: try at least once, and wait for no negative time")


class Clock:
    """The clock. Tests replace it."""

    def now(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def jitter(self) -> float:
        """A random number from 0 to 1."""
        return random.random()


class Contact:
    """Whether a model has answered in this process."""

    has_answered = False


class Tries:
    """The failed tries of one call so far."""

    def __init__(self, model: str, patience: Patience, clock: Clock, contact: Contact) -> None:
        self._model = model
        self._patience = patience
        self._clock = clock
        self.contact = contact
        self._began = clock.now()
        self._charged = False
        self._made = 0

    async def wait_after(self, error: ModelUnavailable) -> None:
        """Wait before the next try. Raises if the try that failed with this error was the last."""
        await self._clock.sleep(self._pause_after(error))

    def _pause_after(self, error: ModelUnavailable) -> float:
        if error.unreachable and is_given_up(has_answered=self.contact.has_answered):
            raise error
        self._made += 1
        self._charged |= error.charged
        wait, longest = error.retry_after or 0.0, self._patience.longest
        if self._made == self._patience.tries or wait > longest:
            problem = _given_up(error, self._made, self._clock.now() - self._began, wait > longest)
            raise ModelUnavailable(problem, retry_after=error.retry_after, charged=self._charged) from error
        # Full jitter, so that calls that failed together are not retried together.
        backoff = min(longest, self._patience.first * 2.0 ** (self._made - 1))
        pause = min(longest, wait + self._clock.jitter() * backoff)
        # Without the error's text: a server may quote the prompt in it.
        about = {"model": self._model, "attempt": self._made, "attempts": self._patience.tries}
        _log.warning(
            "%s is not available; trying again in %.1f s",
            self._model,
            pause,
            extra={"event": "model.retry", **about, "wait_seconds": round(pause, 3)},
        )
        if pause >= _REPORTED:
            tries = f"{self._made + 1} of {self._patience.tries}"
            tell(Waiting(f"{error} Trying again in {pause:.0f} s ({tries}).", pause=pause))
        return pause


async def retry(ask: Callable[[], Awaitable[T]], tries: Tries) -> T:
    """The result of `ask`, which is called again after temporary failures."""
    while True:
        try:
            found = await ask()
            tries.contact.has_answered = True
            return found
        except ModelUnavailable as error:
            await tries.wait_after(error)


def _given_up(error: ModelUnavailable, tried: int, spent: float, is_asked_too_much: bool) -> str:
    times = "once" if tried == 1 else f"{tried} times in {spent:.0f} s"
    wish = f" It asks callers to wait for {error.retry_after:.0f} s." if is_asked_too_much else ""
    return f"{error} Tried {times}.{wish} Try again later."
