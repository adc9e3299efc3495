"""Phrases: names as a text may spell them, and where they occur in a text.

A phrase is a name without case, accents, apostrophes and leading article. It occurs in a text where its words appear in
a row, at least one of them capitalised: the longest phrase at each position, and within it any others of two or more
words. In scripts without spaces between words, or with particles joined to them, each character is a word.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import dropwhile
from typing import NamedTuple

from trueweave.text.folding import bare
from trueweave.text.scripts import UNSPACED

MOST_WORDS = 8
MOST_CHARACTERS = 24  # of a name in a script without spaces
LEAD = 60  # characters in which a text without a title says what it is about

_LEAST = 3  # characters
# A possessive 's is a word of its own.
_WORD = re.compile(rf"[{UNSPACED}]|(?:(?![{UNSPACED}])[^\W_])+(?:['’](?![sS]\b)(?:(?![{UNSPACED}])[^\W_])+)?")
_UNSPACED = re.compile(rf"[{UNSPACED}]")
_ASIDE = re.compile(r"\([^()]*+\)\s*$")  # distinguishes titles with the same name, as in "Mercury (planet)"
_ARTICLES = frozenset({"the", "a", "an"})
# Not names when alone.
_NO_NAMES = frozenset(
    re.findall(
        r"\w+",
        """
    the a an of in on at to for and or by with from is was were are be been his her its their he she it they this that
    these those who what which when where why how did do does as not no one two first second new i you we my your our
    all most more other some after before during between into over under than then there here born died also known film
    album song band american british english french german
    """,
    )
)


class PhraseWord(NamedTuple):
    """A word in the form used in phrases, its position in the text, and whether it begins with a capital or a digit."""

    word: str
    start: int
    end: int
    capital: bool


class Occurrence(NamedTuple):
    """A phrase, and its position in the text."""

    phrase: str
    start: int
    end: int


def words(text: str) -> list[PhraseWord]:
    """The words of a text, in order."""
    return [
        PhraseWord(_plain(match[0]), match.start(), match.end(), _is_marked(match[0])) for match in _WORD.finditer(text)
    ]


@lru_cache(maxsize=65536)
def _is_marked(word: str) -> bool:
    """Whether a word may be part of a name: by its capital or digit, or because its script has no capitals."""
    return word[0].isupper() or word[0].isdigit() or bool(_UNSPACED.match(word))


@lru_cache(maxsize=65536)
def _plain(word: str) -> str:
    return bare(word).replace("'", "").replace("’", "")


def most_words(first: str) -> int:
    """The maximum number of words of a phrase that begins with this word."""
    return MOST_CHARACTERS if _UNSPACED.search(unicodedata.normalize("NFKC", first)) else MOST_WORDS


@lru_cache(maxsize=65536)
def phrase(name: str) -> str:
    """The phrase of a name; empty for a name that cannot be searched for."""
    parts = [word.word for word in words(name)]
    parts = list(dropwhile(_ARTICLES.__contains__, parts))
    if len(parts) > 1 and parts[-1] == "s":
        parts = parts[:-1]
    found = " ".join(parts)
    most = MOST_CHARACTERS if _UNSPACED.search(name) else MOST_WORDS
    if len(found) < _LEAST or len(parts) > most or found in _NO_NAMES or found.isdigit():
        return ""
    return found


def title_phrases(title: str) -> list[str]:
    """The phrases for a title: first without the brackets at its end, then as it is."""
    return [found for found in dict.fromkeys((phrase(_ASIDE.sub("", title)), phrase(title))) if found]


@lru_cache(maxsize=65536)
def number(found: str) -> int:
    """The number under which a phrase, or a word of a phrase, is stored."""
    return int.from_bytes(hashlib.blake2b(found.encode(), digest_size=8).digest(), "big", signed=True)


class Vocabulary:
    """The known phrases, and for each first word the maximum number of words of those that begin with it."""

    def __init__(self, known: Container[str], longest: Mapping[str, int]) -> None:
        self._known = known
        self._longest = longest

    def end(self, text: Sequence[PhraseWord], at: int, most: int, least: int) -> int:
        """The end of the longest phrase that begins here, at most `most` and more than `least`; 0 if there is none."""
        for end in range(min(most, at + self._longest.get(text[at].word, 0)), least, -1):
            if _joined(text, at, end) in self._known and any(word.capital for word in text[at:end]):
                return end
        return 0


def candidates(text: Sequence[PhraseWord], longest: Mapping[str, int]) -> Iterator[str]:
    """The possible phrases in a text; `longest` has the maximum number of words for each first word."""
    for at, first in enumerate(text):
        for end in range(at + 1, min(len(text), at + longest.get(first.word, 0)) + 1):
            if any(word.capital for word in text[at:end]):
                yield _joined(text, at, end)


def occurrences(text: Sequence[PhraseWord], vocabulary: Vocabulary) -> list[Occurrence]:
    """The known phrases in a text, with their positions."""
    found: list[Occurrence] = []
    at = 0
    while at < len(text):
        end = 0 if text[at].word in _ARTICLES else vocabulary.end(text, at, len(text), at)
        if not end:
            at += 1
            continue
        found.append(_occurrence(text, at, end))
        for inner in range(at, end):
            if nested := vocabulary.end(text, inner, end - (inner == at), inner + 1):
                found.append(_occurrence(text, inner, nested))
        at = end
    return found


def _occurrence(text: Sequence[PhraseWord], at: int, end: int) -> Occurrence:
    return Occurrence(_joined(text, at, end), text[at].start, text[end - 1].end)


def _joined(text: Sequence[PhraseWord], at: int, end: int) -> str:
    return " ".join([word.word for word in text[at:end]])
