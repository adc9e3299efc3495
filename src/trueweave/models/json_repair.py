"""Reads JSON with the mistakes that models make: other quotes, quotes within quotes, extra or missing commas, words
without quotes, comments, a missing end. It takes one pass, in time proportional to the text."""

from __future__ import annotations

import re
from typing import Any

DEEPEST = 100  # levels of brackets

_BETWEEN = re.compile(r"(?:[\s,;]|//[^\n]*+)*+")
_CLOSED_BY = {'"': '"“”', "“": '”“"', "„": '“”"', "'": "'’", "‘": "’'", "’": "’'", "`": "`'"}
# What follows a quotation mark that ends a key or a value; any other quotation mark is part of the text.
_AFTER_KEY = re.compile(r"\s*+:")
_AFTER_VALUE = re.compile(r"\s*+(?:\Z|[}\]]|,?\s*+(?://|[\"'“‘`{[}\]]|[-\d]|[A-Za-z_]\w{0,40}+\s*+(?:[:,}\]]|\Z)|\Z))")
_BARE = re.compile(r"[^,;:{}\[\]\n\"]*+")
_NUMBER = re.compile(r"-?\d{1,300}(?:\.\d{1,300})?(?:[eE][+-]?\d{1,3})?")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_WORDS = {"true": True, "false": False, "null": None, "none": None, "nan": None}


def loads(text: str) -> Any:
    """The value of a text, or a list of values if it has several; ValueError if it is nested too deeply."""
    return _Reader(text).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._values: list[Any] = []
        self._open: list[list[Any] | dict[str, Any]] = [self._values]
        self._keys: list[str | None] = [None]  # of each open object, the key still without a value

    def read(self) -> Any:
        while (start := _end(_BETWEEN, self._text, self._at)) < len(self._text):
            self._at = start
            self._take(self._text[start])
        return self._values[0] if len(self._values) == 1 else self._values

    def _take(self, mark: str) -> None:
        if mark in "{[":
            self._begin({} if mark == "{" else [])
        elif mark in "}]":
            self._end(dict if mark == "}" else list)
        elif mark == ":":
            self._at += 1
        elif mark in _CLOSED_BY:
            self._add_value(self._quoted(_CLOSED_BY[mark]))
        else:
            self._add_value(self._bare())

    def _begin(self, container: list[Any] | dict[str, Any]) -> None:
        if len(self._open) > DEEPEST:
            raise ValueError(f"it nests deeper than {DEEPEST} levels")
        self._at += 1
        self._add_value(container)
        self._open.append(container)
        self._keys.append(None)

    def _end(self, kind: type) -> None:
        """Close the last open container of a kind, and everything open in it; do nothing if there is none."""
        self._at += 1
        place = next((n for n in range(len(self._open) - 1, 0, -1) if isinstance(self._open[n], kind)), 0)
        if place:
            del self._open[place:], self._keys[place:]

    def _add_value(self, value: Any) -> None:
        inside, key = self._open[-1], self._keys[-1]
        if isinstance(inside, list):
            inside.append(value)
        elif key is not None:
            inside[key] = value
            self._keys[-1] = None
        elif isinstance(value, str | float | int) or value is None:
            self._keys[-1] = str(value)

    def _quoted(self, closing: str) -> str:
        is_key = isinstance(self._open[-1], dict) and self._keys[-1] is None
        after = _AFTER_KEY if is_key else _AFTER_VALUE
        start = self._at + 1
        for found in re.compile(rf"\\.|[{closing}]", re.DOTALL).finditer(self._text, start):
            if found[0][0] != "\\" and after.match(self._text, found.end()):
                self._at = found.end()
                return _unescaped(self._text[start : found.start()])
        self._at = len(self._text)
        return _unescaped(self._text[start:])

    def _bare(self) -> Any:
        start = self._at
        self._at = max(_end(_BARE, self._text, start), start + 1)
        word = self._text[start : self._at].strip()
        if _NUMBER.fullmatch(word):
            return float(word) if re.search(r"[.eE]", word) else int(word)
        return _WORDS.get(word.lower(), word)


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    said = _ESCAPE.sub(lambda one: chr(int(one[1], 16)) if one[1] else _ESCAPED.get(one[2], one[2]), text)
    return said.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
