"""Where communities and entities lie on the map: circles in circles, packed closely, with the members in the innermost.

The places depend only on the tree and on sizes. Radii are rounded up to steps, so that a community that grows a little
needs no more room: then nothing else on the map moves.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from trueweave.graph.aggregate import THOUSANDTHS
from trueweave.graph.communities import NONE, Tree
from trueweave.graph.louvain import Floats, Ints

_STEP = math.log(1.15)  # of radii, as a logarithm
_GOLDEN = math.pi * (3 - math.sqrt(5))
_RIM = 0.5  # room between the edge of a community and what is in it; members are about 1 apart
_GAP = 0.25  # between communities side by side, for each


class MapLayout(NamedTuple):
    """The centre and the radius of each community, the radius of the one `around` it (infinite if there is none), the
    place of each node, and the node of most relations in each community. Nodes in no community lie at 0, 0. The whole
    map is within the circle of radius 1 around 0, 0."""

    x: Floats
    y: Floats
    radius: Floats
    around: Floats
    node_x: Floats
    node_y: Floats
    best: Ints


class LeafLinks(NamedTuple):
    """The number and the weight of relations between nodes of two innermost communities, for each pair `a` < `b`. The
    weight is in thousandths, so that sums do not depend on the order."""

    a: Ints
    b: Ints
    relations: Ints
    weight: Ints


def leaf_links(tree: Tree, source: Ints, target: Ints, weight: Floats) -> LeafLinks:
    """What relates the innermost communities of a tree to each other."""
    ends = tree.leaf[source], tree.leaf[target]
    a, b = np.minimum(*ends), np.maximum(*ends)
    between = np.flatnonzero((a != b) & (a != NONE))
    number = tree.parent.size
    pairs, which = np.unique(a[between] * number + b[between], return_inverse=True)
    sums = np.zeros(pairs.size, np.int64)
    np.add.at(sums, which, np.rint(weight[between] * THOUSANDTHS).astype(np.int64))
    return LeafLinks(*np.divmod(pairs, max(number, 1)), np.bincount(which, minlength=pairs.size), sums)


def map_layout(tree: Tree, degree: Ints) -> MapLayout:
    """Where to draw the communities of a tree and their nodes. In each innermost community, the nodes of most relations
    are in the middle."""
    number = tree.parent.size
    radius, x, y = np.zeros(number), np.zeros(number), np.zeros(number)
    inside = np.flatnonzero(tree.leaf != NONE)
    order = inside[np.lexsort((inside, -degree[inside], tree.leaf[inside]))]
    rank = _ranks(tree.leaf[order])
    members = np.bincount(tree.leaf[inside], minlength=number)
    first = np.full(number + 1, tree.leaf.size, np.int64)  # the first node of each: an order that documents decide
    np.minimum.at(first, tree.leaf[inside], inside)
    children: list[list[int]] = [[] for _ in range(number + 1)]
    for one in range(number - 1, -1, -1):
        parent = int(tree.parent[one])
        first[parent if parent != NONE else number] = min(first[parent if parent != NONE else number], first[one])
        children[parent].append(one)  # those without a parent are at the end
    # Communities within a community follow it, so each is packed after all that are in it.
    for one in range(number - 1, -1, -1):
        within = _pack(children[one], radius, first, x, y) if children[one] else 0.0
        alone = math.sqrt(float(members[one])) if members[one] else 0.0
        radius[one] = _rounded(max(within, alone) + _RIM)
    whole = _rounded(_pack(children[NONE], radius, first, x, y)) if number else 1.0
    for one in range(number):
        if (parent := int(tree.parent[one])) != NONE:
            x[one] += x[parent]
            y[one] += y[parent]
    around = np.where(tree.parent == NONE, math.inf, radius[tree.parent] / whole)
    node_x, node_y = np.zeros(tree.leaf.size), np.zeros(tree.leaf.size)
    way, turn = np.sqrt(rank), rank * _GOLDEN
    node_x[order] = x[tree.leaf[order]] + way * np.cos(turn)
    node_y[order] = y[tree.leaf[order]] + way * np.sin(turn)
    best = _best(tree, degree, order[rank == 0])
    return MapLayout(x / whole, y / whole, radius / whole, around, node_x / whole, node_y / whole, best)


def _best(tree: Tree, degree: Ints, of_leaves: Ints) -> Ints:
    """The node of most relations in each community, from those in the innermost ones."""
    best = np.full(tree.parent.size, NONE, np.int64)
    best[tree.leaf[of_leaves]] = of_leaves
    for one in range(tree.parent.size - 1, -1, -1):
        if (parent := int(tree.parent[one])) == NONE:
            continue
        if best[parent] == NONE or degree[best[one]] > degree[best[parent]]:
            best[parent] = best[one]
    return best


def _ranks(groups: Ints) -> Ints:
    """For each element of sorted groups, its number within its group."""
    starts = np.flatnonzero(np.r_[True, groups[1:] != groups[:-1]]) if groups.size else np.zeros(0, np.int64)
    return np.arange(groups.size) - np.repeat(starts, np.diff(np.r_[starts, groups.size]))


def _rounded(radius: float) -> float:
    """The next step up."""
    return math.exp(math.ceil(math.log(radius) / _STEP - 1e-9) * _STEP) if radius > 0 else 0.0


def _pack(circles: list[int], radius: Floats, first: Ints, x: Floats, y: Floats) -> float:
    """Place circles side by side around 0, 0, the largest first; returns the radius of a circle around them all."""
    order = sorted(circles, key=lambda one: (-radius[one], first[one]))
    packed = _front_chain([float(radius[one]) + _GAP for one in order])
    left = min(c.x - c.r for c in packed)
    right = max(c.x + c.r for c in packed)
    low, high = min(c.y - c.r for c in packed), max(c.y + c.r for c in packed)
    middle_x, middle_y = (left + right) / 2, (low + high) / 2
    for one, circle in zip(order, packed, strict=True):
        x[one], y[one] = circle.x - middle_x, circle.y - middle_y
    return max(math.hypot(c.x - middle_x, c.y - middle_y) + c.r for c in packed)


class _Circle:
    """A circle, and those beside it on the rim of the heap."""

    __slots__ = ("after", "before", "r", "x", "y")

    def __init__(self, r: float) -> None:
        self.r, self.x, self.y = r, 0.0, 0.0
        self.before = self.after = self

    def beside(self, a: _Circle, b: _Circle) -> None:
        """Move it to where it touches two that touch each other, outside of them."""
        dx, dy = b.x - a.x, b.y - a.y
        square = dx * dx + dy * dy
        if not square:
            self.x, self.y = a.x + self.r, a.y
            return
        to_a, to_b = (a.r + self.r) ** 2, (b.r + self.r) ** 2
        if to_a > to_b:
            along = (square + to_b - to_a) / (2 * square)
            aside = math.sqrt(max(0.0, to_b / square - along * along))
            self.x, self.y = b.x - along * dx - aside * dy, b.y - along * dy + aside * dx
        else:
            along = (square + to_a - to_b) / (2 * square)
            aside = math.sqrt(max(0.0, to_a / square - along * along))
            self.x, self.y = a.x + along * dx - aside * dy, a.y + along * dy + aside * dx

    def meets(self, other: _Circle) -> bool:
        room = self.r + other.r - 1e-6
        return room > 0 and room * room > (other.x - self.x) ** 2 + (other.y - self.y) ** 2

    @property
    def distance(self) -> float:
        """How far the point where it touches the next one is from the middle, squared."""
        both = self.r + self.after.r
        x = (self.x * self.after.r + self.after.x * self.r) / both
        y = (self.y * self.after.r + self.after.y * self.r) / both
        return x * x + y * y


def _front_chain(radii: list[float]) -> list[_Circle]:
    """Circles packed around 0, 0, each where it touches two on the rim, by the front chain of Wang, Wang, Dai and Wang
    (2006)."""
    circles = [_Circle(r) for r in radii]
    if len(circles) > 1:
        a, b = circles[:2]
        a.x, b.x = -b.r, a.r
    if len(circles) > 2:
        c = circles[2]
        c.beside(b, a)
        a.after = c.before = b
        b.after = a.before = c
        c.after = b.before = a
    for c in circles[3:]:
        while (met := _in_the_way(a, b, c)) is not None:
            if met[1]:
                b = met[0]
            else:
                a = met[0]
            a.after, b.before = b, a
        c.before, c.after = a, b
        a.after = b.before = c
        best, one = a, c
        least = a.distance
        while one is not a:
            if (distance := one.distance) < least - 1e-9:
                best, least = one, distance
            one = one.after
        a, b = best, best.after
    return circles


def _in_the_way(a: _Circle, b: _Circle, c: _Circle) -> tuple[_Circle, bool] | None:
    """The circle on the rim that a new one between two would overlap, and whether it is on the side of the second."""
    c.beside(a, b)
    ahead, behind = b.after, a.before
    way_ahead, way_behind = b.r, a.r
    while True:
        if way_ahead <= way_behind:
            if ahead.meets(c):
                return ahead, True
            way_ahead += ahead.r
            ahead = ahead.after
        else:
            if behind.meets(c):
                return behind, False
            way_behind += behind.r
            behind = behind.before
        if ahead is behind.after:
            return None
