"""OpenTelemetry spans, with the names of its conventions for generative AI where they exist.

Without an SDK no span is created, which costs about a microsecond. No span has text of questions, prompts, replies or
documents, nor the message of an error, which may quote them: only what was done, how much of it, and how it ended.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import AbstractContextManager, aclosing, contextmanager, nullcontext
from typing import TypeVar

from opentelemetry import propagate, trace
from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, Status, StatusCode
from opentelemetry.util.types import AttributeValue

from trueweave.core.errors import TrueweaveError

T = TypeVar("T")
Attributes = Mapping[str, AttributeValue]

_NAMES = frozenset({"traceparent", "tracestate"})
_tracer = trace.get_tracer("trueweave")


def failure_name(error: BaseException) -> str:
    """The kind of failure, one of few names: a Trueweave error, a bug, or cancelled."""
    if isinstance(error, TrueweaveError):
        return type(error).__name__
    return "bug" if isinstance(error, Exception) else "cancelled"


def span(
    name: str,
    attributes: Attributes | None = None,
    *,
    kind: SpanKind = SpanKind.INTERNAL,
    parent: Context | None = None,
) -> AbstractContextManager[Span]:
    """A span, the parent of those that are opened within. Not for a generator that yields inside: the span would leak
    into the consumer's context."""
    opened = _tracer.start_span(name, parent, kind=kind, attributes=attributes)
    return _within(opened) if _is_traced(opened) else nullcontext(opened)


def open_span(
    name: str, attributes: Attributes | None = None, *, kind: SpanKind = SpanKind.INTERNAL
) -> AbstractContextManager[Span]:
    """A span without children, unless pieces are `carried` by it: for generators."""
    opened = _tracer.start_span(name, kind=kind, attributes=attributes)
    return _ending(opened) if _is_traced(opened) else nullcontext(opened)


def carried(parent: Span, pieces: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
    """These pieces; spans opened while producing each are children of this one."""
    return _carried(parent, pieces) if _is_traced(parent) else pieces


async def _carried(parent: Span, pieces: AsyncGenerator[T, None]) -> AsyncGenerator[T, None]:
    async with aclosing(pieces):
        while True:
            with _inside(parent):
                try:
                    piece = await anext(pieces)
                except StopAsyncIteration:
                    return
            yield piece


@contextmanager
def _within(opened: Span) -> Iterator[Span]:
    with _ending(opened), _inside(opened):
        yield opened


@contextmanager
def _ending(opened: Span) -> Iterator[Span]:
    try:
        yield opened
    except BaseException as error:
        opened.set_attribute("error.type", failure_name(error))
        if isinstance(error, Exception):
            opened.set_status(Status(StatusCode.ERROR))
        raise
    finally:
        opened.end()


def _inside(parent: Span) -> AbstractContextManager[Span]:
    return trace.use_span(parent, record_exception=False, set_status_on_exception=False)


def _is_traced(opened: Span) -> bool:
    """Whether there is a trace at all: even an unsampled trace must be propagated."""
    return opened.get_span_context().is_valid


def carrier() -> str | None:
    """The current trace for another process, as a `traceparent`; None if there is none."""
    told: dict[str, str] = {}
    if _is_traced(trace.get_current_span()):
        propagate.inject(told)
    return told.get("traceparent")


def carried_from(told: Mapping[str, str]) -> Context | None:
    """The trace of another process, from its headers; None if there is none."""
    found = {name: told[name] for name in _NAMES if told.get(name)}
    return propagate.extract(found) if found else None
