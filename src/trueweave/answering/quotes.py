"""Quotes: finding words in a passage, whatever their case, quotation marks, dashes and white space."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from trueweave.core.record import Span
from trueweave.text.folding import PROSE, end_after, is_apart, is_unspaced

LEAST_WORDS = 2
LEAST_LETTERS = 4  # letters and digits of a quote; with fewer it proves nothing
MOST_PLACES = 20  # occurrences of one quote in a text that are considered

_ELLIPSIS = re.compile(r"[\[(]?(?:…|\.\s?\.\s?\.)[\])]?")
_AT_ENDS = re.compile(rf"\A[\s'.]*{_ELLIPSIS.pattern}|{_ELLIPSIS.pattern}[\s'.]*\Z")
_EDGES = " .,;:!?'-。、，！？"


def long_enough(quote: str) -> bool:
    """Whether a quote has enough words and letters to prove anything."""
    folded, _ = _fold(quote)
    letters = sum(map(str.isalnum, folded))
    unspaced = sum(is_unspaced(one) for one in folded)
    return letters >= LEAST_LETTERS and (len(folded.split()) >= LEAST_WORDS or unspaced >= LEAST_LETTERS)


def occurrences(quote: str, text: str) -> list[Span]:
    """The positions of the quote in the text, up to MOST_PLACES of them; none if it leaves words out.

    Differences in white space, case, accents, dashes and quotation marks do not matter, and stops and ellipses at its
    ends are ignored.
    """
    part = _inner(quote).strip(_EDGES)
    if not part or _ELLIPSIS.search(part):
        return []
    folded, origins = _fold(text)
    found: list[Span] = []
    start = folded.find(part)
    while start >= 0 and len(found) < MOST_PLACES:
        end = start + len(part)
        if is_apart(folded[start - 1 : start] if start else "", part[0]) and is_apart(part[-1], folded[end : end + 1]):
            found.append((origins[start], end_after(text, origins[end - 1])))
        start = folded.find(part, start + 1)
    return found


def is_elided(quote: str) -> bool:
    """Whether a quote leaves words out, replaced by an ellipsis."""
    return bool(_ELLIPSIS.search(_inner(quote)))


def _inner(quote: str) -> str:
    """A quote in folded form, without ellipses at its ends."""
    return _AT_ENDS.sub("", _fold(quote)[0])


@lru_cache(maxsize=256)
def _fold(text: str) -> tuple[str, Sequence[int]]:
    """The text in folded form, and the original position of each character in it."""
    return PROSE(text)
