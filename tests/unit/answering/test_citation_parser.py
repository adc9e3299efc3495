"""Marks and thoughts in what a model writes, read in pieces of any size."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueweave.answering.citation_parser import LONGEST, CitationParser
from trueweave.answering.reasoning_parser import ReasoningParser

# Texts that are rich in what the reader must decide on.
scraps = st.sampled_from(
    [*"[]\"“”'120 \n,;:a.`【】", "12", "word", "```", '[2 "some words"]', "[1]", "[0] ", '[3 "no', "[sic]", "a[3]"]
) | st.sampled_from(["<think>", "</think>", "<reasoning>", "日本"])
texts = st.lists(scraps, max_size=30).map("".join)


def read(*pieces: str) -> CitationParser:
    marks = CitationParser()
    shown = "".join([marks.feed(piece) for piece in pieces] + [marks.close()])
    assert shown == marks.text
    return marks


def of(text: str) -> list[tuple[int, tuple[str, ...]]]:
    return [(mark.number, mark.quotes) for mark in read(text).marks]


@pytest.mark.parametrize(
    ("written", "shown", "marks"),
    [
        ('It is 5 km [2 "five km long"].', "It is 5 km [2].", [(2, ("five km long",))]),
        ("So [1][2].", "So [1][2].", [(1, ()), (2, ())]),
        ("So [1, 2; 3].", "So [1][2][3].", [(1, ()), (2, ()), (3, ())]),
        ('So [1 "a b", "c d"; 2: “e f”].', "So [1][2].", [(1, ("a b", "c d")), (2, ("e f",))]),
        ('So [1 "he said "no" to it"].', "So [1].", [(1, ('he said "no" to it',))]),
        ('So [1 "the "yes", then no"].', "So [1].", [(1, ('the "yes", then no',))]),
        ("So [1 'it isn't so'].", "So [1].", [(1, ("it isn't so",))]),
        ('So [1 "the tower[3] is tall"].', "So [1].", [(1, ("the tower[3] is tall",))]),
        ("首都です【2「東京は首都」】。", "首都です[2]。", [(2, ("東京は首都",))]),
        ("the capital[1].", "the capital[1].", [(1, ())]),
    ],
)
def test_marks_are_kept_and_their_quotes_are_not_shown(
    written: str, shown: str, marks: list[tuple[int, tuple[str, ...]]]
) -> None:
    assert read(written).text == shown
    assert of(written) == marks


@pytest.mark.parametrize(
    "text",
    [
        "as he [sic] wrote",
        "a[3] = b[0]",
        "`x [1]` is code",
        "```\nrow [2]\n```",
        "in [2024] and []",
        'never [2 "closed',
        "[12 of them]",
        "[1, two]",
        "a list [1 2 3]",
        'a list [1, "two", 3.5]',
        "array[0] is first",
        'gone [2 "\n\nafter a blank line"]',
        f'[2 "{"x" * LONGEST}"]',
    ],
)
def test_other_brackets_stay_as_they_are(text: str) -> None:
    assert read(text).text == text
    assert of(text) == []


def test_a_mark_that_was_never_closed_does_not_swallow_what_follows() -> None:
    marks = read('One [1 "never closed. Two is here [2 "two is here"].')
    assert marks.text == 'One [1 "never closed. Two is here [2].'
    assert [(mark.number, mark.quotes) for mark in marks.marks] == [(2, ("two is here",))]


def test_the_end_of_inline_code_is_the_end_of_its_line_at_the_latest() -> None:
    assert of("a stray ` here [1]\nand [2]") == [(2, ())]
    assert of("`code` and [2]") == [(2, ())]


def test_marks_stand_where_they_are_shown() -> None:
    marks = read(' A [1 "one two"] and [2].')
    assert [marks.text[mark.start : mark.end] for mark in marks.marks] == ["[1]", "[2]"]


def test_number_zero_is_not_shown_and_stands_before_what_follows_it() -> None:
    marks = read(" [0] Nobody says.")
    assert marks.text == "Nobody says."
    assert marks.marks[0].start == marks.marks[0].end == 0
    marks = read("One [1]. [0] Two.")
    assert marks.text == "One [1]. Two."
    assert marks.marks[1].start == marks.text.index("Two")


def test_text_is_shown_as_soon_as_it_cannot_be_a_mark() -> None:
    marks = CitationParser()
    assert marks.feed("Ada wrote") == "Ada wrote"
    assert marks.feed(" [") == ""
    assert marks.feed("s") == " [s"
    assert marks.feed('ic] [1 "no') == "ic]"
    assert marks.feed('tes"') == ""
    assert marks.feed("]") == " [1]"


@given(texts, st.data())
def test_how_a_text_is_cut_into_pieces_makes_no_difference(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    whole, cut, single = read(text), read(*pieces), read(*text)
    assert whole.text == cut.text == single.text
    assert whole.marks == cut.marks == single.marks
    assert thought(text) == thought(*pieces) == thought(*text)


@given(texts)
def test_what_is_shown_has_its_marks_in_order_and_no_white_space_round_it(text: str) -> None:
    marks = read(text)
    assert marks.text == marks.text.strip()
    places = [place for mark in marks.marks for place in (mark.start, mark.end)]
    assert places == sorted(places)
    assert all(marks.text[mark.start : mark.end] == f"[{mark.number}]" for mark in marks.marks if mark.number)


@pytest.mark.parametrize("hostile", ['[1 "', "[", '[1 "[1 "\n', '[1 "a" ', "[0]["])
def test_time_stays_bounded_whatever_is_written(hostile: str) -> None:
    assert read(hostile * (4000 // len(hostile))).text


def thought(*pieces: str) -> tuple[str, str, bool]:
    thoughts = ReasoningParser()
    shown = "".join([thoughts.feed(piece) for piece in pieces] + [thoughts.close()])
    return shown.strip(), thoughts.reasoning, thoughts.unfinished


@pytest.mark.parametrize(
    ("written", "answer", "reasoning"),
    [
        ("Plain.", "Plain.", ""),
        ("<reasoning> One. </reasoning>\nTwo.", "Two.", "One."),
        ("\n<think>One.</think><Reasoning>Two.</Reasoning> Three.", "Three.", "One.\n\nTwo."),
        ("<think>Is </reasoning> a tag?</think>Yes.", "Yes.", "Is </reasoning> a tag?"),
        ("The <think> tag marks thoughts.", "The <think> tag marks thoughts.", ""),
        ("<thin", "<thin", ""),
        ("<thinking>One.</thinking>Two", "Two", "One."),
    ],
)
def test_thoughts_are_kept_apart(written: str, answer: str, reasoning: str) -> None:
    assert thought(written) == (answer, reasoning, False)


def test_a_thought_that_does_not_end_is_no_answer() -> None:
    assert thought("<think>on and on") == ("", "on and on", True)
