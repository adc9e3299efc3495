"""What several searches found, in one order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar
from uuid import UUID

from trueweave.core.evidence import Scored

T = TypeVar("T")


class RankedHit(NamedTuple, Generic[T]):
    """Something that was found: its place among all hits, from 0 on, and its best similarity."""

    order: int
    score: float
    item: T


def together(found: Iterable[Sequence[Scored[T]]], id_of: Callable[[T], UUID]) -> dict[UUID, RankedHit[T]]:
    """Everything that some search found, each with its best hit, most similar first.

    The hits of all searches are put in one order by their similarity: what is far from the keyword that it was found by
    comes behind whatever is nearer to another. A second hit of the same thing takes up a place.
    """
    hits = sorted((one for some in found for one in some), key=lambda one: (-one.score, id_of(one.item)))
    first: dict[UUID, RankedHit[T]] = {}
    for order, one in enumerate(hits):
        first.setdefault(id_of(one.item), RankedHit(order, one.score, one.item))
    return first
