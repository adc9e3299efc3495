"""Succession: which new community inherits the label of which old one.

Communities depend only on the graph. Their labels are passed on so that links and bookmarks keep working: each label
goes to the community that shares most members with the one that had it.
"""

from __future__ import annotations

import numpy as np

from trueweave.graph.communities import NONE, Tree
from trueweave.graph.louvain import Ints

LEAST_SHARED = 1 / 3  # of the members of both communities together


def successors(new: Tree, new_sizes: Ints, old: Tree, old_sizes: Ints) -> Ints:
    """For each new community, the old one whose label it inherits, or NONE.

    The leaves of `old` are for the current nodes; `old_sizes` also count members that no longer exist. The closest pair
    is matched first; of equally close pairs, the one with the smaller difference in level.
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
    # A pair with a leaf appears again for each level below it, always with the same members.
    pairs, first = np.unique(np.concatenate([pair for pair, _ in found]), return_index=True)
    return pairs, np.concatenate([count for _, count in found])[first]
