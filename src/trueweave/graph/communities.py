"""Communities: densely connected parts of a graph, and the parts of these in turn.

Nodes are numbers, and the result depends only on the graph and the settings. Each connected part of the graph is
treated separately, and so is each community that is divided further: one place does not depend on another, so a change
here leaves communities elsewhere as they were. Parts of up to LARGE nodes are divided by the library's Leiden, always
with the same seed. In larger parts any change would lead it to other choices everywhere, so they are divided by our own
Louvain (louvain.py).

A part of a few nodes is a single community. A node without neighbours is in none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from trueweave.graph.leiden import leiden
from trueweave.graph.louvain import Graph, Ints, partition, reached

NONE = -1
LARGE = 300  # larger parts are divided by louvain.py


@dataclass(frozen=True, slots=True)
class LeidenSettings:
    """How communities are found. A community of more than `most` members is divided further if possible."""

    most: int = 10
    resolution: float = 1.0
    seed: int = 0


class Tree(NamedTuple):
    """Communities, numbered so that those within a community come right after it, up to its `last`.

    `leaf` has the innermost community of each node, or NONE.
    """

    parent: Ints
    last: Ints
    level: Ints
    leaf: Ints

    def at(self, level: int) -> Ints:
        """For each node, its community at that level, or its innermost one if that is further out."""
        outer = self.leaf.copy()
        inside = np.flatnonzero(outer != NONE)
        while (deeper := inside[self.level[outer[inside]] > level]).size:
            outer[deeper] = self.parent[outer[deeper]]
        return outer

    @property
    def depth(self) -> int:
        """The number of levels."""
        return int(self.level.max()) + 1 if self.level.size else 0


def communities(whole: Graph, how: LeidenSettings) -> Tree:
    """All communities of a graph."""
    growing = _Growing(whole.size)
    growing.divide(whole, how)
    return growing.tree()


def modularity(whole: Graph, community: Ints, resolution: float = 1.0) -> float:
    """How much more of the weight is within communities than expected by chance; nodes without a community are left
    out."""
    total = math.fsum(whole.weight)
    if not total:
        return 0.0
    number = int(community.max()) + 1
    a, b = community[whole.a], community[whole.b]
    inside = np.bincount(a[a == b], whole.weight[a == b], number)
    ends = np.bincount(a, whole.weight, number) + np.bincount(b, whole.weight, number)
    return math.fsum(inside / total - resolution * (ends / (2 * total)) ** 2)


# --- dividing -----------------------------------------------------------------------------------------


class _Part(NamedTuple):
    """A part of the graph: the numbers of its nodes in the whole graph, and the edges between them."""

    nodes: Ints
    inner: Graph


class _Division(NamedTuple):
    """A part to divide by these labels; the pieces become communities within `parent`."""

    part: _Part
    labels: Ints
    parent: int
    level: int


class _Growing:
    """A tree in the order in which communities are found."""

    def __init__(self, size: int) -> None:
        self._parents: list[Ints] = []
        self._levels: list[Ints] = []
        self._count = 0
        self._leaf: Ints = np.full(size, NONE, np.int64)

    def divide(self, whole: Graph, how: LeidenSettings) -> None:
        part = _Part(np.arange(whole.size), whole)
        waiting: list[_Division] = []
        groups = _Groups(part, reached(whole.size, whole.a, whole.b))
        small = np.flatnonzero((groups.sizes > 1) & (groups.sizes <= how.most))
        self._add(groups, small, NONE, 0)
        for group in np.flatnonzero(groups.sizes > how.most):
            piece = groups.part(int(group))
            waiting.append(_Division(piece, _divided(piece.inner, how), NONE, 0))
        while waiting:
            part, labels, parent, level = waiting.pop()
            groups = _Groups(part, labels)
            first = self._add(groups, np.arange(groups.sizes.size), parent, level)
            for group in np.flatnonzero(groups.sizes > how.most):
                piece = groups.part(int(group))
                finer = _divided(piece.inner, how)
                if finer.any():  # it can be divided further
                    waiting.append(_Division(piece, finer, first + int(group), level + 1))

    def _add(self, groups: _Groups, wanted: Ints, parent: int, level: int) -> int:
        """Make these groups communities. Returns the number of the first."""
        first = self._count
        numbers = np.full(groups.sizes.size, NONE)
        numbers[wanted] = first + np.arange(wanted.size)
        inside = numbers[groups.labels]
        self._leaf[groups.nodes[inside != NONE]] = inside[inside != NONE]
        self._parents.append(np.full(wanted.size, parent))
        self._levels.append(np.full(wanted.size, level))
        self._count += wanted.size
        return first

    def tree(self) -> Tree:
        """The tree, with its communities ordered by their smallest node, each before its parts."""
        parent = np.concatenate(self._parents) if self._parents else np.empty(0, np.int64)
        level = np.concatenate(self._levels) if self._levels else np.empty(0, np.int64)
        inside, smallest = _sizes_and_smallest(parent, level, self._leaf)
        # A community and its first part may have the same smallest node: the level distinguishes them.
        order = np.lexsort((smallest, level))
        place = np.empty(self._count, np.int64)
        after = np.empty(self._count, np.int64)  # where the next one within the same parent begins
        top = 0
        for one in order.tolist():  # parents before their parts, and parts by their smallest node
            above = parent[one]
            if above == NONE:
                place[one], top = top, top + inside[one]
            else:
                place[one] = after[above]
                after[above] += inside[one]
            after[one] = place[one] + 1
        numbered = np.argsort(place)
        leaf = np.where(self._leaf == NONE, NONE, place[self._leaf]) if self._count else self._leaf
        above = parent[numbered]
        parent = np.where(above == NONE, NONE, place[above]) if self._count else parent
        return Tree(parent, np.arange(self._count) + inside[numbered] - 1, level[numbered], leaf)


def _sizes_and_smallest(parent: Ints, level: Ints, leaf: Ints) -> tuple[Ints, Ints]:
    """For each community, the number of communities in it, including itself, and its smallest node."""
    inside = np.ones(parent.size, np.int64)
    smallest = np.full(parent.size, leaf.size, np.int64)
    nodes = np.flatnonzero(leaf != NONE)
    np.minimum.at(smallest, leaf[nodes], nodes)
    for deep in range(int(level.max()) if level.size else 0, 0, -1):
        here = np.flatnonzero(level == deep)
        np.add.at(inside, parent[here], inside[here])
        np.minimum.at(smallest, parent[here], smallest[here])
    return inside, smallest


class _Groups:
    """A part divided by labels: groups of nodes, and the edges within each."""

    def __init__(self, part: _Part, labels: Ints) -> None:
        _, self.labels = np.unique(labels, return_inverse=True)
        self.nodes = part.nodes
        self.sizes = np.bincount(self.labels)
        by_group = np.argsort(self.labels, kind="stable")
        self._nodes = np.split(by_group, np.cumsum(self.sizes)[:-1]) if self.sizes.size else []
        _, a, b, weight, self._marks = part.inner
        within = np.flatnonzero(self.labels[a] == self.labels[b])
        within = within[np.argsort(self.labels[a[within]], kind="stable")]
        self._a, self._b, self._weight = a[within], b[within], weight[within]
        self._ends = np.searchsorted(self.labels[self._a], np.arange(self.sizes.size + 1))
        self._place = np.empty(self.nodes.size, np.int64)  # position of a node within its group
        self._place[by_group] = np.arange(self.nodes.size) - np.repeat(np.cumsum(self.sizes) - self.sizes, self.sizes)

    def part(self, group: int) -> _Part:
        """One group as a part."""
        edges = slice(self._ends[group], self._ends[group + 1])
        a, b = self._place[self._a[edges]], self._place[self._b[edges]]
        own = self._nodes[group]
        return _Part(self.nodes[own], Graph(own.size, a, b, self._weight[edges], self._marks[own]))


def _divided(part: Graph, how: LeidenSettings) -> Ints:
    """A label for each node of a part: 0 for the community of the first node, 1 for that of the first node not in it,
    …"""
    labels = partition(part, how.resolution) if part.size > LARGE else leiden(part, how.resolution, how.seed)
    _, first, which = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[which]
