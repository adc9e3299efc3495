"""Words that carry a statement: what two texts share, which names are in them, and whether their languages differ."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import lru_cache

from trueweave.text.scripts import UNSPACED

_STEM = 5  # letters: cut there, most forms of a word are one, in most languages
_SHORTEST = 3
_ENOUGH_TO_TELL = 8  # words; in fewer, none of the known ones may be there by chance

_RUN = re.compile(rf"[{UNSPACED}]+")
_WORD = re.compile(rf"(?:(?![{UNSPACED}])[^\W_])+(?:['’](?:(?![{UNSPACED}])[^\W\d_])+)?")
_HIRAGANA = re.compile(r"[\u3040-\u309f]+")
_OTHER_WORD = re.compile(r"\w++")
_STOP = re.compile(r"[.!?:;…]\s")
# Words that begin sentences and are no names end like this.
_COMMON_ENDING = re.compile(r"(?:ed|ing|ly|ion|ment|ness|ity|ism|ers|s)\Z")

_FUNCTION_WORDS = {
    "en": """the and of to in is are was were be been being has have had do does did not no yes that this these those
        it its with for from by on at as or but which who whom whose what when where why how there here they them
        their he him his she her you your we our us will would can could may might must shall should than then so if
        also only both into about after before between during through over under such some any all each every other
        more most very because while however according although though thus therefore hence moreover furthermore
        meanwhile nevertheless nonetheless otherwise instead since until unless whether whereas despite besides within
        without among against around across along upon up down out off again still yet too even just often always never
        sometimes usually later soon today now once another either neither many several few much one two three four five
        six seven eight nine ten next last overall likewise together per like unlike near me my mine""",
    "de": """der die das den dem des ein eine einen einem einer eines und oder aber nicht kein keine ist sind war waren
        wird werden wurde wurden hat haben hatte sein mit von vom zu zum zur im in auf aus bei nach für über unter
        durch als wie auch nur noch sich es er sie wir ihr dass wenn weil was wer wo wann warum ja nein laut""",
    "fr": """le la les un une des du de et ou mais est sont était étaient être été ont avait avec pour par dans sur sous
        sans que qui quoi dont où quand comment ne pas plus il elle ils elles nous vous ce cette ces se sa son ses leur
        au aux en oui non selon""",
    "es": """el la los las un una unos unas de del y o pero es son era eran fue fueron ser ha han había con para por en
        sobre sin que quien donde cuando como no más se su sus lo le les al este esta estos según sí también""",
    "it": """il lo la gli le un uno una di del della dei delle e o ma è sono era erano fu essere stato ha hanno con per
        da dal dalla in nel nella su che chi dove quando come non più si suo sua al alla questo questa sì anche""",
    "pt": """o a os as um uma de do da dos das e ou mas é são era eram foi foram ser tem com para por em no na nos nas
        sobre sem que quem onde quando como não mais se seu sua ao este esta sim também""",
    "nl": """de het een en of maar is zijn was waren wordt werd werden heeft hebben had niet geen met van voor door op
        in aan bij naar uit over als ook dat die dit deze wie wat waar wanneer hoe er hij zij ze wij ja nee""",
}
_OF_LANGUAGE = {language: frozenset(words.split()) for language, words in _FUNCTION_WORDS.items()}
_EMPTY = frozenset().union(*_OF_LANGUAGE.values())


def content(text: str) -> frozenset[str]:
    """The words that carry the meaning of a text, as stems without accents; pairs of characters where a script sets no
    spaces. Numbers are not among them."""
    words = (found[0] for found in _WORD.finditer(text))
    stems = {stem for word in words if (stem := _content_stem(word))}
    return frozenset(stems.union(*map(_pairs, _RUN.findall(text))))


def names(text: str) -> frozenset[str]:
    """The stems of words that look like names: with capitals or digits inside, or with a capital at the beginning
    though no sentence begins there.

    The first word of a sentence counts if another capital follows it; in English also if it does not end as common
    words do. In German, where all nouns have capitals, only two such words in a row count.
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
    """The stems of all words of a text, small ones too."""
    return frozenset(_stem(found[0]) for found in _WORD.finditer(text))


def foreign(one: str, other: str) -> bool:
    """Whether two texts are in different languages, as far as their scripts and small words tell."""
    if _script(one) != _script(other):
        return True
    languages = language(one), language(other)
    return all(languages) and languages[0] != languages[1]


def language(text: str) -> str:
    """The language whose small words are most frequent; "other" if there are none of those known, "" if the text is
    too short to tell."""
    words = Counter(found[0].lower() for found in _WORD.finditer(text))
    hits = {code: sum(words[word] for word in small) for code, small in _OF_LANGUAGE.items()}
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
    letters = unicodedata.normalize("NFKD", re.sub(r"['’]s?\Z", "", word).casefold())
    bare = "".join(one for one in letters if not unicodedata.combining(one))
    if len(bare) > _SHORTEST and bare.endswith("s"):
        bare = bare[:-1]
    return bare[:_STEM]


def _pairs(run: str) -> set[str]:
    pairs = {run[at : at + 2] for at in range(max(len(run) - 1, 1))}
    return {pair for pair in pairs if not _HIRAGANA.fullmatch(pair)}


def _is_capital(word: str) -> bool:
    return word[0].isupper() and word.lower() not in _EMPTY


def _counts_alone(before: str, is_first: bool, word: str, spoken: str) -> bool:
    """Whether a word with a capital is a name, given what stands between it and the word before it."""
    if spoken == "de":
        return False
    if not _begins_sentence(before, is_first):
        return True
    return spoken in ("en", "") and len(word) >= _SHORTEST and not _COMMON_ENDING.search(word)


def _begins_sentence(before: str, is_first: bool) -> bool:
    ends = [other.end() for other in _OTHER_WORD.finditer(before)]  # in a script without spaces
    return bool(_STOP.search(before, ends[-1] if ends else 0)) or (is_first and not ends)


def _script(text: str) -> str:
    """The script of most letters."""
    scripts = Counter(_script_of(one) for one in text if one.isalpha())
    return scripts.most_common(1)[0][0] if scripts else ""


@lru_cache(maxsize=8192)
def _script_of(letter: str) -> str:
    script = unicodedata.name(letter, "").split(" ")[0]
    return "CJK" if script in ("HIRAGANA", "KATAKANA") else script
