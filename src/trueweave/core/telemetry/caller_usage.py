"""Counts model calls for the caller of a request, in addition to its workspace, if the caller has a limit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import Decimal
from typing import Protocol

from trueweave.core.model_calls import Call


class CallerMeter(Protocol):
    """Counts what models take for one request."""

    async def admit(self, call: Call) -> None:
        """Called before each call to a model. KeyLimitReached where none may be made."""
        ...

    def add(self, tokens: int, price: Decimal | None) -> None:
        """Called when a call has taken this; a price of None is unknown."""
        ...


_current: ContextVar[CallerMeter | None] = ContextVar("_current", default=None)


@contextmanager
def metered(meter: CallerMeter | None) -> Iterator[None]:
    """Count calls to models for this meter, also those of tasks that are begun in here."""
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
    """A call has taken this."""
    if meter := _current.get():
        meter.add(tokens, price)
