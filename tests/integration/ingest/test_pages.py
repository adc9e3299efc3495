"""Pages written for this are read as they should be: see tests/data/pages.txt. benchmarks/parsing.py measures more."""

from pathlib import Path

import pytest

from tests.pages import Kind, sample_pages, write_sample
from trueweave import Source
from trueweave.ingest.loading import documents


@pytest.mark.parametrize("kind", ["text", "columns", "table"])
def test_every_character_and_cell_of_the_pages_is_read(kind: Kind, tmp_path: Path) -> None:
    pages = sample_pages(kind)
    [source] = documents.pdf().load(write_sample(tmp_path / "a.pdf", pages), "u")
    assert isinstance(source, Source)
    read = source.text
    assert " ".join(read.split()) == " ".join(page.expected for page in pages)
    assert [place.label for place in source.places if place.kind == "heading"] == [page.title for page in pages]
    assert [line.split(" | ") for line in read.splitlines() if " | " in line] == [
        row for page in pages for row in page.rows
    ]


def test_there_are_thirty_pages() -> None:
    assert [len(sample_pages(kind)) for kind in ("text", "scan", "columns", "table")] == [8, 8, 7, 7]
