"""Circles in circles: where to draw a tree so that each part lies within its whole, and nothing overlaps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

_GAP = 2.0  # between circles side by side
_Places = NDArray[np.float64]


@dataclass
class Circle:
    """A circle, and those in it. `r` is given where there are none, and follows from them otherwise.

    x and y are seen from the middle of the circle round it until `place` has been called.
    """

    name: str
    r: float = 0.0
    inner: list[Circle] = field(default_factory=list)
    rim: float = 3.0  # room between its edge and what is in it
    x: float = 0.0
    y: float = 0.0
    level: int = 0

    def all(self) -> Iterator[Circle]:
        """Itself and all within, the outer ones first."""
        yield self
        for one in self.inner:
            yield from one.all()


def pack(circles: Sequence[Circle], flat: float = 1.0) -> None:
    """Give circles side by side, and what is in them, their sizes and places round the middle.

    The heap that they make is so many times as wide as it is high.
    """
    for one in circles:
        if one.inner:
            pack(one.inner)
            one.r = _round(one.inner) + one.rim
    largest_first = sorted(circles, key=lambda one: -one.r)
    radii = np.array([one.r + _GAP / 2 for one in largest_first])
    places = np.zeros((len(circles), 2))
    for n in range(1, len(circles)):
        places[n] = _beside(places[:n], radii[:n], radii[n], flat)
    for one, (x, y) in zip(largest_first, places.tolist(), strict=True):
        one.x, one.y = x, y


def place(circles: Sequence[Circle], x: float = 0.0, y: float = 0.0, level: int = 0) -> None:
    """Let x and y of all circles be seen from the same point, and levels tell how deep they lie."""
    for one in circles:
        one.x, one.y, one.level = one.x + x, one.y + y, level
        place(one.inner, one.x, one.y, level + 1)


def _beside(places: _Places, radii: NDArray[np.float64], r: float, flat: float) -> _Places:
    """Where a circle touches two of those that are there, overlaps none, and is nearest to the middle of them all."""
    if len(places) == 1:
        return np.array([radii[0] + r, 0.0])
    i, j = np.triu_indices(len(places), 1)
    across = places[j] - places[i]
    apart = np.hypot(*across.T)
    near, far = radii[i] + r, radii[j] + r
    reach = (apart < near + far) & (apart > 0)
    i, across, apart, near, far = i[reach], across[reach], apart[reach], near[reach], far[reach]
    along = (near**2 - far**2 + apart**2) / (2 * apart)
    aside = np.sqrt(np.maximum(near**2 - along**2, 0))
    unit = across / apart[:, None]
    foot, off = places[i] + along[:, None] * unit, aside[:, None] * np.stack((-unit[:, 1], unit[:, 0]), 1)
    tried = np.concatenate((foot + off, foot - off))
    away = tried - np.average(places, axis=0, weights=radii**2)
    order = np.argsort(np.hypot(away[:, 0] / flat, away[:, 1]), kind="stable")
    for one in order.tolist():
        if (np.hypot(*(places - tried[one]).T) >= radii + r - 1e-6).all():
            return np.array(tried[one])
    raise AssertionError("there is always room outside")


def _round(circles: Sequence[Circle]) -> float:
    """The radius of about the smallest circle round others, whose middle becomes theirs."""
    x = y = 0.0
    step = 0.5
    while step > 1e-4:  # go towards the furthest, by less and less
        furthest = max(circles, key=lambda one: math.hypot(one.x - x, one.y - y) + one.r)
        x, y = x + (furthest.x - x) * step, y + (furthest.y - y) * step
        step *= 0.97
    for one in circles:
        one.x, one.y = one.x - x, one.y - y
    return max(math.hypot(one.x, one.y) + one.r for one in circles)
