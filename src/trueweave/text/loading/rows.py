"""Rows: files that hold one document a line or a row."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trueweave.errors import InvalidDocument, UnreadableFile
from trueweave.text.draft import MOST_TEXT
from trueweave.text.json_lines import broken, rows, uri_of
from trueweave.text.loading.reading import not_text, open_text
from trueweave.text.names import storable
from trueweave.types import Json, Source

_TEXT_COLUMNS = ("text", "content", "body")
_NAMING = ("uri", "id", "passage_id", "title")
_KINDS: Mapping[type, str] = {str: "a string", dict: "an object"}


@dataclass(frozen=True, slots=True)
class JsonLines:
    """Reads one document a line: `text`, its `uri` (or `id`, or `passage_id`), and perhaps `title` and `metadata`."""

    suffixes: frozenset[str] = frozenset({".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz"})

    def load(self, path: Path, uri: str) -> Iterator[Source]:
        for number, row in rows(path):
            try:
                made = _source(row)
            except InvalidDocument as error:
                raise broken(path, number, str(error)) from error
            yield made


def _source(row: Mapping[str, Any]) -> Source:
    given = {"title": "", "metadata": {}} | {key: value for key, value in row.items() if value is not None}
    for key, kind in {"text": str, "title": str, "metadata": dict}.items():
        if not isinstance(given.get(key), kind):
            raise UnreadableFile(f"its {key} is {'missing' if key not in given else 'not ' + _KINDS[kind]}")
    return Source(uri_of(row), storable(given["text"]), storable(given["title"]), given["metadata"])


@dataclass(frozen=True, slots=True)
class Table:
    """Reads one document a row of a table whose first row names the columns.

    Its text is the column `text`, `content` or `body`, and the others are metadata; without such a column it is every
    column on a line of its own, as `name: value`. The columns `uri` (or `id`) and `title` are what they say; a row
    without a name is `file.csv#1` and so on, in order.
    """

    suffixes: frozenset[str] = frozenset({".csv", ".tsv"})

    def load(self, path: Path, uri: str) -> Iterator[Source]:
        # The limit of a field is one for the whole process, and the default is less than a long article.
        csv.field_size_limit(max(csv.field_size_limit(), MOST_TEXT))
        with open_text(path) as file:
            try:
                header = file.readline(MOST_TEXT)
                file.seek(0)
                records = csv.reader(file, delimiter=_delimiter(path, header), strict=True)
                names = [storable(name).strip() for name in next(records, [])]
                for number, record in enumerate(filter(any, records), 1):
                    yield _record(names, record, f"{uri}#{number}")
            except UnicodeDecodeError as error:
                raise not_text(str(path), error) from error
            except csv.Error as error:
                raise UnreadableFile(f"{path}, line {records.line_num}: {error}. Mend that row.") from error


def _delimiter(path: Path, header: str) -> str:
    """What stands between columns: a tab in .tsv, and else what the first row has most of."""
    return "\t" if path.suffix.lower() == ".tsv" else max(",;\t", key=header.count)


def _record(names: list[str], record: list[str], uri: str) -> Source:
    if len(record) > len(names):
        raise UnreadableFile(f"{uri} has {len(record)} fields, and the first row names {len(names)}. Mend that row.")
    fields = [(name, storable(value)) for name, value in zip(names, record, strict=False) if value]
    known = {name.lower(): value for name, value in fields}
    naming = uri_of(known) or uri, known.get("title", "")
    columns = {name.lower() for name in names}
    if column := next((name for name in _TEXT_COLUMNS if name in columns), None):
        rest: dict[str, Json] = {name: value for name, value in fields if name.lower() not in (column, *_NAMING)}
        return Source(naming[0], known.get(column, ""), naming[1], rest)
    return Source(naming[0], "\n".join(f"{name}: {value}" for name, value in fields), naming[1])
