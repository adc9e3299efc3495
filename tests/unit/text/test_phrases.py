"""Names as texts spell them, and where they occur."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueweave.text.phrases import MOST_WORDS, Vocabulary, candidates, number, occurrences, phrase, title_phrases, words


def vocabulary(*names: str) -> Vocabulary:
    known = {phrase(name) for name in names}
    longest: dict[str, int] = {}
    for one in known:
        parts = one.split()
        longest[parts[0]] = max(longest.get(parts[0], 0), len(parts))
    return Vocabulary(known, longest)


def found(text: str, *names: str) -> list[tuple[str, str]]:
    return [(one.phrase, text[one.start : one.end]) for one in occurrences(words(text), vocabulary(*names))]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("The Hague", "hague"),
        ("Beyoncé", "beyonce"),
        ("O'Neill", "oneill"),
        ("Man’s", "man"),
        ("Charles II", "charles ii"),
        ("a", ""),
        ("Film", ""),
        ("2016", ""),
        ("2016 Games", "2016 games"),
        ("one two three four five six seven eight nine", ""),
        ("北京", "北 京"),  # each character is a word
        ("Москва", "москва"),
    ],
)
def test_a_phrase_is_a_name_without_what_spellings_differ_in(name: str, expected: str) -> None:
    assert phrase(name) == expected


def test_a_title_goes_by_its_name_without_what_is_in_brackets_and_as_it_is() -> None:
    assert title_phrases("Mercury (planet)") == ["mercury", "mercury planet"]
    assert title_phrases("The Who") == []


def test_the_longest_name_counts_and_longer_ones_inside_it() -> None:
    text = "She read at the University of New York City."
    assert found(text, "University of New York City", "New York", "York", "New York City") == [
        ("university of new york city", "University of New York City"),
        ("new york city", "New York City"),
    ]
    assert found(text, "York") == [("york", "York")]


def test_a_name_needs_a_capital_somewhere() -> None:
    assert found("the apple fell near Apple and apple Inc", "Apple", "Apple Inc") == [
        ("apple", "Apple"),
        ("apple inc", "apple Inc"),
    ]


def test_spelling_and_possessives_do_not_matter() -> None:
    assert found("BEYONCÉ’s sister", "Beyonce") == [("beyonce", "BEYONCÉ")]


@given(st.lists(st.sampled_from(["Ada", "ada", "of", "the", "New", "York", "it's", "7"]), max_size=30))
def test_whatever_occurs_was_a_candidate(parts: list[str]) -> None:
    text = words(" ".join(parts))
    names = ["Ada", "New York", "York of Ada", "Ada New York", "7 Ada"]
    longest = {word.word: MOST_WORDS for word in text}
    offered = set(candidates(text, longest))
    assert {one.phrase for one in occurrences(text, vocabulary(*names))} <= offered


def test_numbers_fit_into_a_bigint_and_tell_phrases_apart() -> None:
    assert -(2**63) <= number("ada") < 2**63
    assert number("ada") != number("adb")
