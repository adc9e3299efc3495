"""Quotes: whether words are in a passage, and where, whatever their case, quotation marks, dashes and white space."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from trueweave.types import Span

LEAST_WORDS = 2
LEAST_LETTERS = 4  # letters and digits of a quote; with fewer it shows nothing
MOST_PLACES = 20  # of one quote in a text that are looked at

_ELLIPSIS = re.compile(r"[\[(]?(?:…|\.\s?\.\s?\.)[\])]?")
_AT_ENDS = re.compile(rf"\A[\s'.]*{_ELLIPSIS.pattern}|{_ELLIPSIS.pattern}[\s'.]*\Z")
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


def occurrences(quote: str, text: str) -> list[Span]:
    """Where the quote is in the text, up to MOST_PLACES places; nowhere if it leaves words out.

    The white space, case, accents, dashes and quotation marks of both are alike, and stops and ellipses at its ends are
    of no account.
    """
    part = _inner(quote).strip(_EDGES)
    if not part or _ELLIPSIS.search(part):
        return []
    folded, origins = _fold(text)
    found: list[Span] = []
    start = folded.find(part)
    while start >= 0 and len(found) < MOST_PLACES:
        end = start + len(part)
        if _parted(folded[start - 1 : start] if start else "", part[0]) and _parted(part[-1], folded[end : end + 1]):
            found.append((origins[start], _end(text, origins[end - 1])))
        start = folded.find(part, start + 1)
    return found


def is_elided(quote: str) -> bool:
    """Whether a quote leaves words out, with an ellipsis in their place."""
    return bool(_ELLIPSIS.search(_inner(quote)))


def _inner(quote: str) -> str:
    """A quote in its simplest form, without ellipses at its ends."""
    return _AT_ENDS.sub("", _fold(quote)[0])


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
