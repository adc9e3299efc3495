"""Counts model calls for the caller of a request, in addition to its workspace, if the caller has a limit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import Decimal
from typing import Protocol

from trueweave.core.model_calls import Call


class CallerMeter(Protocol):
    """Counts the model usage of one request."""

    async def admit(self, call: Call) -> None:
        """Called before each call to a model. KeyLimitReached if the limit is used up."""
        ...

    def add(self, tokens: int, price: Decimal | None) -> None:
        """Called with the usage of a call; a price of None is unknown."""
        ...


_current: ContextVar[CallerMeter | None] = ContextVar("_current", default=None)


@contextmanager
def metered(meter: CallerMeter | None) -> Iterator[None]:
    """Count model calls for this meter, including those of tasks started in this context."""
    token = _current.set(meter)
    try:
        yield
    finally:
        _current.reset(token)


async def admit(call: Call) -> None:
    """A call is about to be made."""
    if meter := _current.get():
        await meter.admit(call)


def add(tokens: int, price: Decimal | None) -> None:
    """Count the usage of a call."""
    if meter := _current.get():
        meter.add(tokens, price)
