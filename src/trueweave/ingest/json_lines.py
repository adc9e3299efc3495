"""JSON lines: one object per line, plain or gzipped, each with its own name."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from trueweave.core.errors import UnreadableFile
from trueweave.ingest import reading_limits
from trueweave.text.uris import ROW, is_absolute

Row = Mapping[str, Any]

MOST_LINE = 64 * 2**20  # bytes

_BLOCK, _LINES = 2**20, 2**14  # how often limits are checked


def rows(path: Path) -> Iterator[tuple[int, Row]]:
    """The objects in a file, with their line numbers. An invalid line is an error."""
    for number, data in lines(path):
        try:
            row = parsed(data)
        except UnreadableFile as error:
            raise broken(path, number, str(error)) from error
        yield number, row


def lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The non-empty lines of a file, with their numbers."""
    number = size = 0
    limits, is_packed = reading_limits.current(), path.suffix == ".gz"
    try:
        with gzip.open(path) if is_packed else path.open("rb") as file:
            while line := file.readline(MOST_LINE + 1):
                number += 1
                size += len(line)
                if size > _BLOCK or not number % _LINES:  # a file may consist of line breaks only
                    limits.unpack(size) if is_packed else limits.check()
                    size = 0
                if len(line) > MOST_LINE:
                    raise broken(path, number, f"it is longer than {MOST_LINE // 2**20} MiB")
                if line.strip():
                    yield number, line
            if is_packed:
                limits.unpack(size)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UnreadableFile(f"{path} cannot be unpacked: {error}. Pack it again, or give it without .gz.") from error


def name_of(row: Row) -> str:
    """The name of a row in its file; empty if it has none."""
    return next((str(row[key]) for key in ("uri", "id", "passage_id") if row.get(key) is not None), "")


def row_uri(row: Row, file: str, otherwise: str = "") -> str:
    """The uri of a row in the file of that uri. Its own uri is kept if it is absolute."""
    name = name_of(row) or otherwise
    return name if row.get("uri") is not None and is_absolute(name) else f"{file}{ROW}{name}"


def place(path: Path, number: int) -> str:
    """A line of a file, for messages."""
    return f"{path}, line {number}"


def broken(path: Path, number: int, problem: str) -> UnreadableFile:
    """The error for an invalid line."""
    return UnreadableFile(f"{place(path, number)}: {problem}. Fix that line and add the file again.")


def parsed(line: bytes) -> Row:
    """The object in a line, which must have a name."""
    try:
        row = json.loads(line)
    except ValueError as error:
        raise UnreadableFile(str(error)) from error
    except RecursionError as error:
        raise UnreadableFile("it is nested too deeply") from error
    if not isinstance(row, dict):
        raise UnreadableFile("it is not a JSON object")
    if not name_of(row):
        raise UnreadableFile("it has no id")
    return row
