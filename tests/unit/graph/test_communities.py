"""Communities of a graph, which of them follow which, and the hash of what each says."""

from collections import defaultdict
from itertools import combinations
from random import Random
from uuid import UUID

import graspologic_native
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueweave.graph.communities import LARGE, NONE, LeidenSettings, Tree, communities, modularity
from trueweave.graph.community_ids import LEAST_SHARED, successors
from trueweave.graph.content_hash import contents, of_relations
from trueweave.graph.louvain import Graph, Ints, merged, partition

Edge = tuple[int, int, int]
Sets = list[frozenset[int]]

SIZE = 40
edges_of = st.lists(
    st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1), st.integers(1, 9)).filter(lambda e: e[0] != e[1]),
    max_size=90,
)


def graph(edges: list[Edge], size: int = SIZE) -> Graph:
    source, target, weight = (
        (np.array(column, np.int64) for column in zip(*edges, strict=True)) if edges else ([], [], [])
    )
    ends = np.array(source, np.int64), np.array(target, np.int64)
    marks = np.random.default_rng(0).integers(0, 2**64, size, np.uint64)
    return merged(size, *ends, np.array(weight, np.float64), marks)


def cliques(*sizes: int, start: int = 0) -> list[Edge]:
    """Groups in which all know each other, in a row with one edge from each to the next."""
    edges: list[Edge] = []
    for size in sizes:
        if edges:
            edges.append((start - 1, start, 1))
        edges += [(a, b, 5) for a, b in combinations(range(start, start + size), 2)]
        start += size
    return edges


def members(tree: Tree) -> Sets:
    """The nodes of each community, worked out one by one."""
    found: defaultdict[int, set[int]] = defaultdict(set)
    for node, leaf in enumerate(tree.leaf.tolist()):
        while leaf != NONE:
            found[leaf].add(node)
            leaf = int(tree.parent[leaf])
    return [frozenset(found[n]) for n in range(tree.parent.size)]


def found(edges: list[Edge], most: int = 4, size: int = SIZE) -> Tree:
    return communities(graph(edges, size), LeidenSettings(most))


@settings(max_examples=300)
@given(edges_of, st.integers(2, 8))
def test_communities_are_a_tree_of_disjoint_parts(edges: list[Edge], most: int) -> None:
    tree = found(edges, most)
    inside = members(tree)
    related = {node for a, b, _ in edges for node in (a, b)}
    assert {node for node, leaf in enumerate(tree.leaf) if leaf != NONE} == related
    for n, own in enumerate(inside):
        parts = [m for m, parent in enumerate(tree.parent) if parent == n]
        assert all(tree.level[part] == tree.level[n] + 1 for part in parts)
        assert set(range(n + 1, tree.last[n] + 1)) == {
            m for m in range(len(inside)) if m != n and _is_within(tree, m, n)
        }
        if parts:
            assert len(parts) > 1
            assert sum(len(inside[part]) for part in parts) == len(own), "each member is in one part"
            assert frozenset().union(*(inside[part] for part in parts)) == own
            assert len(own) > most
        assert _hangs_together(own, edges)
    for level in range(tree.depth):
        at = tree.at(level)
        assert all(node in inside[at[node]] and tree.level[at[node]] <= level for node in related)


def _is_within(tree: Tree, one: int, other: int) -> bool:
    while one != NONE and one != other:
        one = int(tree.parent[one])
    return one == other


def _hangs_together(nodes: frozenset[int], edges: list[Edge]) -> bool:
    reached = {min(nodes)}
    while True:
        more = {x for a, b, _ in edges if {a, b} <= nodes and {a, b} & reached for x in (a, b)}
        if more <= reached:
            return reached == nodes
        reached |= more


@settings(max_examples=100)
@given(edges_of, st.randoms())
def test_neither_order_nor_direction_of_edges_matters(edges: list[Edge], chance: Random) -> None:
    turned = [(b, a, w) if chance.random() < 0.5 else (a, b, w) for a, b, w in edges]
    chance.shuffle(turned)
    assert all(np.array_equal(*pair) for pair in zip(found(edges), found(turned), strict=True))


@settings(max_examples=100)
@given(edges_of, edges_of)
def test_what_is_elsewhere_does_not_matter(here: list[Edge], there: list[Edge]) -> None:
    apart = [(a + SIZE, b + SIZE, w) for a, b, w in there]
    alone = members(found(here))
    both = members(found(here + apart, size=2 * SIZE))
    assert [own for own in both if min(own) < SIZE] == alone


def test_a_large_community_is_divided_and_a_small_part_of_the_graph_is_one() -> None:
    tree = found([*cliques(6, 6, 6, 6), *cliques(3, start=30)], most=6)
    inside = members(tree)
    assert {frozenset(range(at, at + 6)) for at in (0, 6, 12, 18)} <= set(inside)
    assert frozenset({30, 31, 32}) in inside
    assert tree.leaf[39] == NONE, "it has no relation"


def test_two_nodes_and_nothing() -> None:
    assert members(found([(3, 7, 1)])) == [frozenset({3, 7})]
    empty = communities(graph([], 0), LeidenSettings())
    assert empty.depth == 0
    assert members(found([])) == []


@settings(max_examples=50)
@given(edges_of.filter(bool))
def test_modularity_is_the_library_s(edges: list[Edge]) -> None:
    whole = graph(edges)
    top = communities(whole, LeidenSettings(4)).at(0)
    listed = [(str(a), str(b), w) for a, b, w in zip(*map(np.ndarray.tolist, whole[1:4]), strict=True)]
    named = {str(node): int(top[node]) for node in {*whole.a.tolist(), *whole.b.tolist()}}
    assert modularity(whole, top) == pytest.approx(graspologic_native.modularity(listed, named))


