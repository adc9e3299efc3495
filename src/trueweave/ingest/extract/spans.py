"""Finds names in a text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from trueweave.core.record import Span
from trueweave.text.folding import CASE, PLAIN, end_after, is_apart

LONGEST_NAME = 200  # characters; anything longer is not a name
MOST = 32  # per name: enough to show it, and a bound on the cost of a hostile one


class Finder:
    """Finds names in one text: literally; then ignoring case and white space; then also accents and dashes.

    A name must be delimited by word boundaries, except in scripts without them. The time per name is linear in the
    text, and names are never interpreted as patterns.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def find(self, name: str) -> tuple[Span, ...]:
        """The first positions of the name, in order; empty if there are none."""
        if not name:
            return ()
        return (
            tuple(_occurrences(self._text, name))
            or self._caseless.find(CASE(name)[0].strip())
            or self._plain.find(PLAIN(name)[0].strip())
        )

    @cached_property
    def _caseless(self) -> _Folded:
        return _Folded(self._text, *CASE(self._text))

    @cached_property
    def _plain(self) -> _Folded:
        return _Folded(self._text, *PLAIN(self._text))


class _Folded:
    """A simplified text with the original position of each character."""

    def __init__(self, text: str, folded: str, origins: Sequence[int]) -> None:
        self._text = text
        self._folded = folded
        self._origins = origins

    def find(self, name: str) -> tuple[Span, ...]:
        places = _occurrences(self._folded, name)
        return tuple((self._origins[start], end_after(self._text, self._origins[end - 1])) for start, end in places)


def _occurrences(text: str, name: str) -> Iterator[Span]:
    found, start = 0, text.find(name) if name else -1
    while start >= 0 and found < MOST:
        end = start + len(name)
        if is_apart(text[start - 1 : start], text[start]) and is_apart(text[end - 1], text[end : end + 1]):
            yield start, end
            found += 1
            start = text.find(name, end)
        else:
            start = text.find(name, start + 1)
