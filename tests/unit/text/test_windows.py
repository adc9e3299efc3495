"""Keyed hashes of runs of words."""

import numpy as np
import pytest

from trueweave.text.windows import WORDS, WindowHashes

TEXT = "The patient was admitted on a rainy Tuesday in March with a broken collarbone"


@pytest.fixture
def hashes() -> WindowHashes:
    return WindowHashes(b"k" * 32)


def shared(hashes: WindowHashes, one: str, *others: str) -> list[int]:
    """In which of the other texts a window of the first is."""
    size, wanted = hashes.of_text(one)
    found, text_of = hashes.of_sizes(others, [size])
    return sorted(set(text_of[np.isin(found, wanted)].tolist()))


def test_eight_words_in_a_row_are_found_in_any_case_and_punctuation(hashes: WindowHashes) -> None:
    quoted = "He WAS Admitted on a “rainy”\nTuesday, in-March!"
    assert shared(hashes, TEXT, "nothing", quoted, TEXT) == [1, 2]
    assert shared(hashes, TEXT, "admitted on a rainy Tuesday in April") == []
    assert shared(hashes, TEXT, "March in Tuesday rainy a on admitted was") == [], "another order"


def test_a_window_does_not_reach_into_the_next_text(hashes: WindowHashes) -> None:
    assert shared(hashes, TEXT, "admitted on a rainy", "Tuesday in March with") == []


def test_a_short_text_is_looked_for_as_a_whole_and_a_shorter_one_is_not(hashes: WindowHashes) -> None:
    assert hashes.of_text("A broken collarbone, then.")[0] == 4
    assert shared(hashes, "A broken collarbone, then.", "with a broken collarbone then he") == [0]
    assert hashes.of_text("Broken.")[0] == 0
    assert hashes.of_text(TEXT)[1].size == len(TEXT.split()) - WORDS + 1


def test_a_script_without_spaces_is_read_by_characters(hashes: WindowHashes) -> None:
    assert shared(hashes, "患者は火曜日に入院した。", "彼は「火曜日に入院した」と言った") == [0]


def test_hashes_depend_on_the_key(hashes: WindowHashes) -> None:
    other = WindowHashes(b"l" * 32)
    assert not np.isin(hashes.of_text(TEXT)[1], other.of_text(TEXT)[1]).any()
    assert hashes.value("a") != other.value("a")
    assert hashes.value("a") != hashes.value("A")
