"""Content words: what two texts share, which names are in them, and whether their languages differ."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache

from trueweave.text.folding import bare
from trueweave.text.scripts import UNSPACED
from trueweave.text.stopwords import FUNCTION_WORDS

STEM = 5  # letters: cut to this length, most forms of a word are equal, in most languages
_SHORTEST = 3
_ENOUGH_TO_TELL = 8  # words; in fewer, function words may be missing by chance

_RUN = re.compile(rf"[{UNSPACED}]+")
_WORD = re.compile(rf"(?:(?![{UNSPACED}])[^\W_])+(?:['’](?:(?![{UNSPACED}])[^\W\d_])+)?")
POSSESSIVE = re.compile(r"['’]s?\Z")
_HIRAGANA = re.compile(r"[\u3040-\u309f]+")
_OTHER_WORD = re.compile(r"\w++")
_STOP = re.compile(r"[.!?:;…]\s")
# Endings of words that begin sentences but are not names.
_COMMON_ENDING = re.compile(r"(?:ed|ing|ly|ion|ment|ness|ity|ism|ers|s)\Z")

_EMPTY = frozenset().union(*FUNCTION_WORDS.values())


def content(text: str) -> frozenset[str]:
    """The content words of a text, as stems without accents; pairs of characters in scripts without spaces. Numbers are
    not included."""
    words = (found[0] for found in _WORD.finditer(text))
    stems = {stem for word in words if (stem := _content_stem(word))}
    return frozenset(stems.union(*map(_pairs, _RUN.findall(text))))


def names(text: str) -> frozenset[str]:
    """The stems of words that look like names: with capitals or digits inside, or capitalised although no sentence
    begins there.

    The first word of a sentence counts if another capitalised word follows; in English also if it does not have the
    ending of a common word. In German, where all nouns are capitalised, only two such words in a row count.
    """
    found = list(_WORD.finditer(text))
    spoken = language(text)
    capital = [_is_capital(word[0]) for word in found]
    stems = set()
    for place, word in enumerate(found):
        before = text[found[place - 1].end() if place else 0 : word.start()]
        inner = any(map(str.isupper, word[0][1:])) or (not word[0].isdigit() and any(map(str.isdigit, word[0][1:])))
        beside = (place > 0 and capital[place - 1]) or (place + 1 < len(found) and capital[place + 1])
        if inner or (capital[place] and (beside or _counts_alone(before, place == 0, word[0], spoken))):
            stems.add(_stem(word[0]))
    return frozenset(stems)


def stems(text: str) -> frozenset[str]:
    """The stems of all words of a text, including function words."""
    return frozenset(_stem(found[0]) for found in _WORD.finditer(text))


def foreign(one: str, other: str) -> bool:
    """Whether two texts are in different languages, judging by their scripts and function words."""
    if _script(one) != _script(other):
        return True
    languages = language(one), language(other)
    return all(languages) and languages[0] != languages[1]


def language(text: str) -> str:
    """The language with the most function words in the text; "other" if it has none of any known language, "" if it is
    too short to tell."""
    words = Counter(found[0].lower() for found in _WORD.finditer(text))
    hits = {code: sum(words[word] for word in small) for code, small in FUNCTION_WORDS.items()}
    best = max(hits, key=lambda code: hits[code])
    if hits[best] < 2 or list(hits.values()).count(hits[best]) > 1:
        return "other" if words.total() >= _ENOUGH_TO_TELL and not hits[best] else ""
    return best


def _content_stem(word: str) -> str:
    if word.isdecimal() or len(word) < _SHORTEST or word.lower() in _EMPTY:
        return ""
    return _stem(word)


@lru_cache(maxsize=8192)
def _stem(word: str) -> str:
    letters = bare(POSSESSIVE.sub("", word))
    if len(letters) > _SHORTEST and letters.endswith("s"):
        letters = letters[:-1]
    return letters[:STEM]


def _pairs(run: str) -> set[str]:
    pairs = {run[at : at + 2] for at in range(max(len(run) - 1, 1))}
    return {pair for pair in pairs if not _HIRAGANA.fullmatch(pair)}


def _is_capital(word: str) -> bool:
    return word[0].isupper() and word.lower() not in _EMPTY


def _counts_alone(before: str, is_first: bool, word: str, spoken: str) -> bool:
    """Whether a capitalised word is a name, given the text between it and the previous word."""
    if spoken == "de":
        return False
    if not _begins_sentence(before, is_first):
        return True
    return spoken in ("en", "") and len(word) >= _SHORTEST and not _COMMON_ENDING.search(word)


def _begins_sentence(before: str, is_first: bool) -> bool:
    ends = [other.end() for other in _OTHER_WORD.finditer(before)]  # words in a script without spaces
    return bool(_STOP.search(before, ends[-1] if ends else 0)) or (is_first and not ends)


def _script(text: str) -> str:
    """The script of most letters."""
    scripts = Counter(_script_of(one) for one in text if one.isalpha())
    return scripts.most_common(1)[0][0] if scripts else ""


@lru_cache(maxsize=8192)
def _script_of(letter: str) -> str:
    script = unicodedata.name(letter, "").split(" ")[0]
    return "CJK" if script in ("HIRAGANA", "KATAKANA") else script
