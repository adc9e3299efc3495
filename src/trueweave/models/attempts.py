"""Attempts at a paid call: each holds money, takes a slot of the rate limit, and is booked on its own.

The most that a call may cost is held before it is made, so that a budget is never exceeded. An attempt that fails for a
while is made again after a pause, during which nothing is held and no slot is taken.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from types import TracebackType
from typing import Self
from uuid import UUID

from trueweave.core.errors import ModelError, ModelUnavailable
from trueweave.core.model_calls import Call, Purpose
from trueweave.core.money import Price
from trueweave.core.protocols import Ledger, RateLimiter
from trueweave.core.telemetry import caller_usage
from trueweave.core.telemetry.measurements import Charged, measure
from trueweave.models.retry import Clock, Contact, Patience, Tries

_BYTES_A_TOKEN = 3  # of most text; a rate limit needs no exact count


@dataclass(frozen=True)
class CallTerms:
    """What applies to all calls of one model: the budget that pays for them, their price, and their limits. An unknown
    `price` is None, and recorded as such.

    `places` bounds the calls of this process that hold money, including those that wait for a slot: if the process is
    killed, what they hold is booked as lost.
    """

    ledger: Ledger
    limiter: RateLimiter
    places: asyncio.Semaphore
    price: Price | None
    currency: str = "USD"
    patience: Patience = field(default_factory=Patience)
    clock: Clock = field(default_factory=Clock, repr=False)
    contact: Contact = field(default_factory=Contact, repr=False)

    def attempts(self, model: str, purpose: Purpose, most_in: int, most_out: int = 0) -> Attempts:
        """Attempts at a call of at most this many tokens, until one succeeds."""
        price = self.price.of(most_in, most_out) if self.price else None
        return Attempts(self, Call(model, purpose, most_in, most_out, price))


class Attempts:
    """Iterates over the attempts at one call until one succeeds. Raises the error of the last one."""

    def __init__(self, terms: CallTerms, call: Call) -> None:
        self._terms = terms
        self._call = call
        self._tries = Tries(call.model, terms.patience, terms.clock, terms.contact)
        self._last: Attempt | None = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Attempt:
        if self._last is not None:
            if self._last.failure is None:
                raise StopAsyncIteration
            await self._tries.wait_after(self._last.failure)
        self._last = Attempt(self._terms, self._call)
        return self._last


class Attempt:
    """One attempt at a call. While it is entered, the most that the call may cost is held; BudgetReached when that is
    more than is left. ModelUnavailable ends it without being raised, and is its `failure`.

    Set `begun` before a part of the reply is passed on: the caller has it, so the call cannot be made again.
    """

    def __init__(self, terms: CallTerms, call: Call) -> None:
        self.begun = False
        self.failure: ModelUnavailable | None = None
        self._terms = terms
        self._call = call
        self._id: UUID
        self._is_sent = False
        self._is_booked = False

    async def __aenter__(self) -> Self:
        await self._terms.places.acquire()
        try:
            await caller_usage.admit(self._call)
            self._id = await self._terms.ledger.reserve(self._call)
        except BaseException:
            self._terms.places.release()
            raise
        return self

    async def __aexit__(
        self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None
    ) -> bool:
        try:
            if error is not None and not self._is_booked:
                await self._release(error)
        finally:
            self._terms.places.release()
        if not isinstance(error, ModelUnavailable):
            return False
        if self.begun:
            problem = f"{error} A part of the reply had come by then. Ask again."
            raise ModelUnavailable(problem, retry_after=error.retry_after, charged=error.charged) from error
        self.failure = error
        return True

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """A slot of the rate limit, in which the model is asked."""
        async with self._terms.limiter.acquire(self._call.tokens_in // _BYTES_A_TOKEN + self._call.tokens_out):
            self._is_sent = True
            yield
            self._terms.contact.has_answered = True

    async def book(self, tokens_in: int, tokens_out: int = 0) -> Decimal | None:
        """Book what the call took, which frees the rest of what was held; the price, or None if it is unknown."""
        self._is_booked = True
        price = self._terms.price.of(tokens_in, tokens_out) if self._terms.price else None
        caller_usage.add(tokens_in + tokens_out, price)
        await asyncio.shield(self._terms.ledger.book(self._id, tokens_in, tokens_out, price))
        stage, currency = self._call.purpose.stage, self._terms.currency
        measure(Charged(self._call.model, stage, tokens_in, tokens_out, price, currency))
        return price

    async def _release(self, error: BaseException) -> None:
        """A server that refused a call has not charged for it. One that did not answer, or whose caller stopped
        waiting, may have."""
        charged = error.charged if isinstance(error, ModelError) else self._is_sent
        if charged:
            caller_usage.add(self._call.tokens_in + self._call.tokens_out, self._call.price)
        await asyncio.shield(self._terms.ledger.release(self._id, charged=charged))
