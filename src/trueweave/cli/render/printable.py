"""Escaping of text, so that nothing in it controls the terminal that it is printed on.

Names of files, texts of documents, replies of models and messages of servers may hold anything. Escape sequences could
move the cursor, rewrite what was printed or set the window's title; controls of writing direction could show a name
with its letters in another order. Each such character is replaced by one that stands for what cannot be shown, so it
makes no difference where a text is cut into pieces.
"""

from __future__ import annotations

import re

_REPLACEMENT = "\ufffd"
_SPACES = frozenset("\r\v\f\x85\u2028\u2029")
_CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f"  # all but tab and line feed
_DIRECTIONS = r"\u202a-\u202e\u2066-\u2069"  # embeddings, overrides and isolates
_HALVES = r"\ud800-\udfff"  # of characters: file names that are not UTF-8 have them, and no stream takes them
_STEERING = re.compile(rf"[{_CONTROLS}{_DIRECTIONS}{_HALVES}\u2028\u2029]")


def printable(text: str) -> str:
    """The text without characters that control a terminal. Line feeds and tabs stay."""
    return _STEERING.sub(lambda found: " " if found[0] in _SPACES else _REPLACEMENT, text)


def escaped(json_text: str) -> str:
    """JSON that says the same, with such characters as escapes: they occur in its strings alone."""
    return _STEERING.sub(lambda found: f"\\u{ord(found[0]):04x}", json_text)