# --- large parts --------------------------------------------------------------------------------------


def random_graph(seed: int, size: int = 600, edges: int = 1500) -> list[Edge]:
    """Most edges lead to somebody near."""
    chance = Random(seed)
    ring = [(n, (n + 1) % size, 1) for n in range(size)]
    near = [
        (n := chance.randrange(size), (n + chance.randint(2, 12)) % size, chance.randint(1, 9)) for _ in range(edges)
    ]
    far = [(chance.randrange(size), chance.randrange(size), 1) for _ in range(edges // 10)]
    return [*ring, *near, *(edge for edge in far if edge[0] != edge[1])]


@pytest.mark.parametrize("seed", range(5))
def test_a_large_part_falls_into_communities_as_good_as_leiden_s(seed: int) -> None:
    edges = random_graph(seed)
    whole = graph(edges, 600)
    assert whole.size > LARGE
    labels = partition(whole, 1.0)
    for label in np.unique(labels):
        assert _hangs_together(frozenset(np.flatnonzero(labels == label).tolist()), edges)
    listed = [(str(a), str(b), w) for a, b, w in zip(*map(np.ndarray.tolist, whole[1:4]), strict=True)]
    best, _ = graspologic_native.leiden(listed, seed=0)
    assert modularity(whole, labels) > 0.97 * best


@pytest.mark.parametrize("seed", range(5))
def test_a_change_in_a_large_part_is_felt_where_it_is(seed: int) -> None:
    edges = random_graph(seed)
    before = {own for own in members(found(edges, size=600)) if len(own) > 1}
    after = [own for own in members(found(edges[:-1], size=600)) if len(own) > 1]
    assert sum(own not in before for own in after) < 0.2 * len(after)


# --- succession ---------------------------------------------------------------------------------------


def sizes(inside: Sets) -> Ints:
    return np.array([len(own) for own in inside], np.int64)


def _by_hand(new: Tree, old: Tree) -> list[int]:
    """All pairs, the closest first."""
    mine, theirs = members(new), members(old)
    pairs = [
        (-len(a & b) / len(a | b), abs(int(new.level[n]) - int(old.level[m])), m, n)
        for n, a in enumerate(mine)
        for m, b in enumerate(theirs)
        if len(a & b) / len(a | b) >= LEAST_SHARED
    ]
    taken = [NONE] * len(mine)
    for _, _, m, n in sorted(pairs):
        if taken[n] == NONE and m not in taken:
            taken[n] = m
    return taken


@settings(max_examples=200)
@given(edges_of, edges_of, st.integers(0, 60))
def test_each_label_goes_to_the_community_that_shares_most(shared: list[Edge], more: list[Edge], cut: int) -> None:
    old, new = found(shared), found(shared[cut:] + more)
    assert successors(new, sizes(members(new)), old, sizes(members(old))).tolist() == _by_hand(new, old)


def test_communities_that_stay_keep_their_labels_wherever_they_are_in_the_tree() -> None:
    old, new = found(cliques(5, 5)), found(cliques(5, 5, 5, 5, 5))
    follows = successors(new, sizes(members(new)), old, sizes(members(old)))
    kept = {members(new)[n]: members(old)[m] for n, m in enumerate(follows.tolist()) if m != NONE}
    for clique in (frozenset(range(5)), frozenset(range(5, 10))):
        assert kept[clique] == clique


# --- what they say ------------------------------------------------------------------------------------


def hashes(seed: int, count: int) -> np.ndarray[tuple[int, ...], np.dtype[np.uint64]]:
    return np.random.default_rng(seed).integers(0, 2**64, (count, 2), np.uint64)


def said(edges: list[Edge], nodes: int = 0, relations: int = 0) -> dict[frozenset[int], UUID]:
    tree, whole = found(edges), graph(edges)
    told = contents(tree, hashes(nodes, SIZE), whole.a, whole.b, hashes(relations, whole.a.size))
    assert told.members.tolist() == [len(own) for own in members(tree)]
    assert told.relations.tolist() == [
        sum(a in own and b in own for a, b in zip(whole.a, whole.b, strict=True)) for own in members(tree)
    ]
    return dict(zip(members(tree), told.hashes, strict=True))


def test_the_hash_is_of_members_relations_and_all_that_is_said_of_them() -> None:
    edges = cliques(5, 5, 5)
    before = said(edges)
    assert before == said(edges)
    assert not set(before.values()) & set(said(edges, nodes=1).values())
    assert not set(before.values()) & set(said(edges, relations=1).values())


def test_a_change_in_one_place_changes_the_hashes_of_the_communities_round_it_alone() -> None:
    edges = cliques(5, 5, 5)
    tree, whole = found(edges), graph(edges)
    nodes, relations = hashes(0, SIZE), hashes(0, whole.a.size)
    before = contents(tree, nodes, whole.a, whole.b, relations).hashes
    nodes[7] += np.uint64(1)
    after = contents(tree, nodes, whole.a, whole.b, relations).hashes
    for own, a, b in zip(members(tree), before, after, strict=True):
        assert (a != b) == (7 in own)


def test_a_relation_is_another_with_another_text_other_ends_or_turned_round() -> None:
    texts, sources, targets = hashes(1, 3), hashes(2, 3), hashes(3, 3)
    made = [
        of_relations(texts, sources, targets),
        of_relations(texts, targets, sources),
        of_relations(hashes(4, 3), sources, targets),
        of_relations(texts, hashes(5, 3), targets),
    ]
    assert len({row.tobytes() for some in made for row in some}) == 4 * 3
