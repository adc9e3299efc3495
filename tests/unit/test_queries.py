"""SQL lives in files, and code asks for it by name."""

import re
from importlib.resources import files
from pathlib import Path

import trueweave
from trueweave.store.postgres.queries import QUERIES


def test_every_query_that_code_names_exists() -> None:
    stems = {name.partition(".")[0] for name in QUERIES}
    code = "\n".join(path.read_text("utf-8") for path in Path(str(files(trueweave))).rglob("*.py"))
    named = re.findall(rf'"((?:{"|".join(sorted(stems))})\.(?!sql)\w+)"', code)
    assert len(named) > len(QUERIES) // 2
    assert set(named) <= set(QUERIES)


def test_a_query_is_the_text_between_its_name_and_the_next() -> None:
    assert all(text and "-- name:" not in text for text in QUERIES.values())
