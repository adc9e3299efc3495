"""Documents with their entities and triples, read from JSON lines."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from trueweave import Chunk, Document, Link, Mention
from trueweave.errors import InvalidDocument
from trueweave.events import Refused
from trueweave.ingest.extract.preannotated import read

FULL_RELATION = {
    "source": "Ada",
    "source_type": "p",
    "target": "Babbage",
    "target_type": "q",
    "description": "d",
    "keywords": ["k", "l"],
    "strength": 8,
    "emphasis": 2,
    "spans": [[0, 1]],
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "given.jsonl"


def write(file: Path, *rows: dict[str, Any]) -> Path:
    file.write_text("\n\n".join(map(json.dumps, rows)), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("row", "chunk"),
    [
        pytest.param({}, Chunk("text"), id="text alone"),
        pytest.param({"entities": None, "triples": None, "relations": None}, Chunk("text"), id="null is nothing"),
        pytest.param(
            {"entities": ["Ada", {"name": " Ida "}, "", {"name": " "}]},
            Chunk("text", mentions=(Mention("Ada"), Mention("Ida"))),
            id="entities as strings and objects, empty ones left out",
        ),
        pytest.param(
            {"entities": [{"name": "Ada", "type": "p", "description": "d", "emphasis": 7, "spans": [[0, 2], [3, 4]]}]},
            Chunk("text", mentions=(Mention("Ada", "p", "d", 7, ((0, 2), (3, 4))),)),
            id="every field of an entity",
        ),
        pytest.param(
            {"triples": [["Ada", "wrote to", "Babbage"], ["Ada", "", "Byron"], ["Ada", "met", None]]},
            Chunk("text", links=(Link("Ada", "Babbage", "wrote to"),)),
            id="triples, those with a gap left out",
        ),
        pytest.param(
            {
                "triples": [["a", "b", "c"]],
                "relations": [
                    {"source": "Ada", "target": "Babbage"},
                    FULL_RELATION,
                ],
            },
            Chunk(
                "text",
                links=(
                    Link("a", "c", "b"),
                    Link("Ada", "Babbage"),
                    Link("Ada", "Babbage", "d", ("k", "l"), 8, 2, ((0, 1),), "p", "q"),
                ),
            ),
            id="every field of a relation, after the triples",
        ),
    ],
)
def test_a_document_of_one_chunk(file: Path, row: dict[str, Any], chunk: Chunk) -> None:
    assert list(read(write(file, {"uri": "u", "text": "text", **row}), uri="f")) == [Document("f#u", (chunk,))]


def test_every_field_of_a_document_and_of_its_chunks(file: Path) -> None:
    chunks = [
        {"text": "Zürich", "start": 0, "tokens": 2, "entities": ["Zürich"]},
        {"text": "東京", "start": 7, "tokens": 3, "triples": [["東京", "is in", "日本"]]},
    ]
    given = {"uri": "u", "title": "Cities", "metadata": {"year": 2020, "by": None}, "chunks": chunks}
    first = Chunk("Zürich", 0, 2, (Mention("Zürich"),))
    second = Chunk("東京", 7, 3, links=(Link("東京", "日本", "is in"),))
    assert list(read(write(file, given), uri="f")) == [
        Document("f#u", (first, second), "Cities", {"year": 2020, "by": None})
    ]


@pytest.mark.parametrize(
    ("row", "uri"),
    [({"uri": "u", "id": "i"}, "u"), ({"id": 7, "passage_id": 8}, "7"), ({"passage_id": 0}, "0")],
)
def test_an_id_names_a_row_in_its_file(file: Path, row: dict[str, Any], uri: str) -> None:
    assert [document.uri for document in read(write(file, {**row, "text": "text"}), uri="f")] == [f"f#{uri}"]


def test_a_gzipped_file_reads_like_a_plain_one_and_empty_lines_do_not_count(file: Path) -> None:
    write(file, {"uri": "u", "text": "Zürich"}, {"uri": "v", "text": "v"})
    packed = file.with_suffix(".jsonl.gz")
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert (
        list(read(packed, uri="f"))
        == list(read(file, uri="f"))
        == [Document("f#u", (Chunk("Zürich"),)), Document("f#v", (Chunk("v"),))]
    )


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"uri": "u", "text": "cut of', "Unterminated string"),
        ('["u", "text"]', "not a JSON object"),
        ('{"uri": "u", "text": "\udcff"}', "can't decode byte 0xff"),
        ('{"uri": "u"}', "chunks 0 text: field required"),
        ('{"uri": "u", "chunks": [{"start": 3}]}', "chunks 0 text: field required"),
        ('{"text": "of whom?"}', "it has no id"),
        ('{"uri": "u", "text": "\\u0000"}', "contains a NUL"),
        ('{"uri": "u", "text": "t", "entities": [{"type": "nameless"}]}', "entities 0 name: field required"),
        ('{"uri": "u", "text": "t", "entities": [{"name": "Ada", "emphasis": 12}]}', "emphasis of 'Ada' is 12"),
        ('{"uri": "u", "text": "t", "triples": [["Ada", "knows"]]}', "triples 0: list should have at least 3 items"),
        ('{"uri": "u", "text": null}', "text: field required"),
        ('{"uri": "u", "text": "t", "entities": [{"name": "Ada", "emphasis": 0}]}', "emphasis of 'Ada' is 0"),
        ('{"uri": "u", "text": "t", "metadata": ["a"]}', "metadata: input should be a valid dictionary"),
        ('{"uri": "u", "text": "t", "triples": ["abc"]}', "triples 0: input should be a valid list"),
        ('{"uri": "u", "text": "t", "triples": [[1, 2, 3]]}', "triples 0 0: input should be a valid string"),
        ('{"uri": "u", "text": "t", "relations": [{"source": "Ada"}]}', "relations 0 target: field required"),
        (
            '{"uri": "u", "text": "t", "relations": [{"source": "a", "target": "b", "strength": "very"}]}',
            "strength: input should be a valid number",
        ),
    ],
)
def test_a_broken_line_is_named_and_those_before_it_are_read(file: Path, line: str, problem: str) -> None:
    file.write_text('{"uri": "u", "text": "whole"}\n\n' + line, encoding="utf-8", errors="surrogateescape")
    documents = read(file, uri="f")
    assert next(documents).uri == "f#u"
    with pytest.raises(InvalidDocument, match=rf"{re.escape(str(file))}, line 3: .*{re.escape(problem)}.* Fix that"):
        next(documents)


def test_a_broken_line_is_refused_and_the_others_are_read_if_somebody_listens(file: Path) -> None:
    file.write_text('{"id": 1, "text": "one"}\n{"id": 2, "text": "t", "metadata": {"x": NaN}}\n{"id": 3, "text": "t"}')
    refused: list[Refused] = []
    assert [document.uri for document in read(file, uri="f", refused=refused.append)] == ["f#1", "f#3"]
    assert [one.place for one in refused] == [f"{file}, line 2"]
    assert "its metadata contains nan" in refused[0].reason


def test_without_a_uri_of_the_file_its_whole_path_begins_those_of_its_rows(file: Path) -> None:
    assert [document.uri for document in read(write(file, {"id": 1, "text": "t"}))] == [f"{file}#1"]
