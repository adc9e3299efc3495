"""The map: nothing overlaps, everything is within what it belongs to, and what did not change stays in its place."""

from dataclasses import dataclass, field

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from trueweave.graph.communities import NONE, Tree
from trueweave.graph.map_layout import MapLayout, leaf_links, map_layout

Nested = list["Nested"] | int  # the parts of a community, or the number of its members

nested = st.recursive(st.integers(2, 12), lambda inner: st.lists(inner, min_size=2, max_size=6), max_leaves=40)


@dataclass
class Numbered:
    """A tree in the order of communities."""

    parent: list[int] = field(default_factory=list)
    last: list[int] = field(default_factory=list)
    level: list[int] = field(default_factory=list)
    leaf: list[int] = field(default_factory=list)

    def add(self, one: Nested, parent: int = NONE, level: int = 0) -> None:
        n = len(self.parent)
        self.parent.append(parent)
        self.last.append(n)
        self.level.append(level)
        if isinstance(one, int):
            self.leaf += [n] * one
        else:
            for inner in one:
                self.add(inner, n, level + 1)
        self.last[n] = len(self.parent) - 1


def tree(parts: list[Nested]) -> Tree:
    numbered = Numbered()
    for one in parts:
        numbered.add(one)
    return Tree(*(np.array(column, np.int64) for column in vars(numbered).values()))


def laid_out(of: Tree) -> MapLayout:
    return map_layout(of, np.zeros(of.leaf.size, np.int64))


@settings(max_examples=40, deadline=None)
@given(st.lists(nested, min_size=1, max_size=12))
def test_nothing_overlaps_and_all_is_within_what_it_belongs_to(parts: list[Nested]) -> None:
    of = tree(parts)
    found = laid_out(of)
    assert (np.hypot(found.x, found.y) + found.radius <= 1 + 1e-9).all()
    inner = np.flatnonzero(of.parent != NONE)
    outer = of.parent[inner]
    assert (found.around[inner] == found.radius[outer]).all()
    assert (found.around[of.parent == NONE] > 1).all()
    away = np.hypot(found.x[inner] - found.x[outer], found.y[inner] - found.y[outer])
    assert (away + found.radius[inner] <= found.radius[outer] + 1e-9).all()
    away = np.hypot(found.node_x - found.x[of.leaf], found.node_y - found.y[of.leaf])
    assert (away <= found.radius[of.leaf] + 1e-9).all()
    for parent in {*of.parent.tolist()}:
        beside = np.flatnonzero(of.parent == parent)
        apart = np.hypot(found.x[beside][:, None] - found.x[beside], found.y[beside][:, None] - found.y[beside])
        room = found.radius[beside][:, None] + found.radius[beside] - 1e-9
        assert ((apart >= room) | np.eye(len(beside), dtype=bool)).all()
    again = laid_out(of)
    assert all((one == other).all() for one, other in zip(found, again, strict=True))


def test_a_member_more_in_one_community_leaves_all_others_in_their_places() -> None:
    before, after = tree([[9, 10, 5], [7, 3], 4]), tree([[9, 11, 5], [7, 3], 4])
    old, new = laid_out(before), laid_out(after)
    for column in ("x", "y", "radius"):
        assert (getattr(old, column) == getattr(new, column)).all()
    elsewhere = before.leaf != before.leaf[9]
    assert (old.node_x[elsewhere] == new.node_x[after.leaf != after.leaf[9]]).all()


def test_no_communities_are_an_empty_map() -> None:
    of = Tree(*(np.array([], np.int64),) * 3, np.full(3, NONE))
    assert laid_out(of).node_x.tolist() == [0, 0, 0]


@settings(max_examples=40, deadline=None)
@given(st.lists(nested, min_size=1, max_size=6), st.data())
def test_links_between_communities_have_all_relations_between_them(parts: list[Nested], data: st.DataObject) -> None:
    of = tree(parts)
    node = st.integers(0, of.leaf.size - 1)
    relations = data.draw(st.lists(st.tuples(node, node, st.integers(1, 9000)), max_size=40))
    expected: dict[tuple[int, int], tuple[int, int]] = {}
    for source, target, weight in relations:
        a, b = sorted((int(of.leaf[source]), int(of.leaf[target])))
        if a != b:
            number, sum_ = expected.get((a, b), (0, 0))
            expected[a, b] = number + 1, sum_ + weight
    columns = np.array(relations, np.int64).reshape(-1, 3).T
    found = leaf_links(of, columns[0], columns[1], columns[2] / 1000)
    pairs, sums = zip(found.a, found.b, strict=True), zip(found.relations, found.weight, strict=True)
    assert dict(zip(pairs, sums, strict=True)) == expected
