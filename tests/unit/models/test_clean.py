"""Replies as they can be held, in whatever pieces they come."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueweave import Message
from trueweave.extend import Prompt
from trueweave.models.clean import Cleaning, Unfencing, cleaned
from trueweave.models.prompts import fence, fence_marks

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


ASKED = Prompt((Message("user", f"Passages\n{fence('[1] Ada')}\n\n{fence('[2] Grace')}\n\nQuestion: Who?"),), 10)
FIRST, SECOND = (fence(text).split("\n")[0].removeprefix("<<<") for text in ("[1] Ada", "[2] Grace"))


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize(
    ("reply", "clean"),
    [
        (f"<<<{FIRST}\nAda [1].\n{FIRST}>>>", "Ada [1].\n"),
        (f"Ada [1]. {SECOND}>>>\nGrace.", "Ada [1]. Grace."),
        (f"<<<{FIRST}>>> Ada, {SECOND}", " Ada, "),
        (f"a <<< b, {FIRST[:5]} and <<<{FIRST[:-1]}", f"a <<< b, {FIRST[:5]} and <<<{FIRST[:-1]}"),
        ("<<<0123456789ab\nno fence of the prompt", "<<<0123456789ab\nno fence of the prompt"),
    ],
)
def test_fences_of_the_prompt_are_removed(reply: str, clean: str, size: int) -> None:
    assert fence_marks(ASKED.messages[0].content) == {FIRST, SECOND}
    unfencing = Unfencing(ASKED)
    pieces = [unfencing.feed(reply[at : at + size]) for at in range(0, len(reply), size)]
    assert "".join(pieces) + unfencing.feed("", final=True) == clean
