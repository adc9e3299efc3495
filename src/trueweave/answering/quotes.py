"""Quotes: whether words are in a passage, and where, whatever their case, quotation marks, dashes and white space."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from trueweave.types import Span

LEAST_WORDS = 2
LEAST_LETTERS = 4  # letters and digits of a quote; with fewer it shows nothing
FARTHEST = 400  # characters between two parts of a quote with an ellipsis: further apart, they are not one statement

_ELLIPSIS = re.compile(r"[\[(]?(?:…|\.\s?\.\s?\.)[\])]?")
_ALIKE = {
    **dict.fromkeys(map(ord, '"’‘ʼ‚`“”„«»「」『』'), "'"),
    **dict.fromkeys(map(ord, "‐‑‒–—―−"), "-"),
    **dict.fromkeys(map(ord, "*_\u00ad\u200b\u200c\u200d\u2060\ufeff"), None),  # emphasis, and what is not seen
}
_EDGES = " .,;:!?'-。、，！？"


def long_enough(quote: str) -> bool:
    """Whether a quote has as many words and letters as it takes to show anything."""
    folded, _ = _fold(quote)
    letters = sum(map(str.isalnum, folded))
    unspaced = sum(_is_unspaced(one) for one in folded)
    return letters >= LEAST_LETTERS and (len(folded.split()) >= LEAST_WORDS or unspaced >= LEAST_LETTERS)


def find(quote: str, text: str) -> Span | None:
    """Where the quote is in the text; None if it is not there.

    An ellipsis parts a quote: its parts must follow each other, not far apart. The white space, case, accents, dashes
    and quotation marks of both are alike, and stops at the ends of a part are of no account.
    """
    parts = [part for one in _ELLIPSIS.split(quote) if (part := _fold(one)[0].strip(_EDGES))]
    if not parts:
        return None
    folded, origins = _fold(text)
    begin = 0
    while found := _occurrence(folded, parts[0], begin):
        end = _rest(folded, parts[1:], found[1])
        if end is not None:
            return origins[found[0]], _end(text, origins[end - 1])
        begin = found[0] + 1
    return None


def _rest(folded: str, parts: list[str], end: int) -> int | None:
    """Where the last of the parts ends, each the next to come after the one before."""
    for part in parts:
        found = _occurrence(folded, part, end, end + FARTHEST + len(part))
        if not found:
            return None
        end = found[1]
    return end


def _occurrence(folded: str, part: str, begin: int, limit: int | None = None) -> Span | None:
    start = folded.find(part, begin, limit)
    while start >= 0:
        end = start + len(part)
        if _parted(folded[start - 1 : start] if start else "", part[0]) and _parted(part[-1], folded[end : end + 1]):
            return start, end
        start = folded.find(part, start + 1, limit)
    return None


def _parted(left: str, right: str) -> bool:
    """Whether a word may end between two characters; either may be absent."""
    return not (left.isalnum() and right.isalnum()) or _is_unspaced(left) or _is_unspaced(right)


def _is_unspaced(character: str) -> bool:
    # Letters of neither case are those of scripts that write words without spaces, or join particles to them.
    return character.isalpha() and unicodedata.category(character) == "Lo"


def _end(text: str, last: int) -> int:
    """The end of what ends with this character, with the accents that follow it as characters of their own."""
    last += 1
    while last < len(text) and unicodedata.combining(text[last]):
        last += 1
    return last


@lru_cache(maxsize=256)
def _fold(text: str) -> tuple[str, list[int]]:
    """The text in its simplest form, and the origin of each character of that."""
    out: list[str] = []
    origins: list[int] = []
    for place, character in enumerate(text):
        for folded in _plain(character):
            if folded == " " and out and out[-1] == " ":
                continue
            out.append(folded)
            origins.append(place)
    return "".join(out), origins


@lru_cache(maxsize=8192)
def _plain(character: str) -> str:
    if character.isspace():
        return " "
    letters = unicodedata.normalize("NFKD", character.casefold().translate(_ALIKE))
    return "".join(one for one in letters if not unicodedata.combining(one))
