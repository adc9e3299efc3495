"""Typed measurements of questions and model calls, for metrics. Events, for people, are in core/events.py.

No measurement has text or names a workspace, a document or a caller: whoever operates the process sees all metrics, and
the number of time series must not grow with the number of tenants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from trueweave.core.evidence import Trace

Operation = Literal["chat", "embeddings", "rerank"]


@dataclass(frozen=True, slots=True)
class Searched:
    """A method has searched for a question, in these steps."""

    trace: Trace


@dataclass(frozen=True, slots=True)
class QuestionAnswered:
    """A question was answered with a method, in `seconds` including the search."""

    method: str
    seconds: float


@dataclass(frozen=True, slots=True)
class ModelCalled:
    """A model was called once, and its reply read. A `failure` is the name of an error's class; empty without one."""

    operation: Operation
    model: str
    seconds: float
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Charged:
    """A model call was charged to the budget of its workspace. An unknown price is None."""

    model: str
    stage: str
    tokens_in: int
    tokens_out: int
    price: Decimal | None
    currency: str


@dataclass(frozen=True, slots=True)
class CacheLookup:
    """Lookups in the reply cache: the number of hits and misses."""

    operation: Operation
    hits: int
    misses: int


Measurement = Searched | QuestionAnswered | ModelCalled | Charged | CacheLookup
Measure = Callable[[Measurement], None]


def _unmeasured(_: Measurement) -> None:
    """Ignore a measurement."""


_measure: ContextVar[Measure] = ContextVar("measure", default=_unmeasured)


@contextmanager
def measured_by(measure: Measure) -> Iterator[None]:
    """Send measurements in this context, and in tasks started in it, to `measure`."""
    before = _measure.set(measure)
    try:
        yield
    finally:
        _measure.reset(before)


def measure(measurement: Measurement) -> None:
    """Report a measurement."""
    _measure.get()(measurement)
