"""Reading the members of a JSON object in a file one at a time, however large the file is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from trueweave.core.errors import UnreadableFile
from trueweave.ingest.json_lines import MOST_LINE

_PIECE = 2**20  # characters read at once
_SPACE = re.compile(r"[ \t\r\n]*")


def members(path: Path) -> Iterator[tuple[str, Any]]:
    """The keys and values of the object in a file. One value at a time is in memory, of at most 64 Mi characters."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            yield from _Reader(file, path).members()
    except UnicodeDecodeError as error:
        raise UnreadableFile(
            f"{path} is not UTF-8: {error}. Export it again with the program that created it."
        ) from error


class _Reader:
    def __init__(self, file: IO[str], path: Path) -> None:
        self._file = file
        self._path = path
        self._text = ""
        self._place = 0
        self._decoder = json.JSONDecoder()

    def members(self) -> Iterator[tuple[str, Any]]:
        self._expect("{")
        if self._next() == "}":
            return
        while True:
            key = self._value()
            if not isinstance(key, str):
                raise self._broken("a key is not a string")
            self._expect(":")
            yield key, self._value()
            if self._next() == "}":
                return
            self._expect(",")

    def _next(self) -> str:
        """The next character that is not white space; empty at the end."""
        while True:
            self._place = _end(_SPACE.match(self._text, self._place))
            if self._place < len(self._text):
                return self._text[self._place]
            if not self._more():
                return ""

    def _expect(self, character: str) -> None:
        if self._next() != character:
            raise self._broken(f"{character} is missing")
        self._place += 1

    def _value(self) -> Any:
        self._next()
        wanted = 0
        while True:
            if len(self._text) - self._place >= wanted:
                try:
                    value, end = self._decoder.raw_decode(self._text, self._place)
                except RecursionError as error:
                    raise self._broken("it is nested too deeply") from error
                except ValueError as error:
                    if not self._more():
                        raise self._broken(str(error)) from error
                    wanted = 2 * (len(self._text) - self._place)  # so that a long value is not parsed too often
                    continue
                if end < len(self._text) or not self._more():  # a number may continue
                    self._place = end
                    return value
            elif not self._more():
                wanted = 0

    def _more(self) -> bool:
        """Read on. Returns whether there was anything left."""
        piece = self._file.read(_PIECE)
        self._text = self._text[self._place :] + piece
        self._place = 0
        if len(self._text) > MOST_LINE:
            raise self._broken(f"a value is longer than {MOST_LINE // 2**20} Mi characters")
        return bool(piece)

    def _broken(self, problem: str) -> UnreadableFile:
        return UnreadableFile(f"{self._path} cannot be read as a JSON object: {problem}. Write it again.")


def _end(found: re.Match[str] | None) -> int:
    assert found is not None, "it matches nothing, too"
    return found.end()
