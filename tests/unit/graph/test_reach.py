"""Ways between entities, found from both ends: the same as by looking at all of them."""

from itertools import pairwise
from math import inf
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from trueweave.graph.paths import Edge, Reach

SIZE = 7
edges = st.lists(st.tuples(st.integers(1, SIZE), st.integers(1, SIZE), st.integers(1, 4)), max_size=14)


def id_(n: int) -> UUID:
    return UUID(int=n)


def all_ways(found: list[Edge], start: UUID, end: UUID) -> list[tuple[int, float]]:
    """The length and the strength of each way without repeats, by trying all."""
    ways = list[tuple[int, float]]()
    waiting: list[tuple[tuple[UUID, ...], float]] = [((start,), inf)]
    while waiting:
        way, strength = waiting.pop()
        if way[-1] == end:
            ways.append((len(way) - 1, strength))
            continue
        for one in found:
            for before, after in ((one.source, one.target), (one.target, one.source)):
                if before == way[-1] and after not in way:
                    waiting.append(((*way, after), min(strength, one.weight)))
    return ways


@given(edges, st.integers(1, SIZE), st.integers(1, SIZE), st.booleans())
def test_the_way_is_the_shortest_and_of_those_the_strongest(
    given_edges: list[tuple[int, int, int]], a: int, b: int, from_one_end: bool
) -> None:
    found = [Edge(UUID(int=100 + n), id_(s), id_(t), w) for n, (s, t, w) in enumerate(given_edges)]
    start, end = id_(a), id_(b)
    there, back = Reach(start), Reach(end)
    while (met := there.meets(back)) is None and there.edge and back.edge:
        growing = there if from_one_end or there.hops <= back.hops else back
        growing.grow([one for one in found if {one.source, one.target} & set(growing.edge)], 100)
    ways = all_ways(found, start, end)
    assert (met is None) == (not ways)
    if met is None:
        return
    entities, relations = there.way_to(met)
    others, further = back.way_to(met)
    entities, relations = [*entities, *others[-2::-1]], [*relations, *further[::-1]]
    by_id = {one.relation: one for one in found}
    for (before, after), relation in zip(pairwise(entities), relations, strict=True):
        assert {by_id[relation].source, by_id[relation].target} == {before, after}
    strength = min((by_id[one].weight for one in relations), default=inf)
    assert (len(relations), -strength) == min((length, -strong) for length, strong in ways)


def test_only_the_strongest_are_gone_on_from() -> None:
    reach = Reach(id_(1))
    reach.grow([Edge(id_(10 + n), id_(1), id_(n), n) for n in range(2, 6)], 2)
    assert reach.edge == [id_(5), id_(4)]
