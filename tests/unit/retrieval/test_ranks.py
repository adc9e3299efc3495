"""What several searches found in one order, which chunks that brings up, and where PageRank ends up."""

from uuid import UUID

import pytest

from trueweave.graph.pagerank import personalised_pagerank
from trueweave.retrieval.methods.picking import best_of
from trueweave.retrieval.methods.ranks import together
from trueweave.types import Scored

A, B, C, D = (UUID(int=n) for n in range(1, 5))


def test_hits_of_all_searches_are_in_one_order_by_their_similarity() -> None:
    # By ranks of their own, C and B would come before D.
    found = [[Scored(A, 0.9), Scored(D, 0.8)], [Scored(C, 0.5), Scored(B, 0.4)]]
    assert list(together(found, lambda one: one)) == [A, D, C, B]


def test_a_second_hit_takes_up_a_place_and_the_best_counts() -> None:
    found = [[Scored(A, 0.9), Scored(B, 0.6)], [Scored(B, 0.8), Scored(C, 0.5)]]
    hits = together(found, lambda one: one)
    assert [(id_, hit.order, hit.score) for id_, hit in hits.items()] == [(A, 0, 0.9), (B, 1, 0.8), (C, 3, 0.5)]


def test_equally_similar_hits_come_in_the_order_of_their_ids() -> None:
    assert list(together([[Scored(B, 0.5)], [Scored(A, 0.5)]], lambda one: one)) == [A, B]


def test_a_chunk_counts_with_the_best_thing_that_brings_it() -> None:
    assert best_of([(A, 0.2), (B, 0.7), (A, 0.9), (C, 0.7)]) == {A: 0.9, B: 0.7, C: 0.7}
    assert list(best_of((UUID(int=n), n / 5000) for n in range(3000)).values())[-1] == 1000 / 5000


def test_pagerank_of_two_nodes() -> None:
    # a = 0.5 + 0.5 b and b = 0.5 a, so that a = 2/3 and b = 1/3.
    ranks = personalised_pagerank([("a", "b", 3.0)], {"a": 1.0}, 0.5)
    assert ranks == {"a": pytest.approx(2 / 3), "b": pytest.approx(1 / 3)}


def test_pagerank_goes_by_weights_and_adds_up_edges_between_the_same_nodes() -> None:
    ranks = personalised_pagerank([("a", "b", 1.0), ("b", "a", 2.0), ("a", "c", 1.0)], {"a": 1.0}, 0.5)
    assert ranks["b"] == pytest.approx(3 * ranks["c"])


def test_pagerank_without_edges_keeps_what_starts_anew() -> None:
    assert personalised_pagerank([], {"a": 1.0}, 0.5) == {"a": 0.5}
