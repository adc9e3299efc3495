"""Merging the evidence of several methods."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, zip_longest
from typing import Protocol, TypeVar
from uuid import UUID

from trueweave.core.evidence import Evidence, Keywords, Passage


class _HasId(Protocol):
    @property
    def id(self) -> UUID: ...


T = TypeVar("T")
I = TypeVar("I", bound=_HasId)  # noqa: E741


def interleaved(evidence: Sequence[Evidence]) -> Evidence:
    """All the evidence without repeats: the first of each, then the second of each, and so on."""
    return gathered(evidence, _distinct(in_turn([e.passages for e in evidence])))


def gathered(evidence: Sequence[Evidence], passages: Iterable[Passage]) -> Evidence:
    """These passages, with everything else in the evidence, without repeats."""
    return Evidence(
        tuple(passages),
        _distinct(in_turn([e.entities for e in evidence])),
        _distinct(in_turn([e.relations for e in evidence])),
        tuple(dict.fromkeys(chain.from_iterable(e.paths for e in evidence))),
        _distinct(in_turn([e.reports for e in evidence])),
        reason=" ".join(dict.fromkeys(e.reason for e in evidence if e.reason)),
        keywords=next((e.keywords for e in evidence if e.keywords != Keywords()), Keywords()),
        connections=tuple(dict.fromkeys(chain.from_iterable(e.connections for e in evidence))),
    )


def in_turn(lists: Sequence[Sequence[T]]) -> Iterable[T]:
    """The first of each, then the second of each, and so on."""
    nothing = object()
    for row in zip_longest(*lists, fillvalue=nothing):
        yield from (one for one in row if one is not nothing)  # type: ignore[misc]


def _distinct(things: Iterable[I]) -> tuple[I, ...]:
    first: dict[UUID, I] = {}
    for thing in things:
        first.setdefault(thing.id, thing)
    return tuple(first.values())
