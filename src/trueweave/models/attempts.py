"""Attempts at a paid call: each reserves money, takes a rate limit slot, and is booked separately.

The maximum cost of a call is reserved before it is made, so that a budget is never exceeded. After a temporary failure,
the call is attempted again after a pause, during which nothing is reserved and no slot is taken.
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
    """The terms for all calls of one model: the budget that pays for them, their price, and their limits. `price` is
    None if it is unknown, and recorded as unknown.

    `places` limits the calls of this process with reserved money, including those waiting for a slot: if the process is
    killed, the reserved money is booked as lost. With `traces_content`, spans contain prompts and replies.
    """

    ledger: Ledger
    limiter: RateLimiter
    places: asyncio.Semaphore
    price: Price | None
    currency: str = "USD"
    patience: Patience = field(default_factory=Patience)
    clock: Clock = field(default_factory=Clock, repr=False)
    contact: Contact = field(default_factory=Contact, repr=False)
    traces_content: bool = False

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
    """One attempt at a call. Entering it reserves the maximum cost of the call, or raises BudgetReached if less than
    that is left. ModelUnavailable is not raised but stored as `failure`.

    Set `begun` before passing on a part of the reply: the caller then has it, so the call cannot be repeated.
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
        """A rate limit slot, held while the model is called."""
        async with self._terms.limiter.acquire(self._call.tokens_in // _BYTES_A_TOKEN + self._call.tokens_out):
            self._is_sent = True
            yield
            self._terms.contact.has_answered = True

    async def book(self, tokens_in: int, tokens_out: int = 0) -> Decimal | None:
        """Book the cost of the call and release the rest of the reserved money. Returns the price; None if unknown."""
        self._is_booked = True
        price = self._terms.price.of(tokens_in, tokens_out) if self._terms.price else None
        caller_usage.add(tokens_in + tokens_out, price)
        await asyncio.shield(self._terms.ledger.book(self._id, tokens_in, tokens_out, price))
        stage, currency = self._call.purpose.stage, self._terms.currency
        measure(Charged(self._call.model, stage, tokens_in, tokens_out, price, currency))
        return price

    async def _release(self, error: BaseException) -> None:
        """Release the reserved money. A server that refused a call has not charged for it. One that did not answer, or
        whose caller stopped waiting, may have."""
        charged = error.charged if isinstance(error, ModelError) else self._is_sent
        if charged:
            caller_usage.add(self._call.tokens_in + self._call.tokens_out, self._call.price)
        await asyncio.shield(self._terms.ledger.release(self._id, charged=charged))
