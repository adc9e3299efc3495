"""Whatever rapidfuzz calls alike is called alike here, and is found by its keys, whichever name comes first."""

import re
from collections import Counter
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz import fuzz

from tests.conftest import FULL
from trueweave import ResolutionSettings
from trueweave.core.record import Sameness
from trueweave.graph.alike import LONGEST_FUZZY, alike, keys, mask, most_changes, probes

# Few letters make pairs with many ways to line up; many letters make pairs that share nothing by chance.
ALPHABETS = ("ab", "abc 12", "".join(c for c in map(chr, range(256)) if c.islower()), "ab東京")
LOOSEST = ResolutionSettings("fuzzy", threshold=70)
EXACT = ResolutionSettings("exact")
LONG = "a" * LONGEST_FUZZY

resolutions = st.builds(
    ResolutionSettings, st.just("fuzzy"), threshold=st.integers(70, 100), same=st.sampled_from(get_args(Sameness))
)
Case = tuple[str, str, ResolutionSettings]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A name, the same after about as many changes as the threshold forgives, and the settings."""
    how, alphabet = draw(resolutions), draw(st.sampled_from(ALPHABETS))
    evenly, chance = draw(st.booleans()), draw(st.randoms(use_true_random=True))
    taken, put = draw(st.sampled_from(([0], [1], [0, 1]))), draw(st.sampled_from(([0], [1], [0, 1])))
    name = chance.choices(alphabet, k=draw(st.integers(1, LONGEST_FUZZY + 6)))
    edits = draw(st.integers(0, len(name) * (100 - how.threshold) // 50 + 1))
    other = name.copy()
    for n in range(edits):
        at = len(other) * n // edits if evenly else chance.randint(0, len(other))
        other[at : at + chance.choice(taken)] = chance.choices(alphabet, k=chance.choice(put))
    return "".join(name), "".join(other or name), how


def by_the_book(a: str, b: str, how: ResolutionSettings) -> bool:
    if a == b:
        return True
    fuzzy = max(len(a), len(b)) <= LONGEST_FUZZY and re.findall(r"\d+", a) == re.findall(r"\d+", b)
    return fuzzy and fuzz.ratio(a, b) > how.threshold


def finds(a: str, b: str, how: ResolutionSettings, a_type: str = "", b_type: str = "") -> bool:
    """Whether the name `a` would find a stored name `b`."""
    return not probes(a, a_type, how).isdisjoint(keys(b, b_type, how))


examples = settings(max_examples=20_000 if FULL else 300)


@examples
@given(cases())
def test_alike_means_that_the_ratio_exceeds_the_threshold_and_the_digits_agree(case: Case) -> None:
    a, b, how = case
    assert alike([(a, b), (b, a)], how) == [by_the_book(a, b, how)] * 2


@examples
@given(cases())
def test_alike_names_find_each_other_whichever_is_stored_first(case: Case) -> None:
    a, b, how = case
    types = ("person", "place" if how.same == "name" else "person")
    if by_the_book(a, b, how):
        assert finds(a, b, how, *types)
        assert finds(b, a, how, *types)


def test_keys_fit_a_signed_64_bit_integer() -> None:
    made = [key for letters in ALPHABETS for key in (*keys(letters, "", LOOSEST), *probes(letters, "", LOOSEST))]
    assert -(2**63) <= min(made) < 0 < max(made) < 2**63


def test_a_ratio_equal_to_the_threshold_does_not_exceed_it() -> None:
    pair = ("abcdefghij", "abcdefghix")
    assert fuzz.ratio(*pair) == 90
    assert [alike([pair], ResolutionSettings("fuzzy", threshold)) for threshold in (89, 90)] == [[True], [False]]


def test_each_pair_is_judged_on_its_own() -> None:
    assert alike([("ada", "ada"), ("ada", "bob"), ("marten", "martens")], LOOSEST) == [True, False, True]
    assert alike([], LOOSEST) == []


@pytest.mark.parametrize(
    ("a", "b"),
    [("q3 2023 report", "q4 2023 report"), ("apollo program", "apollo program 1"), ("section 12", "section 1 2")],
)
def test_names_that_differ_in_a_digit_are_never_alike(a: str, b: str) -> None:
    assert fuzz.ratio(a, b) > LOOSEST.threshold
    assert alike([(a, b)], LOOSEST) == [False]
    assert not finds(a, b, LOOSEST)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (LONG, LONG[:-1] + "b", True),
        (LONG, LONG + "a", False),
        (LONG + "a", LONG + "b", False),
        (LONG + "a", LONG + "a", True),
    ],
)
def test_names_longer_than_64_characters_are_alike_only_when_equal(a: str, b: str, expected: bool) -> None:
    assert alike([(a, b)], LOOSEST) == [expected]
    assert finds(a, b, LOOSEST) is expected


def test_exact_finds_equal_names_only() -> None:
    pair = ("marten aldous", "marten aldouse")
    assert alike([pair, pair[:1] * 2], EXACT) == [False, True]
    assert not finds(*pair, EXACT)
    assert finds("ada", "ada", EXACT)


def test_off_stores_and_seeks_nothing() -> None:
    off = ResolutionSettings("off")
    assert keys("ada", "person", off) == []
    assert probes("ada", "person", off) == set()


@pytest.mark.parametrize("mode", ["fuzzy", "exact"])
@pytest.mark.parametrize(("same", "found"), [("name_and_type", False), ("name", True)])
def test_homonyms_find_each_other_only_where_the_name_alone_counts(mode: str, same: str, found: bool) -> None:
    how = ResolutionSettings(mode, same=same)  # type: ignore[arg-type]
    assert finds("mercury", "mercury", how, "planet", "element") is found


@settings(max_examples=300)
@given(st.text("abc1 ", min_size=1, max_size=20), st.text("abc1 ", min_size=1, max_size=20))
def test_masks_of_alike_names_differ_by_no_more_bits_than_the_names_can_differ_by_changes(a: str, b: str) -> None:
    how = LOOSEST
    if alike([(a, b)], how)[0]:
        assert (mask(a) ^ mask(b)).bit_count() <= min(most_changes(a, how), most_changes(b, how))


def test_few_others_share_a_key_with_a_short_name_however_many_begin_like_it() -> None:
    """What is looked at for each name must not grow with their number, or resolving them all would be quadratic."""
    fuzzy = ResolutionSettings("fuzzy", 90)
    letters = "abcdefghijklmnopqrstuvwxyz"

    def looked_at(count: int) -> float:
        names = ["zed" + "".join(letters[n // 26**k % 26] for k in range(4)) for n in range(count)]
        stored = Counter(key for name in names for key in keys(name, "", fuzzy))
        return sum(stored[key] for name in names for key in probes(name, "", fuzzy)) / count

    assert looked_at(8000) <= 2 * looked_at(1000)
    assert looked_at(8000) < 30
