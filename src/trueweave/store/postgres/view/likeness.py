"""Compares texts with names and uris: which are similar, which have its words, and which ids begin with it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from rapidfuzz import fuzz, process

from trueweave.text import phrases
from trueweave.text.folding import bare
from trueweave.text.stopwords import FUNCTION_WORDS

NEAR = 5  # names suggested
NAMES_AT_ONCE = 2000
MOST_READ = 500_000  # names compared with one that was not found
_LEAST_ALIKE = 60  # per cent
_COMPARED = 200  # characters of a name that are compared
_MOST_WORDS = 20  # words of a query looked for in names
_SMALL_WORDS = frozenset().union(*FUNCTION_WORDS.values())
_ID = re.compile(r"[0-9a-f]{8}[0-9a-f-]{0,28}", re.IGNORECASE)


class WordHit(NamedTuple):
    """An object in which words were found, and the share of the words found."""

    id: UUID
    share: float


def id_range(text: str) -> tuple[UUID, UUID] | None:
    """The first and the last id that begin with this text; None if it cannot be the start of an id."""
    digits = text.replace("-", "")
    if not _ID.fullmatch(text) or len(digits) > 32:
        return None
    return UUID(digits.ljust(32, "0")), UUID(digits.ljust(32, "f"))


def similar(sought: str, written: Sequence[str]) -> list[tuple[int, float]]:
    """The texts most similar to the one sought, each by its number and with a score."""
    forms = [bare(one[:_COMPARED]) for one in written]
    found = process.extract(sought[:_COMPARED], forms, scorer=fuzz.WRatio, limit=NEAR, score_cutoff=_LEAST_ALIKE)
    return [(n, score) for _, score, n in found]


def patterns(text: str) -> list[str]:
    """For each word of a text that matters, a pattern that matches the beginning of a word after a space."""
    every = list(dict.fromkeys(one.word for one in phrases.words(text)))
    words = ([word for word in every if word not in _SMALL_WORDS] or every)[:_MOST_WORDS]
    return [f"% {word}%" for word in words]


def word_share(found: Sequence[tuple[UUID, int]], sought: Sequence[str]) -> list[WordHit]:
    """Hits from the number of patterns that matched."""
    return [WordHit(id_, hits / len(sought)) for id_, hits in found]
