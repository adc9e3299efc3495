"""CSV and TSV files with one triple per row.

Without a header, each row is subject, predicate and object. With a header, columns are found by name: source (or
subject, head, from), target (or object, tail, to), and optionally predicate (or relation), description, keywords,
weight, source_type and target_type.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path

from trueweave.core.errors import UnreadableFile
from trueweave.core.events import Listener
from trueweave.core.record import Document
from trueweave.formats.importing.graphs import stated
from trueweave.formats.importing.telling import refuse
from trueweave.ingest.json_lines import broken, place
from trueweave.ingest.loading.reading import open_text, undecodable
from trueweave.text.names import tidy
from trueweave.text.text_builder import MOST_TEXT

_SOURCE = ("source", "subject", "head", "from", "start", "src")
_TARGET = ("target", "object", "tail", "to", "end", "dst")
_BARE = ("subject", "predicate", "object")


def read(path: Path, uri: str, listener: Listener | None = None) -> Iterator[Document]:
    """Documents that state the triples of a file, read row by row. A row that cannot be used is refused."""
    yield from stated(_elements(path, listener), uri, path.name, listener)


def _elements(path: Path, listener: Listener | None) -> Iterator[tuple[tuple[str, str], Mapping[str, str]]]:
    for line, values in _rows(path, listener):
        source, target = (
            next((values[name] for name in names if values.get(name)), "") for names in (_SOURCE, _TARGET)
        )
        if tidy(source) and tidy(target):
            yield (source, target), values
        else:
            refuse(listener, place(path, line), broken(path, line, "it has no subject or no object"))


def _rows(path: Path, listener: Listener | None) -> Iterator[tuple[int, Mapping[str, str]]]:
    """The rows by column name, with their line numbers."""
    # The field size limit is global to the process, and its default is smaller than a long article.
    csv.field_size_limit(max(csv.field_size_limit(), MOST_TEXT))
    opened, _ = open_text(path)
    with opened as file:
        header = file.readline(MOST_TEXT)
        file.seek(0)
        records = csv.reader(file, delimiter=_delimiter(path, header), strict=True)
        names: tuple[str, ...] = ()
        try:
            for record in filter(any, records):
                if not names:
                    names = tuple(name.strip().lower() for name in record)
                    if {*names} & {*_SOURCE} and {*names} & {*_TARGET}:
                        continue
                    names = _bare(path, record)
                if len(record) > len(names):
                    problem = f"it has {len(record)} fields, and there are {len(names)} columns"
                    refuse(listener, place(path, records.line_num), broken(path, records.line_num, problem))
                    continue
                yield records.line_num, dict(zip(names, record, strict=False))
        except UnicodeDecodeError as error:
            raise undecodable(str(path), error) from error
        except csv.Error as error:
            raise broken(path, records.line_num, str(error)) from error


def _bare(path: Path, first: list[str]) -> tuple[str, ...]:
    if len(first) != len(_BARE):
        raise UnreadableFile(
            f"{path} has {len(first)} columns, and none of them is called source or target. Name the columns in the "
            "first row (source, predicate, target …), or give three: subject, predicate, object."
        )
    return _BARE


def _delimiter(path: Path, header: str) -> str:
    """The column separator: a tab in .tsv, or the most frequent candidate in the first row."""
    return "\t" if path.suffix.lower() == ".tsv" else max(",;\t", key=header.count)
