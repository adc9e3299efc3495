"""Patience: models asked again after failures that pass by themselves."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from weft.errors import ModelUnavailable
from weft.models.around import AroundEmbedder, AroundLLM
from weft.protocols import Vectors
from weft.types import Prompt, Purpose, Reply

T = TypeVar("T")

WORTH_TELLING = 3.0  # seconds


@dataclass(frozen=True, slots=True)
class Patience:
    """How often to try, and how long to wait in between: up to `first` seconds, then up to twice that, and so on.

    No wait is longer than `longest` seconds. A server that asks for a longer one is given up at once.
    """

    tries: int = 6
    first: float = 1.0
    longest: float = 60.0

    def __post_init__(self) -> None:
        if self.tries < 1 or self.first < 0 or self.longest < 0:
            raise ValueError(f"{self} makes no sense: try once at least, and wait for no negative time")


class Clock:
    """The time, and how to let it pass. Tests have one of their own."""

    def now(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    def jitter(self) -> float:
        """A random number from 0 to 1."""
        return random.random()


def _untold(_: str) -> None:
    """Nobody wants to know."""


@dataclass(frozen=True)
class Retrying(AroundLLM):
    """A chat model that is asked again while it is unavailable. `waiting` is told why, before each longer wait."""

    patience: Patience = Patience()
    clock: Clock = field(default_factory=Clock, repr=False)
    waiting: Callable[[str], None] = field(default=_untold, repr=False)

    async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        """The model's whole reply, after as many tries as it takes."""
        return await _patiently(lambda: self.llm.complete(prompt, purpose), self.patience, self.clock, self.waiting)


@dataclass(frozen=True)
class RetryingEmbedder(AroundEmbedder):
    """An embedder that is asked again while it is unavailable."""

    patience: Patience = Patience()
    clock: Clock = field(default_factory=Clock, repr=False)
    waiting: Callable[[str], None] = field(default=_untold, repr=False)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text, in order, after as many tries as it takes."""
        return await _patiently(lambda: self.embedder.embed(texts), self.patience, self.clock, self.waiting)


async def _patiently(
    ask: Callable[[], Awaitable[T]], patience: Patience, clock: Clock, waiting: Callable[[str], None]
) -> T:
    began = clock.now()
    charged = False
    tried = 0
    while True:
        tried += 1
        try:
            return await ask()
        except ModelUnavailable as error:
            wait = error.retry_after or 0.0
            charged |= error.charged
            if tried == patience.tries or wait > patience.longest:
                problem = _given_up(error, tried, clock.now() - began, wait > patience.longest)
                raise ModelUnavailable(problem, retry_after=error.retry_after, charged=charged) from error
            reason = str(error)
        # Any time up to the backoff, so that those who failed together do not come back together.
        backoff = min(patience.longest, patience.first * 2.0 ** (tried - 1))
        pause = min(patience.longest, wait + clock.jitter() * backoff)
        if pause >= WORTH_TELLING:
            waiting(f"{reason} Trying again in {pause:.0f} s.")
        await clock.sleep(pause)


def _given_up(error: ModelUnavailable, tried: int, spent: float, is_asked_too_much: bool) -> str:
    times = "once" if tried == 1 else f"{tried} times in {spent:.0f} s"
    wish = f" It asks to be left alone for {error.retry_after:.0f} s." if is_asked_too_much else ""
    return f"{error} Tried {times}.{wish} Try again later."
