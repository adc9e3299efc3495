"""Merging the results of several searches into one order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Generic, NamedTuple, TypeVar
from uuid import UUID

from trueweave.core.evidence import Scored

T = TypeVar("T")


class RankedHit(NamedTuple, Generic[T]):
    """A search hit: the item, its best similarity, and its position among all hits, from 0."""

    order: int
    score: float
    item: T


def together(found: Iterable[Sequence[Scored[T]]], id_of: Callable[[T], UUID]) -> dict[UUID, RankedHit[T]]:
    """Everything that any search found, each with its best hit, most similar first.

    The hits of all searches are ordered by their similarity, whichever keyword they were found by. A repeated hit on
    the same item still takes up a position.
    """
    hits = sorted((one for some in found for one in some), key=lambda one: (-one.score, id_of(one.item)))
    first: dict[UUID, RankedHit[T]] = {}
    for order, one in enumerate(hits):
        first.setdefault(id_of(one.item), RankedHit(order, one.score, one.item))
    return first
