"""Where names stand in a text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from trueweave.core.record import Span
from trueweave.text.folding import CASE, PLAIN, end_after, is_apart

LONGEST_NAME = 200  # characters; what is longer is no name
MOST = 32  # of one name: enough to show it, and a bound on what a hostile one can cost


class Finder:
    """Finds names in one text: as written; else whatever their case and white space; else also accents and dashes.

    A name stands between borders of words, but for scripts that set none. The time is linear in the text for each name,
    and no name is ever read as a pattern.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def find(self, name: str) -> tuple[Span, ...]:
        """The first places where the name stands, in order; none if it does not."""
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
    """A text in a simpler form, each character of which knows where it comes from."""

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
