"""Personalised PageRank over a small graph."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

import numpy as np

N = TypeVar("N", bound=Hashable)

_STEPS = 60  # by then, less than one millionth of the mass moves on, at the usual damping
_DIGITS = 12  # rounded, so that equal ranks do not differ by the order of addition


def personalised_pagerank(
    edges: Iterable[tuple[N, N, float]], seeds: Mapping[N, float], damping: float
) -> dict[N, float]:
    """The rank of each node: mass starts at the seeds, flows along undirected edges by their weights, and restarts in
    part at each step. Edges between the same nodes are added up; a node without edges has only its share of the
    restart."""
    listed = list(edges)
    place: dict[N, int] = {}
    for node in (*seeds, *(end for a, b, _ in listed for end in (a, b))):
        place.setdefault(node, len(place))
    size = len(place)
    ends = np.array([(place[a], place[b]) for a, b, _ in listed], dtype=np.int64).reshape(-1, 2)
    weights = np.array([weight for _, _, weight in listed for _ in range(2)])
    to, start = ends.ravel(), ends[:, ::-1].ravel()
    shares = weights / np.bincount(start, weights, size)[start] if listed else weights
    restart = np.zeros(size)
    for node, weight in seeds.items():
        restart[place[node]] += weight
    ranks = restart
    for _ in range(_STEPS):
        moved = damping * np.bincount(to, ranks[start] * shares, size)
        ranks = (1 - damping) * restart + moved
    return {node: round(float(rank), _DIGITS) for node, rank in zip(place, ranks, strict=True)}
