"""SQL lives in files, and code asks for it by name."""

import re
from importlib.resources import files
from pathlib import Path

import pytest

import trueweave
from trueweave.store.postgres.queries import QUERIES, parse


def test_every_query_that_code_names_exists() -> None:
    stems = {name.partition(".")[0] for name in QUERIES}
    code = "\n".join(path.read_text("utf-8") for path in Path(str(files(trueweave))).rglob("*.py"))
    # Files and events of the log have names of the same form.
    named = re.findall(rf'(?<!"event": )"((?:{"|".join(sorted(stems))})\.(?!sql|npz)\w+)"', code)
    assert len(named) > len(QUERIES) // 2
    assert set(named) <= set(QUERIES)


def test_a_query_is_the_text_between_its_name_and_the_next() -> None:
    assert all(text and "-- name:" not in text for text in QUERIES.values())


def test_two_queries_of_one_name_are_refused() -> None:
    twice = "-- name: x\nSELECT 1\n\n-- name: x\nSELECT 2\n"
    with pytest.raises(ValueError, match=r"two queries read\.x"):
        parse({"read": twice})
    assert parse({"read": "-- name: x\nSELECT 1", "write": "-- name: x\nSELECT 2"}).keys() == {"read.x", "write.x"}


def test_a_query_without_a_body_is_refused() -> None:
    for empty in ("-- name: x\n", "-- name: x\n-- says nothing\n\n-- name: y\nSELECT 1"):
        with pytest.raises(ValueError, match=r"read\.x has no body"):
            parse({"read": empty})
