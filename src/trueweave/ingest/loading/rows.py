"""Rows: files with one document per line or row.

The uri of a row consists of the uri of its file and its name there, as in `data/a.csv#7`, because two files may use the
same numbers. An invalid row is reported by its line, and the others are read.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from trueweave.core.errors import InvalidDocument, UnreadableFile
from trueweave.core.events import Refused
from trueweave.core.record import Json, Source, stated_readers
from trueweave.ingest.json_lines import broken, lines, parsed, place, row_uri
from trueweave.ingest.loading.reading import open_text, undecodable
from trueweave.text.names import storable
from trueweave.text.text_builder import MOST_TEXT

TEXT_COLUMNS = ("text", "content", "body")
_NAMING = ("uri", "id", "passage_id", "title")
_KINDS: Mapping[type, str] = {str: "a string", dict: "an object"}


@dataclass(frozen=True, slots=True)
class JsonLines:
    """Reads one document per line: `text`, its `id` (or `uri`, or `passage_id`), and perhaps `title`, `metadata` and
    `readers`, the groups that may read it."""

    suffixes: frozenset[str] = frozenset({".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz"})

    def load(self, path: Path, uri: str) -> Iterator[Source | Refused]:
        for number, data in lines(path):
            origin = place(path, number)
            try:
                made = row_source(parsed(data), uri, origin)
            except InvalidDocument as error:
                yield Refused(origin, str(broken(path, number, str(error))))
            else:
                yield made


def row_source(row: Mapping[str, Any], file: str, origin: str) -> Source:
    """The document in a row of the file of that uri; `origin` is the position of the row, for messages."""
    given = {"title": "", "metadata": {}} | {key: value for key, value in row.items() if value is not None}
    for key, kind in {"text": str, "title": str, "metadata": dict}.items():
        if not isinstance(given.get(key), kind):
            raise UnreadableFile(f"its {key} is {'missing' if key not in given else 'not ' + _KINDS[kind]}")
    text, title = storable(given["text"]), storable(given["title"])
    uri = row_uri(row, file)
    readers = stated_readers(uri, given["readers"]) if "readers" in given else None
    return Source(uri, text, title, given["metadata"], origin=origin, readers=readers)


@dataclass(frozen=True, slots=True)
class Table:
    """Reads one document per row of a table whose first row names the columns. Sheets of Excel follow the same rule.

    The text is the column `text`, `content` or `body`, and the others are metadata; without such a column, the text has
    a line `name: value` for every column. The columns `id` (or `uri`) and `title` are used as such; a row without a
    name is `file.csv#1` and so on, in order.
    """

    suffixes: frozenset[str] = frozenset({".csv", ".tsv"})

    def load(self, path: Path, uri: str) -> Iterator[Source | Refused]:
        # The limit of a field is global to the process, and its default is smaller than a long article.
        csv.field_size_limit(max(csv.field_size_limit(), MOST_TEXT))
        opened, notes = open_text(path)
        with opened as file:
            try:
                header = file.readline(MOST_TEXT)
                file.seek(0)
                records = csv.reader(file, delimiter=_delimiter(path, header), strict=True)
                names = [storable(name).strip() for name in next(records, [])]
                for number, record in enumerate(filter(any, records), 1):
                    origin = place(path, records.line_num)
                    try:
                        made = table_row(_fields(names, record), uri, number, origin, notes)
                    except InvalidDocument as error:
                        yield Refused(origin, str(broken(path, records.line_num, str(error))))
                    else:
                        yield made
            except UnicodeDecodeError as error:
                raise undecodable(str(path), error) from error
            except csv.Error as error:
                raise broken(path, records.line_num, str(error)) from error


def _delimiter(path: Path, header: str) -> str:
    """The column separator: a tab in .tsv, or the most frequent candidate in the first row."""
    return "\t" if path.suffix.lower() == ".tsv" else max(",;\t", key=header.count)


def _fields(names: list[str], record: list[str]) -> list[tuple[str, str]]:
    if len(record) > len(names):
        raise UnreadableFile(f"it has {len(record)} fields, and the first row names {len(names)}")
    return list(zip_longest(names, record, fillvalue=""))


def table_row(cells: list[tuple[str, str]], file: str, number: int, origin: str, notes: tuple[str, ...]) -> Source:
    """The document in a row of a table, from the names and values of its cells: the rule that `Table` documents."""
    fields = [(name, storable(value)) for name, value in cells if value]
    known = {name.lower(): value for name, value in fields}
    uri, title = row_uri(known, file, str(number)), known.get("title", "")
    columns = {name.lower() for name, _ in cells}
    if column := next((name for name in TEXT_COLUMNS if name in columns), None):
        rest: dict[str, Json] = {name: value for name, value in fields if name.lower() not in (column, *_NAMING)}
        return Source(uri, known.get(column, ""), title, rest, notes=notes, origin=origin)
    text = "\n".join(f"{name}: {value}" for name, value in fields)
    return Source(uri, text, title, notes=notes, origin=origin)
