"""What communities say, in a hash each: another hash, another content, and what was written about it is out of date."""

from __future__ import annotations

import hashlib
from typing import NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from trueweave.graph.communities import NONE, Tree
from trueweave.graph.louvain import Ints

Halves = NDArray[np.uint64]  # two for each hash


class Contents(NamedTuple):
    """For each community how many members and how many relations between them it has, and the hash of them all."""

    members: Ints
    relations: Ints
    hashes: list[UUID]


def contents(tree: Tree, nodes: Halves, source: Ints, target: Ints, relations: Halves) -> Contents:
    """What communities say: their members, and the relations between these, each by a hash of its own.

    Hashes add up, as in a set: in no order, and for a community and all that it is divided into in one pass a level.
    """
    number = tree.parent.size
    sums = np.zeros((number, 2), np.uint64)
    members, inside = np.zeros(number, np.int64), np.zeros(number, np.int64)
    for level in range(tree.depth):
        community = tree.at(level)
        # A community of a level further up was seen to there.
        community = np.where((community != NONE) & (tree.level[community] == level), community, NONE)
        _add(sums, members, community, nodes)
        within = np.where(community[source] == community[target], community[source], NONE)
        _add(sums, inside, within, relations)
    hashed = [
        UUID(bytes=hashlib.blake2b(row.tobytes() + counts.tobytes(), digest_size=16).digest())
        for row, counts in zip(sums, np.stack((members, inside), 1), strict=True)
    ]
    return Contents(members, inside, hashed)


def of_relations(texts: Halves, sources: Halves, targets: Halves) -> Halves:
    """Hashes of relations from those of their texts, and the stable ids of the entities that each is from and to."""
    return _mixed(texts + _mixed(sources + _mixed(targets)))


def _mixed(values: Halves) -> Halves:
    """Numbers that have nothing to do with each other, from any that differ (splitmix64's last step)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _add(sums: Halves, counts: Ints, community: Ints, hashes: Halves) -> None:
    which = np.flatnonzero(community != NONE)
    np.add.at(sums, community[which], hashes[which])
    counts += np.bincount(community[which], minlength=counts.size)
