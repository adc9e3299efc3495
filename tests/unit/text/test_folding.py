"""One folding for all texts: what is alike becomes equal, and every character of the result has an origin."""

import pytest

from trueweave.text import abbreviations, sentences
from trueweave.text.folding import CASE, PLAIN, PROSE, Folding, bare, is_apart


@pytest.mark.parametrize(
    ("text", "folded"),
    [("Zürich", "zurich"), ("STRASSE", "strasse"), ("Straße", "strasse"), ("Ａda", "ada"), ("ﬁn", "fin")],
)
def test_case_and_accents_are_folded(text: str, folded: str) -> None:
    assert bare(text) == folded


@pytest.mark.parametrize("folding", [CASE, PLAIN, PROSE])
@pytest.mark.parametrize(
    "text", ["A  B", "Straße\n\tnach Zürich", "“Ada’s” *long*\u00ad-\u200bwalk", "plain ascii", ""]
)
def test_each_character_of_the_result_has_an_origin_in_order(folding: Folding, text: str) -> None:
    folded, origins = folding(text)
    assert len(folded) == len(origins)
    assert list(origins) == sorted(origins)
    assert all(0 <= origin < len(text) for origin in origins)


@pytest.mark.parametrize("folding", [CASE, PLAIN, PROSE])
def test_ascii_is_folded_like_any_other_text(folding: Folding) -> None:
    text = 'He said "no" to `that` - *twice*_ .'
    assert folding(text)[0] == folding(text + "é")[0][:-1]


def test_quotation_marks_are_alike_in_prose_and_kept_in_names() -> None:
    assert PROSE('the "first" one')[0] == PROSE("the “first” one")[0]
    assert PLAIN('the "first" one')[0] != PLAIN("the “first” one")[0]
    assert PLAIN("Ada’s")[0] == PLAIN("Ada's")[0]


def test_words_part_at_spaces_and_between_characters_of_scripts_without_spaces() -> None:
    assert not is_apart("a", "b")
    assert is_apart("a", " ")
    assert is_apart("", "b")
    assert is_apart("東", "京")


@pytest.mark.parametrize("short", sorted(abbreviations.ALL))
def test_no_sentence_ends_behind_an_abbreviation(short: str) -> None:
    assert len(sentences.split(f"It was {short}. Ada who said so.")) == 1


@pytest.mark.parametrize("title", abbreviations.TITLES)
def test_no_sentence_ends_behind_a_title_before_a_name(title: str) -> None:
    assert len(sentences.gapless(f"We met {title}. Lovelace again in spring.")) == 1
