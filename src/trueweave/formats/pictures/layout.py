"""The layout of a picture: related entities near each other, none on top of another, and names that do not overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]

_ROUNDS = 300
_GOLDEN = np.pi * (3 - np.sqrt(5))
_GRAVITY = 0.03  # keeps unconnected parts together
_APART_ROUNDS = 100
_WIDE = 0.56  # approximate width of a letter as a share of its height


class Box(NamedTuple):
    """A rectangle."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        """Whether the two overlap."""
        return (
            self.left < other.right and other.left < self.right and self.top < other.bottom and other.top < self.bottom
        )


def placed(number: int, edges: Sequence[tuple[int, int, float]], width: float, height: float) -> Points:
    """A position for each of `number` points in a frame, by the forces of Fruchterman and Reingold (1991), always from
    the same start, so that equal graphs have equal pictures. An edge is two points and its weight."""
    if number == 1:
        return np.array([[width / 2, height / 2]])
    return _fitted(_apart(_relaxed(number, edges)), width, height)


def _relaxed(number: int, edges: Sequence[tuple[int, int, float]]) -> Points:
    """Points that repel each other and are held together by edges, once they have settled. The distance of neighbours
    is about 1."""
    turn, way = _GOLDEN * np.arange(number), np.sqrt(np.arange(number) + 0.5)
    at = np.column_stack((way * np.cos(turn), way * np.sin(turn)))
    pairs = np.array([(a, b) for a, b, _ in edges if a != b], dtype=np.int64).reshape(-1, 2)
    pull = 1 + np.log1p(np.array([weight for a, b, weight in edges if a != b])) / 4
    degree = np.bincount(pairs.ravel(), minlength=number)
    push = 1 + np.log1p(degree)  # a point with many neighbours needs room for them
    for round_ in range(_ROUNDS):
        away = at[:, None, :] - at[None, :, :]
        squares = np.maximum((away**2).sum(axis=2), 1e-4)
        force = (away * (push[:, None] * push[None, :] / squares)[:, :, None]).sum(axis=1)
        along = at[pairs[:, 0]] - at[pairs[:, 1]]
        held = along * (np.sqrt((along**2).sum(axis=1)) * pull)[:, None]
        np.add.at(force, pairs[:, 0], -held)
        np.add.at(force, pairs[:, 1], held)
        force -= _GRAVITY * at * push[:, None] * np.sqrt(number)
        size = np.sqrt((force**2).sum(axis=1))[:, None]
        most = 0.02 + (np.sqrt(number) / 4) * (1 - round_ / _ROUNDS) ** 2
        at = at + force / np.maximum(size, 1e-9) * np.minimum(size, most)
    return at


def _apart(at: Points) -> Points:
    """The points, with none closer to another than a share of the usual distance of neighbours."""
    away = np.sqrt(((at[:, None, :] - at[None, :, :]) ** 2).sum(axis=2))
    np.fill_diagonal(away, np.inf)
    least = 0.7 * float(np.median(away.min(axis=1)))
    for _ in range(_APART_ROUNDS):
        between = at[:, None, :] - at[None, :, :]
        away = np.sqrt((between**2).sum(axis=2))
        np.fill_diagonal(away, np.inf)
        lacking = np.maximum(least - away, 0)
        if not lacking.any():
            break
        at = at + (between / np.maximum(away, 1e-6)[:, :, None] * lacking[:, :, None]).sum(axis=1) / 2
    return at


def _fitted(at: Points, width: float, height: float) -> Points:
    """The points, rotated so that the longest extent is along the longer side, and scaled to fill the frame."""
    at = at - at.mean(axis=0)
    _, axes = np.linalg.eigh(np.cov(at.T))
    longest = axes[:, ::-1] * np.where(axes[:, ::-1].sum(axis=0) < 0, -1, 1)
    at = at @ (longest if width >= height else longest[:, ::-1])
    low, extent = at.min(axis=0), np.maximum(np.ptp(at, axis=0), 1e-9)
    room = np.array([width, height])
    scale = room / extent
    scale = np.minimum(scale, 1.6 * scale.min())  # stretched a little, where that fills the frame
    return np.asarray((at - low) * scale + (room - extent * scale) / 2)


def text_width(text: str, size: float) -> float:
    """The approximate width of a text in letters of this size: wide characters count almost double."""
    return size * _WIDE * sum(1.8 if ord(one) >= 0x1100 else 1 for one in text)


def labelled(at: Sequence[tuple[float, float]], boxes: Sequence[Sequence[Box]]) -> list[int | None]:
    """For each point, the first of its boxes that is free for its name; None if none is. Earlier points choose first.
    No name covers a point."""
    taken: list[Box] = [Box(x - 2, y - 2, x + 2, y + 2) for x, y in at]
    chosen: list[int | None] = []
    for places in boxes:
        free = next((n for n, box in enumerate(places) if not any(box.meets(other) for other in taken)), None)
        chosen.append(free)
        if free is not None:
            taken.append(places[free])
    return chosen
