"""A hash of the content of each community: if it changes, the report on the community is out of date."""

from __future__ import annotations

import hashlib
from typing import NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from trueweave.graph.communities import NONE, Tree
from trueweave.graph.louvain import Ints

Halves = NDArray[np.uint64]  # two per hash


class Contents(NamedTuple):
    """For each community, the number of its members, the number of relations between them, and the hash of all of
    these."""

    members: Ints
    relations: Ints
    hashes: list[UUID]


def contents(tree: Tree, nodes: Halves, source: Ints, target: Ints, relations: Halves) -> Contents:
    """The contents of communities: their members and the relations between these, each with its own hash.

    Hashes are added, so their order does not matter, and all communities of a level take one pass.
    """
    number = tree.parent.size
    sums = np.zeros((number, 2), np.uint64)
    members, inside = np.zeros(number, np.int64), np.zeros(number, np.int64)
    for level in range(tree.depth):
        community = tree.at(level)
        # Communities of levels further out were handled there.
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
    """Hashes of relations, from those of their texts and the stable ids of their source and target entities."""
    return _mixed(texts + _mixed(sources + _mixed(targets)))


def _mixed(values: Halves) -> Halves:
    """Statistically independent numbers from any distinct ones (the last step of splitmix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _add(sums: Halves, counts: Ints, community: Ints, hashes: Halves) -> None:
    which = np.flatnonzero(community != NONE)
    np.add.at(sums, community[which], hashes[which])
    counts += np.bincount(community[which], minlength=counts.size)
