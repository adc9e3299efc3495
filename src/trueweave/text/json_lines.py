"""JSON lines: one object a line, plain or gzipped, each with a name of its own."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from trueweave.errors import UnreadableFile

Row = Mapping[str, Any]

MOST_LINE = 64 * 2**20  # bytes


def rows(path: Path) -> Iterator[tuple[int, Row]]:
    """The objects in a file, with the numbers of their lines."""
    return ((number, _row(path, number, line)) for number, line in lines(path))


def lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines of a file that are not empty, with their numbers."""
    number = 0
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            while line := file.readline(MOST_LINE + 1):
                number += 1
                if len(line) > MOST_LINE:
                    raise broken(path, number, f"it is longer than {MOST_LINE // 2**20} MiB")
                if line.strip():
                    yield number, line
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UnreadableFile(f"{path} cannot be unpacked: {error}. Pack it again, or give it without .gz.") from error


def uri_of(row: Row) -> str:
    """What identifies a row; empty when nothing does."""
    return next((str(row[key]) for key in ("uri", "id", "passage_id") if row.get(key) is not None), "")


def broken(path: Path, number: int, problem: str) -> UnreadableFile:
    """What to say of a line that cannot be used."""
    return UnreadableFile(f"{path}, line {number}: {problem}. Mend that line and add the file again.")


def _row(path: Path, number: int, line: bytes) -> Row:
    try:
        row = json.loads(line)
    except ValueError as error:
        raise broken(path, number, str(error)) from error
    except RecursionError as error:
        raise broken(path, number, "it is nested too deeply") from error
    if not isinstance(row, dict):
        raise broken(path, number, "it is not a JSON object")
    if not uri_of(row):
        raise broken(path, number, "it has no uri")
    return row
