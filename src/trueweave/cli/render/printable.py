"""Escaping text so that nothing in it controls the terminal that it is printed on.

File names, texts of documents, replies of models and messages of servers may contain anything. Escape sequences could
move the cursor, overwrite printed text or set the window title; direction controls could show the letters of a name in
another order. Each such character is replaced by a replacement character, so the result does not depend on how a text
is cut into pieces.
"""

from __future__ import annotations

import re

_REPLACEMENT = "\ufffd"
_SPACES = frozenset("\r\v\f\x85\u2028\u2029")
_CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f"  # all except tab and line feed
_DIRECTIONS = r"\u202a-\u202e\u2066-\u2069"  # embeddings, overrides and isolates
_HALVES = r"\ud800-\udfff"  # surrogates: file names that are not UTF-8 have them, and no stream accepts them
_STEERING = re.compile(rf"[{_CONTROLS}{_DIRECTIONS}{_HALVES}\u2028\u2029]")


def printable(text: str) -> str:
    """The text without characters that control a terminal. Line feeds and tabs stay."""
    return _STEERING.sub(lambda found: " " if found[0] in _SPACES else _REPLACEMENT, text)


def escaped(json_text: str) -> str:
    """Equivalent JSON with such characters escaped: they occur only in its strings."""
    return _STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", json_text)
