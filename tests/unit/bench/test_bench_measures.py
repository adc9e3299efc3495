"""Measures against numbers that were worked out by hand, and what chance does to them."""

from math import log2

import pytest

from trueweave.bench.measures import EVIDENCE_WITHIN, Measure, evidence_found, exact_match, measure, token_f1, usual
from trueweave.core.bench import Interval
from trueweave.core.bootstrap import difference, interval
from trueweave.errors import ConfigError

# Of b, d and e, two are among the first four: b at rank 2, d at rank 4.
RANKED = ["a", "b", "c", "d"]
GOLD = {"b": 1, "d": 1, "e": 1}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("recall@1", 0.0),
        ("recall@2", 1 / 3),
        ("recall@5", 2 / 3),
        ("mrr@1", 0.0),
        ("mrr@5", 1 / 2),
        ("map@5", (1 / 2 + 2 / 4) / 3),
        ("map@3", (1 / 2) / 3),
        ("ndcg@5", (1 / log2(3) + 1 / log2(5)) / (1 + 1 / log2(3) + 1 / log2(4))),
        ("ndcg@2", (1 / log2(3)) / (1 + 1 / log2(3))),
    ],
)
def test_rankings_score_as_worked_out_by_hand(name: str, value: float) -> None:
    assert measure(name).of(RANKED, GOLD) == pytest.approx(value)


def test_ndcg_counts_grades() -> None:
    # The best order has 3 before 1: 3 + 1 / log2(3). This one has them the other way round.
    value = Measure("ndcg", 10).of(["one", "three"], {"three": 3, "one": 1})
    assert value == pytest.approx((1 + 3 / log2(3)) / (3 + 1 / log2(3)))


def test_a_passage_ranked_twice_counts_where_it_comes_first() -> None:
    assert measure("recall@2").of(["x", "x", "b"], {"b": 1}) == 1.0
    assert measure("map@5").of(["b", "b"], {"b": 1}) == 1.0


def test_nothing_found_scores_nothing() -> None:
    assert [one.of([], GOLD) for one in usual([2, 5])] == [0.0] * 5


def test_usual_measures_look_as_deep_as_the_deepest() -> None:
    assert [one.name for one in usual([10, 2])] == ["recall@2", "recall@10", "ndcg@10", "mrr@10", "map@10"]


@pytest.mark.parametrize("name", ["recall", "recall@0", "recall@x", "bleu@5"])
def test_a_measure_that_is_none_is_told(name: str) -> None:
    with pytest.raises(ConfigError, match=r"there is no measure .* Available: recall@5, ndcg@5"):
        measure(name)


def test_answers_are_compared_as_squad_does() -> None:
    assert exact_match("The Eiffel Tower!", ["eiffel  tower"]) == 1.0
    assert exact_match("Eiffel", ["Eiffel Tower"]) == 0.0
    # Two of three words given are in the answer of two: 2 * 2 / (3 + 2).
    assert token_f1("the tall Eiffel Tower", ["nothing of it", "Eiffel Tower"]) == pytest.approx(4 / 5)
    assert token_f1("", ["the"]) == 1.0
    assert token_f1("Paris", []) == 0.0
    # A word counts as often as both have it.
    assert token_f1("no no no", ["no"]) == pytest.approx(2 / 4)


def test_the_difference_of_equal_methods_is_zero() -> None:
    values = [0.0, 0.5, 1.0] * 20
    assert difference(values, values) == Interval(0.0, 0.0, 0.0)
    assert not difference(values, values).excludes_zero


def test_a_difference_that_may_be_chance_has_zero_in_its_interval() -> None:
    a, b = [1.0, 0.0] * 25, [0.0, 1.0] * 25
    found = difference(a, b)
    assert found.mean == 0.0
    assert found.low < 0 < found.high


def test_a_method_that_is_always_better_is_so_by_more_than_chance() -> None:
    easy = [number / 50 for number in range(50)]
    found = difference([value / 2 + 0.1 for value in easy], [value / 2 for value in easy])
    assert found.excludes_zero
    assert (found.low, found.high) == pytest.approx((0.1, 0.1))


def test_an_interval_is_as_wide_as_the_normal_one_and_the_same_each_time() -> None:
    values = [1.0] * 60 + [0.0] * 40
    found = interval(values)
    # The standard error of a share of 0.6 among 100 is 0.049; 1.96 of them to either side.
    assert (found.low, found.high) == pytest.approx((0.504, 0.696), abs=0.02)
    assert found == interval(values)
    assert interval([]) == Interval(0.0, 0.0, 0.0)


def test_evidence_is_found_by_its_longer_words_in_the_first_characters() -> None:
    evidence = "The heath is called Cornish heath."
    assert evidence_found(evidence, ["Erica vagans, or CORNISH heath"]) == 2 / 3
    assert evidence_found(evidence, ["It is called so.", "The Cornish heath."]) == 1
    assert evidence_found(evidence, ["x" * EVIDENCE_WITHIN, "Cornish heath, as it is called"]) == 0
    assert evidence_found("of it", ["of it"]) == 0
