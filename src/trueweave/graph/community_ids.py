"""Succession: which community of today goes by the label of which one of yesterday.

What communities are depends on the graph alone. Only their labels are handed on, so that links and bookmarks stay
alive: each label goes to the community that shares most with the one that had it.
"""

from __future__ import annotations

import numpy as np

from trueweave.graph.communities import NONE, Tree
from trueweave.graph.louvain import Ints

LEAST_SHARED = 1 / 3  # of the members that two communities have together


def successors(new: Tree, new_sizes: Ints, old: Tree, old_sizes: Ints) -> Ints:
    """For each new community the old one whose label it takes, or NONE.

    The leaves of `old` are those of the nodes of today; `old_sizes` also count members that are gone. The closest two
    are matched first; of two that are equally close, those on levels nearer to each other.
    """
    taken: Ints = np.full(new.parent.size, NONE)
    pairs, shared = _overlaps(new, old)
    if not pairs.size:
        return taken
    mine, theirs = pairs % new.parent.size, pairs // new.parent.size
    closeness = shared / (new_sizes[mine] + old_sizes[theirs] - shared)
    close = np.flatnonzero(closeness >= LEAST_SHARED)
    apart = np.abs(new.level[mine] - old.level[theirs])
    given = np.zeros(old.parent.size, bool)
    for pair in close[np.lexsort((pairs[close], apart[close], -closeness[close]))].tolist():
        one, other = mine[pair], theirs[pair]
        if taken[one] == NONE and not given[other]:
            taken[one], given[other] = other, True
    return taken


def _overlaps(new: Tree, old: Tree) -> tuple[Ints, Ints]:
    """All pairs that share members, as old · number of new + new, and how many they share."""
    found: list[tuple[Ints, Ints]] = []
    both = (new.leaf != NONE) & (old.leaf != NONE)
    for before in range(old.depth):
        theirs = old.at(before)[both] * new.parent.size
        for now in range(new.depth):
            found.append(np.unique(theirs + new.at(now)[both], return_counts=True))
    if not found:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    # A pair of which one is a leaf comes up for each level below that, always with the same members.
    pairs, first = np.unique(np.concatenate([pair for pair, _ in found]), return_index=True)
    return pairs, np.concatenate([count for _, count in found])[first]
