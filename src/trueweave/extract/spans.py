"""Where names stand in a text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache

from trueweave.types import Span

LONGEST_NAME = 200  # characters; what is longer is no name
MOST = 32  # of one name: enough to show it, and a bound on what a hostile one can cost

_ALIKE = str.maketrans("’‘ʼ‐‑‒–—−", "'''------")
_UNSEEN = "\u00ad\u200b\u200c\u200d\u2060\ufeff"  # soft hyphen, and marks of no width


_WHITE, _GAP = re.compile(r"\s"), re.compile(r"\s\s")

Fold = Callable[[str], str]


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
            or self._caseless.find(_fold(name, _caseless)[0].strip())
            or self._bare.find(_fold(name, _bare)[0].strip())
        )

    @cached_property
    def _caseless(self) -> _Folded:
        return _Folded(self._text, *_fold(self._text, _caseless))

    @cached_property
    def _bare(self) -> _Folded:
        return _Folded(self._text, *_fold(self._text, _bare))


class _Folded:
    """A text in a simpler form, each character of which knows where it comes from."""

    def __init__(self, text: str, folded: str, origins: Sequence[int]) -> None:
        self._text = text
        self._folded = folded
        self._origins = origins

    def find(self, name: str) -> tuple[Span, ...]:
        return tuple((self._origins[start], self._end(end)) for start, end in _occurrences(self._folded, name))

    def _end(self, end: int) -> int:
        """The end in the text, with the accents that follow the last letter as characters of their own."""
        there = self._origins[end - 1] + 1
        while there < len(self._text) and unicodedata.combining(self._text[there]):
            there += 1
        return there


def _occurrences(text: str, name: str) -> Iterator[Span]:
    found, start = 0, text.find(name) if name else -1
    while start >= 0 and found < MOST:
        end = start + len(name)
        if _parted(text[start - 1 : start], text[start]) and _parted(text[end - 1], text[end : end + 1]):
            yield start, end
            found += 1
            start = text.find(name, end)
        else:
            start = text.find(name, start + 1)


def _parted(left: str, right: str) -> bool:
    """Whether a word may end between two characters; either may be absent."""
    return not (_in_word(left) and _in_word(right))


def _in_word(character: str) -> bool:
    # Letters of neither case (Lo) are those of scripts that write words without spaces, or join particles to them.
    return character.isalnum() and unicodedata.category(character) != "Lo"


def _fold(text: str, fold: Fold) -> tuple[str, Sequence[int]]:
    """The text with every character folded, white space as single spaces, and the origin of each character of it."""
    if text.isascii() and not _GAP.search(text):  # most texts, and twenty times as fast
        return _WHITE.sub(" ", text.lower()), range(len(text))
    out: list[str] = []
    origins: list[int] = []
    for place, character in enumerate(text):
        for folded in fold(character):
            if folded == " " and out and out[-1] == " ":
                continue
            out.append(folded)
            origins.append(place)
    return "".join(out), origins


@lru_cache(maxsize=4096)
def _caseless(character: str) -> str:
    return " " if character.isspace() else character.casefold()


@lru_cache(maxsize=4096)
def _bare(character: str) -> str:
    if character.isspace():
        return " "
    letters = unicodedata.normalize("NFKD", character.casefold().translate(_ALIKE))
    return "".join(one for one in letters if not unicodedata.combining(one) and one not in _UNSEEN)
