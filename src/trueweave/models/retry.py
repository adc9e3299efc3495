"""Retries of model calls after temporary failures.

A question fails at once when the server takes no connection: it is not running, or the URL is wrong. Documents that are
being added wait for it, and the listener is told so.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from trueweave.core.errors import ModelUnavailable
from trueweave.core.events import is_given_up
from trueweave.core.model_calls import Prompt, Purpose, TextRole
from trueweave.core.protocols import Vectors
from trueweave.models.wrappers import Ask, EmbedderWrapper, LLMWrapper, ReplyStream, RerankerWrapper, Stream

_log = logging.getLogger(__name__)

T = TypeVar("T")
Told = Callable[[str, float], None]

WORTH_TELLING = 1.0  # seconds


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


def _untold(_reason: str, _pause: float) -> None:
    """Ignore it."""


class Contact:
    """Whether a model has answered in this process."""

    has_answered = False


@dataclass(frozen=True)
class Retrying(LLMWrapper):
    """A chat model that is asked again while it is unavailable. `waiting` is called with the reason and the seconds
    before each longer wait."""

    patience: Patience = Patience()
    clock: Clock = field(default_factory=Clock, repr=False)
    waiting: Told = field(default=_untold, repr=False)
    contact: Contact = field(default_factory=Contact, repr=False)

    async def _call(self, prompt: Prompt, purpose: Purpose, ask: Ask) -> Stream:
        """The model's reply, after as many tries as it takes. Once a piece was passed on there is no retry, as the
        caller has it already."""
        tries = _Tries(self.model, self.patience, self.clock, self.waiting, self.contact)
        while True:
            async with aclosing(ReplyStream(ask())) as heard:
                try:
                    async for piece in heard:
                        self.contact.has_answered = True
                        yield piece
                    self.contact.has_answered = True
                    break
                except ModelUnavailable as error:
                    if heard.begun:
                        problem = f"{error} A part of the reply had come by then. Ask again."
                        raise ModelUnavailable(problem, retry_after=error.retry_after, charged=error.charged) from error
                    pause = tries.pause_after(error)
            await self.clock.sleep(pause)
        yield heard.reply


@dataclass(frozen=True)
class RetryingEmbedder(EmbedderWrapper):
    """An embedder that is asked again while it is unavailable."""

    patience: Patience = Patience()
    clock: Clock = field(default_factory=Clock, repr=False)
    waiting: Told = field(default=_untold, repr=False)
    contact: Contact = field(default_factory=Contact, repr=False)

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        """One row per text, in order, after as many tries as it takes."""
        ask = partial(self.embedder.embed, texts, role)
        return await patiently(self.model, ask, self.patience, self.clock, self.waiting, self.contact)


@dataclass(frozen=True)
class RetryingReranker(RerankerWrapper):
    """A reranker that is asked again while it is unavailable."""

    patience: Patience = Patience()
    clock: Clock = field(default_factory=Clock, repr=False)
    waiting: Told = field(default=_untold, repr=False)
    contact: Contact = field(default_factory=Contact, repr=False)

    async def score(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """One score per text, in order, after as many tries as it takes."""
        ask = partial(self.reranker.score, question, texts)
        return await patiently(self.model, ask, self.patience, self.clock, self.waiting, self.contact)


class _Tries:
    """The tries of one call so far."""

    def __init__(self, model: str, patience: Patience, clock: Clock, waiting: Told, contact: Contact) -> None:
        self._model = model
        self._patience = patience
        self._clock = clock
        self._waiting = waiting
        self._contact = contact
        self._began = clock.now()
        self._charged = False
        self._made = 0

    def pause_after(self, error: ModelUnavailable) -> float:
        """How many seconds to wait before the next try, after this one failed. Raises when it was the last."""
        if error.unreachable and is_given_up(has_answered=self._contact.has_answered):
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
        if pause >= WORTH_TELLING:
            tries = f"{self._made + 1} of {self._patience.tries}"
            self._waiting(f"{error} Trying again in {pause:.0f} s ({tries}).", pause)
        return pause


async def patiently(
    model: str, ask: Callable[[], Awaitable[T]], patience: Patience, clock: Clock, waiting: Told, contact: Contact
) -> T:
    """What `ask` gives of a model, after as many tries as it takes."""
    tries = _Tries(model, patience, clock, waiting, contact)
    while True:
        try:
            found = await ask()
            contact.has_answered = True
            return found
        except ModelUnavailable as error:
            pause = tries.pause_after(error)
        await clock.sleep(pause)


def _given_up(error: ModelUnavailable, tried: int, spent: float, is_asked_too_much: bool) -> str:
    times = "once" if tried == 1 else f"{tried} times in {spent:.0f} s"
    wish = f" It asks to be left alone for {error.retry_after:.0f} s." if is_asked_too_much else ""
    return f"{error} Tried {times}.{wish} Try again later."
