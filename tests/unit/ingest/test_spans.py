"""Where names stand in a text."""

import gzip
import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueweave.ingest.extract.spans import MOST, Finder


def found(text: str, name: str) -> list[str]:
    return [text[start:end] for start, end in Finder(text).find(name)]


@pytest.mark.parametrize(
    ("text", "name", "places"),
    [
        pytest.param("Ada met Ada.", "Ada", ["Ada", "Ada"], id="every place"),
        pytest.param("Adam saw ADA, not Canada", "Ada", ["ADA"], id="whole words only"),
        pytest.param("Ada and ADA", "Ada", ["Ada"], id="as written before any case"),
        pytest.param("Ada\n  Lovelace’s notes", "Ada Lovelace", ["Ada\n  Lovelace"], id="white space"),
        pytest.param("Rene\u0301 wrote, then René", "rené", ["René"], id="composed letters in another case"),
        pytest.param("by Rene\u0301, here", "René", ["Rene\u0301"], id="an accent of its own is part of the place"),
        pytest.param("in Sao Paulo", "São Paulo", ["Sao Paulo"], id="accents"),
        pytest.param("the Straße there", "STRASSE", ["Straße"], id="a letter that folds to two"),
        pytest.param("Jean–Paul O’Neill", "Jean-Paul O'Neill", ["Jean–Paul O’Neill"], id="dashes and apostrophes"),
        pytest.param("wel\u00adcome, Ada", "welcome", ["wel\u00adcome"], id="soft hyphens"),
        pytest.param("C++ (and C)", "C++", ["C++"], id="signs are no patterns"),
        pytest.param("a.b axb", "a.b", ["a.b"], id="a point is a point"),
        pytest.param("彼は東京都にいる", "東京", ["東京"], id="scripts without borders of words"),
        pytest.param("Ada", "Babbage", [], id="absent"),
        pytest.param("Ada", "", [], id="an empty name"),
        pytest.param("Ada", " \u200b", [], id="a name of nothing"),
        pytest.param("", "Ada", [], id="an empty text"),
    ],
)
def test_a_name_is_found(text: str, name: str, places: list[str]) -> None:
    assert found(text, name) == places


def test_a_name_is_found_at_most_so_often() -> None:
    assert len(found("Ada " * 1000, "Ada")) == MOST


@given(st.text(), st.text(min_size=1, max_size=4))
def test_spans_lie_within_the_text_in_order_and_do_not_overlap(text: str, name: str) -> None:
    spans = Finder(text).find(name)
    edges = [edge for span in spans for edge in span]
    assert edges == sorted(edges)
    assert all(0 <= start < end <= len(text) for start, end in spans)


def test_hostile_names_take_no_longer_than_the_text_is_long() -> None:
    text = "a" * 50_000 + " (((((" + "é" * 1000
    names = ["a" * 199, "(a+)+$", "a" * 100 + "b", "é" * 150, "((((("]
    begun = time.process_time()
    finder = Finder(text)
    assert [bool(finder.find(name)) for name in names] == [False, False, False, False, True]
    assert time.process_time() - begun < 2


def test_most_names_in_real_replies_are_found(bench: Path) -> None:
    with gzip.open(bench / "christmas_carol" / "book.txt.gz") as file:
        finder = Finder(file.read().decode())
    with gzip.open(bench / "christmas_carol" / "nano" / "mock_cache.jsonl.gz") as file:
        rows = [json.loads(line) for line in file]
    names = {entity["name"] for row in rows if row["kind"] == "extract" for entity in row["entities"]}
    there = [name for name in names if finder.find(name)]
    assert len(there) > 0.7 * len(names) > 100
