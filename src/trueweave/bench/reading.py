"""Reads files of questions and passages, row by row: JSON lines or a JSON array, plain or gzipped."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any

from trueweave.core.errors import UnreadableFile
from trueweave.ingest.json_lines import MOST_LINE, lines

_BLOCK = 2**20  # characters
_BETWEEN = " \t\r\n,"
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Row:
    """One object of a file, and where it is. Errors name that place."""

    path: Path
    number: int
    values: Mapping[str, Any]
    unit: str = "line"

    def __contains__(self, key: str) -> bool:
        return self.values.get(key) is not None

    def get(self, key: str, otherwise: Any = None) -> Any:
        """The value of this key; `otherwise` if it is missing or null."""
        found = self.values.get(key)
        return otherwise if found is None else found

    def text(self, *keys: str) -> str:
        """The text or number under the first of these keys that the row has."""
        for key in keys:
            if key in self:
                return self._storable(key, self.values[key])
        raise self.broken(f'it has no "{keys[0]}"')

    def texts(self, key: str) -> tuple[str, ...]:
        """The texts under this key: none, one, or a list of them."""
        found = self.get(key, [])
        listed = found if isinstance(found, list) else [found]
        return tuple(self._storable(key, one) for one in listed)

    def quoted(self, key: str) -> tuple[tuple[str, str], ...]:
        """The texts under this key, each with a quote from it if it is an object with both, as in {"uri": "…", "quote":
        "…"}; the quote is otherwise empty."""
        found = self.get(key, [])
        pairs = []
        for one in found if isinstance(found, list) else [found]:
            if isinstance(one, dict):
                row = replace(self, values=one)
                pairs.append((row.text("uri"), row.text("quote")))
            else:
                pairs.append((self._storable(key, one), ""))
        return tuple(pairs)

    def objects(self, key: str) -> list[dict[str, Any]]:
        """The objects in the list under this key."""
        found = self.get(key)
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
            raise self.broken(f'"{key}" is not a list of objects')
        return found

    def _storable(self, key: str, found: object) -> str:
        if not isinstance(found, str | int):
            raise self.broken(f'"{key}" is not a text')
        if _UNSTORABLE.search(str(found)):
            raise self.broken(f'"{key}" contains a NUL or an unpaired surrogate')
        return str(found)

    def broken(self, problem: str) -> UnreadableFile:
        """The error for a row that cannot be used."""
        return _broken(self.path, self.unit, self.number, problem)


def rows(path: Path) -> Iterator[Row]:
    """The objects in a file, one at a time."""
    try:
        with _opened(path) as file:
            is_array = file.read(4096).lstrip("\ufeff \t\r\n").startswith("[")
        yield from _elements(path) if is_array else _lines(path)
    except OSError as error:
        raise UnreadableFile(f"{path} cannot be read: {error.strerror or error}. Check the path.") from error
    except (EOFError, zlib.error) as error:
        raise UnreadableFile(f"{path} cannot be unpacked: {error}. Pack it again, or give it without .gz.") from error
    except UnicodeDecodeError as error:
        raise UnreadableFile(f"{path} is not UTF-8: {error.reason}. Save it as UTF-8.") from error


def first_of(folder: Path, *names: str) -> Path | None:
    """The first of these files that is in a folder, plain or gzipped."""
    both = (folder / f"{name}{packed}" for name in names for packed in ("", ".gz"))
    return next((path for path in both if path.is_file()), None)


def _lines(path: Path) -> Iterator[Row]:
    for number, line in lines(path):
        try:
            found = json.loads(line)
        except ValueError as error:
            raise _broken(path, "line", number, str(error)) from error
        if not isinstance(found, dict):
            raise _broken(path, "line", number, "it is not a JSON object")
        yield Row(path, number, found)


def _elements(path: Path) -> Iterator[Row]:
    """The objects of an array, read without holding the whole array in memory."""
    decoder = json.JSONDecoder()
    number = 0
    with _opened(path) as file:
        text = file.read(_BLOCK).lstrip("\ufeff \t\r\n").removeprefix("[")
        while True:
            text = text.lstrip(_BETWEEN)
            if text.startswith("]"):
                return
            try:
                found, end = decoder.raw_decode(text)
            except ValueError as error:
                more = file.read(_BLOCK)
                if not more or len(text) > MOST_LINE:
                    raise _broken(path, "item", number + 1, str(error)) from error
                text += more
                continue
            number += 1
            if not isinstance(found, dict):
                raise _broken(path, "item", number, "it is not a JSON object")
            yield Row(path, number, found, "item")
            text = text[end:]


def _opened(path: Path) -> IO[str]:
    packed = path.suffix == ".gz"
    return TextIOWrapper(gzip.open(path), "utf-8") if packed else path.open(encoding="utf-8")


def _broken(path: Path, unit: str, number: int, problem: str) -> UnreadableFile:
    return UnreadableFile(f"{path}, {unit} {number}: {problem}. Fix that {unit}, and run the command again.")
