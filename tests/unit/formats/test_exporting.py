"""Formats of exports, without a database: what is escaped, and what a file that failed leaves behind."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueweave import Chunk, Document, Link, Mention, Place
from trueweave.formats.exporting import cypher
from trueweave.formats.exporting.files import Pieces, folder, replacing, write_text
from trueweave.ingest.extract import preannotated
from trueweave.ingest.extract.preannotated import written as line

HOSTILE = [
    "O'Neill",
    'a "quoted" name',
    "back\\slash",
    "ends with a backslash\\",
    "`backticks`",
    "two\nlines\r\nand\ta tab",
    "'}) DETACH DELETE n; //",
    "\\u0027}) DETACH DELETE n; //",
    "\\\\u0027 and \\U0027",
    "\\u0060\\u005c'",
    "a null \x00 and an escape \x1b[31m",
    "Ωμέγα 東京 \u2028 😀",
    "half \ud83d a character",
    "",
]
_TOKEN = re.compile(r"'((?:[^'\\]|\\.)*)'(?: \+ |$)", re.DOTALL)
_MEANT = {"\\\\": "\\", "\\'": "'", "\\n": "\n", "\\r": "\r", "\\t": "\t"}


def read_back(written: str) -> str:
    """What Cypher reads from strings with + between them."""
    found, place = "", 0
    while place < len(written):
        token = _TOKEN.match(written, place)
        assert token, f"{written!r} is no string at {place}"
        found += re.sub(r"\\.", lambda escape: _MEANT[escape[0]], token[1])
        place = token.end()
    return found


def kept(text: str) -> str:
    return re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]", "", text)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_string_in_cypher_is_read_as_it_was(text: str) -> None:
    written = cypher.literal(text)
    assert read_back(written) == kept(text)
    assert not re.search(r"\\[uU]", written), "which may be read as a character before quotes are looked at"
    assert "\n" not in written


@given(st.text(alphabet="\\uU0027'\n`é\x00", max_size=30))
def test_any_string_in_cypher_is_read_as_it_was(text: str) -> None:
    written = cypher.literal(text)
    assert read_back(written) == kept(text)
    assert not re.search(r"\\[uU]", written)


def test_other_values_in_cypher() -> None:
    assert cypher.literal(None) == "null"
    assert cypher.literal(["a", "b'"]) == "['a', 'b\\'']"
    assert cypher.literal(7) == "7"
    assert cypher.literal([]) == "[]"


async def _broken() -> Pieces:
    yield "the beginning"
    raise OSError("the disk is full")


async def test_a_file_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    file = tmp_path / "graph.json"
    file.write_text("before")
    with pytest.raises(OSError, match="disk is full"):
        await write_text(file, _broken())
    assert [file.name for file in (tmp_path / ".").glob("*")] == ["graph.json"]
    assert file.read_text() == "before"


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_a_folder_that_fails_is_removed_if_it_is_new(tmp_path: Path, error: type[BaseException]) -> None:
    def attempt() -> None:
        with folder(tmp_path / "new"), replacing(tmp_path / "new" / "a.parquet") as partial:
            partial.write_text("some")
            raise error

    with pytest.raises(error):
        attempt()
    assert list(tmp_path.iterdir()) == []


def _documents() -> Iterator[Document]:
    for n, text in enumerate(HOSTILE):
        clean = re.sub(r"[\x00\ud800-\udfff]", "", text)
        said = (Mention(clean or "x", " t ", "d", 7, ((0, 1),)),), (Link(clean or "x", "y", "z", ("k", "l"), 8, 2),)
        yield Document(
            f"notes/{n}.md",
            (Chunk(f" {clean} ", 3, 4, *said), Chunk("bare")),
            f" {clean} ",
            {" key ": [clean, {"deep": None}], "n": 1.5},
            (Place(0, "page", " 1 ", offset=3), Place(2, "heading", "H", 2)),
        )
    yield Document("empty", ())


@pytest.mark.parametrize("document", list(_documents()), ids=lambda document: document.uri)
def test_a_document_is_read_back_from_its_line(document: Document) -> None:
    written = line(document)
    assert written.count("\n") == 1
    read = preannotated.document(json.loads(written), document.uri)
    assert [chunk.text for chunk in read.chunks] == [chunk.text for chunk in document.chunks]
    assert (read.title, read.metadata, read.places) == (document.title, document.metadata, document.places)
    for was, now in zip(document.chunks, read.chunks, strict=True):
        assert (now.start, now.tokens, now.links) == (was.start, was.tokens, was.links)
        assert [(m.name, m.emphasis, m.spans) for m in now.mentions] == [
            (m.name.strip(), m.emphasis, m.spans) for m in was.mentions
        ]
