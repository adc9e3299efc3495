"""Tokens are counted offline, fast, and whatever the text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueweave.text.tokens import count


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("Hello world", 2), ("東京", 1), ("<|endoftext|>", 7), (" " * 1_000_000, 7813)],
)
def test_counts_as_the_models_do(text: str, tokens: int) -> None:
    assert count(text) == tokens


@given(st.text(alphabet=st.characters()))
def test_any_text_has_a_count(text: str) -> None:
    assert (count(text) > 0) == bool(text)


def test_a_text_of_millions_of_characters_is_counted() -> None:
    assert count("word " * 1_000_000) == 1_000_001


def test_half_a_character_counts_like_a_character_that_is_not_known() -> None:
    assert count("a\ud800b") == count("a?b")
