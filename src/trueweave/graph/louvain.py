"""Our own Louvain, which divides large parts of a graph (communities.py); small ones are divided by the library's
Leiden.

Local moving as in Louvain: each node moves to the community with the highest gain in modularity, until none would move;
then communities are contracted to nodes, and these move. Two things differ from Louvain as published:

- Nothing is random. The order comes from marks that stay with the nodes: in each turn, the nodes whose mark has a 1 in
  that bit move, all at once, and of equal choices the lowest mark wins. The library draws an order for each graph, so
  that one node more or less leads to other choices everywhere; here a change has little effect beyond its surroundings.
- Communities are connected, as with Leiden: one that falls apart is split before it is contracted. That is all it
  shares with Leiden; there is no refinement phase.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Marks = NDArray[np.uint64]

_TURNS = 64
_LAST = np.iinfo(np.uint64).max


class Graph(NamedTuple):
    """A number of nodes, and weighted edges between pairs of them. No two edges have the same ends.

    Each node has a mark, a practically random number that stays with it whatever else is added or removed.
    """

    size: int
    a: Ints
    b: Ints
    weight: Floats
    marks: Marks


def partition(whole: Graph, resolution: float) -> Ints:
    """A label for each node of a connected graph."""
    labels = np.arange(whole.size)
    grouped, inside = whole, np.zeros(whole.size)
    while grouped.a.size:
        found = _settled(grouped, inside, resolution)
        # Nodes move all at once, so some may be left behind: take the connected parts as groups.
        together = found[grouped.a] == found[grouped.b]
        groups, which = np.unique(reached(grouped.size, grouped.a[together], grouped.b[together]), return_inverse=True)
        if groups.size == grouped.size:
            break
        labels = which[labels]
        grouped, inside = _contracted(grouped, inside, which)
    return labels


def reached(size: int, a: Ints, b: Ints) -> Ints:
    """For each node, the smallest node reachable from it."""
    least = np.arange(size)
    while True:
        nearest = np.minimum(least[a], least[b])
        nearer = least.copy()
        np.minimum.at(nearer, least[a], nearest)
        np.minimum.at(nearer, least[b], nearest)
        while not np.array_equal(further := nearer[nearer], nearer):
            nearer = further
        if np.array_equal(nearer, least):
            return least
        least = nearer


class Rows(NamedTuple):
    """The edges of a graph from both ends, row by row: those of a node are from starts[node] to starts[node + 1]."""

    starts: Ints
    others: Ints
    weights: Floats

    def of(self, nodes: Ints) -> tuple[Ints, Ints]:
        """The positions of the edges of these nodes, and for each edge the position of its node in `nodes`."""
        counts = self.starts[nodes + 1] - self.starts[nodes]
        first = np.cumsum(counts) - counts
        at = np.repeat(self.starts[nodes] - first, counts) + np.arange(counts.sum())
        return at, np.repeat(np.arange(nodes.size), counts)


def rows(graph: Graph) -> Rows:
    """A graph row by row, each in order."""
    ends, others = np.concatenate((graph.a, graph.b)), np.concatenate((graph.b, graph.a))
    order = np.lexsort((others, ends))
    starts = np.zeros(graph.size + 1, np.int64)
    np.cumsum(np.bincount(ends, minlength=graph.size), out=starts[1:])
    return Rows(starts, others[order], np.concatenate((graph.weight, graph.weight))[order])


def _settled(graph: Graph, inside: Floats, resolution: float) -> Ints:
    """The community of each node once none would move, or after `_TURNS` turns; `inside` has the weights within
    nodes."""
    edges = rows(graph)
    degree = np.array(2 * inside, np.float64)
    for ends in (graph.a, graph.b):
        degree += np.bincount(ends, graph.weight, graph.size)
    state = _State(np.arange(graph.size), degree, degree.copy(), resolution / degree.sum(), graph.marks)
    waiting = np.ones(graph.size, bool)
    for turn in range(_TURNS):
        candidates = np.flatnonzero(waiting)
        if not candidates.size:
            break
        movers = candidates[(graph.marks[candidates] >> np.uint64(turn)) & np.uint64(1) == 1]
        if movers.size:
            waiting[movers] = False
            gone = state.move(movers, edges)
            waiting[edges.others[edges.of(gone)[0]]] = True
    return state.label


class _State(NamedTuple):
    """The community of each node, the degrees of nodes and communities, and the factor for the share expected by
    chance."""

    label: Ints
    degree: Floats
    total: Floats
    share: float
    marks: Marks

    def move(self, movers: Ints, edges: Rows) -> Ints:
        """Move these nodes, which all have edges, to the communities with the highest gain. Returns those that
        moved."""
        at, place = edges.of(movers)
        key = place * self.label.size + self.label[edges.others[at]]
        order = np.argsort(key, kind="stable")
        begins = _begins(key[order])
        linked = np.add.reduceat(edges.weights[at][order], begins)
        place, towards = np.divmod(key[order][begins], self.label.size)
        mine, home = self.degree[movers], self.label[movers]
        is_home = towards == home[place]
        gain = linked - mine[place] * (self.total[towards] - np.where(is_home, mine[place], 0)) * self.share
        staying = -mine * (self.total[home] - mine) * self.share
        staying[place[is_home]] = gain[is_home]
        by_node = _begins(place)
        most = np.maximum.reduceat(gain, by_node)
        mark = np.where(gain == most[place], self.marks[towards], _LAST)
        chosen = np.flatnonzero(mark == np.minimum.reduceat(mark, by_node)[place])
        goes = chosen[_begins(place[chosen])][most > staying]
        who, to = movers[place[goes]], towards[goes]
        self.total[:] += np.bincount(to, self.degree[who], self.total.size)
        self.total[:] -= np.bincount(self.label[who], self.degree[who], self.total.size)
        self.label[who] = to
        return who


def _begins(values: Ints) -> Ints:
    """The positions where runs of equal values begin."""
    changes = np.ones(values.size, bool)
    np.not_equal(values[1:], values[:-1], out=changes[1:])
    return np.flatnonzero(changes)


def _contracted(graph: Graph, inside: Floats, which: Ints) -> tuple[Graph, Floats]:
    """The graph with groups as nodes, each with its lowest mark, and the weights within them."""
    size = int(which.max()) + 1
    marks = np.full(size, _LAST, np.uint64)
    np.minimum.at(marks, which, graph.marks)
    within = which[graph.a] == which[graph.b]
    held = np.zeros(size)
    held += np.bincount(which, inside, size)
    held += np.bincount(which[graph.a[within]], graph.weight[within], size)
    across = ~within
    return merged(size, which[graph.a[across]], which[graph.b[across]], graph.weight[across], marks), held


def merged(size: int, source: Ints, target: Ints, weight: Floats, marks: Marks) -> Graph:
    """A graph from edges in any order and direction: those between the same two nodes are added up."""
    low, high = np.minimum(source, target), np.maximum(source, target)
    ends, which = np.unique(low * size + high, return_inverse=True)
    summed: Floats = np.bincount(which, weight, ends.size).astype(np.float64)
    return Graph(size, ends // max(size, 1), ends % max(size, 1), summed, marks)
