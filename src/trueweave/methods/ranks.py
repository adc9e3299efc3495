"""Ranks from several searches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar
from uuid import UUID

from trueweave.evidence import Scored

T = TypeVar("T")


def best_ranks(found: Iterable[Sequence[Scored[T]]], id_of: Callable[[T], UUID]) -> dict[UUID, tuple[int, T]]:
    """Everything that some search found, with its best rank in any of them, best first; of equals, the more similar."""
    best: dict[UUID, tuple[int, float, T]] = {}
    for some in found:
        for rank, one in enumerate(some):
            id_, now = id_of(one.item), (rank, -one.score, one.item)
            if id_ not in best or now[:2] < best[id_][:2]:
                best[id_] = now
    ordered = sorted(best.items(), key=lambda pair: (*pair[1][:2], pair[0]))
    return {id_: (rank, item) for id_, (rank, _, item) in ordered}
