"""Replies as they can be held, in whatever pieces they come."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueweave.models.clean import Cleaning, cleaned

ODD = st.text(st.sampled_from("a é😀\0\ud800\udfff\ud83d\ude00\ufeff"), max_size=12)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("plain é 😀", "plain é 😀"),
        ("a\0b", "ab"),
        ("a\ud800b", "a\ufffdb"),
        ("\ude00", "\ufffd"),
        ("\ud83d\ude00", "😀"),
    ],
)
def test_what_cannot_be_held_is_taken_out_or_replaced(text: str, clean: str) -> None:
    assert cleaned(text) == clean


@given(st.lists(ODD, max_size=6))
def test_pieces_come_to_the_same_as_the_whole(pieces: list[str]) -> None:
    cleaning = Cleaning()
    found = "".join(map(cleaning.feed, pieces)) + cleaning.feed("", final=True)
    assert found == cleaned("".join(pieces))
    assert "\0" not in found
    assert json.loads(json.dumps(found)) == found.encode().decode()
