"""`capitals`: names are recognised by capitalisation, and relations by co-occurrence in a sentence. It needs no model
and is not specific to a language, but needs a script with capitals, and a language that reserves them for names:

in German it takes all nouns.
"""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, dropwhile
from typing import NamedTuple

from trueweave.core.events import chunks_done
from trueweave.core.record import Chunk, Extraction, Source, Span
from trueweave.ingest.extract.cooccurrence import Sighting, links, mentions, topics, with_topics
from trueweave.ingest.extract.spans import LONGEST_NAME
from trueweave.text import abbreviations
from trueweave.text.names import key
from trueweave.text.sentences import gapless
from trueweave.text.stopwords import COMMON, INSIDE, NEVER_ALONE

VERSION = "3"  # version of the rules below: changes with their results

MOST_WORDS = 8
_PLANE = 0x10000

_WORD = re.compile(r"[^\W\d_]+")
_TOKEN = re.compile(r"\S+")
_NUMBER_BEFORE = re.compile(r"(?:(?<=[Tt]he )\d{4}|\b\d{1,3}(?:st|nd|rd|th)) \Z")  # the 2016 Games, 20th Century Fox
_GENITIVE = re.compile(r"['’]s\b")
_QUOTED = frozenset(('""', "“”", "‘’", "«»", "„“", "''"))
_ENDING = re.compile(r"[\w.!?…:]")  # a name alone on its line is not followed by one of these
_BEFORE_LAST = tuple("0123456789tdh")
_CONTRACTION = re.compile(
    r"\w+n't|(?:i|you|he|she|it|we|they|who|what|that|there|here|how|where|when|why|this|let)'(?:d|ll|m|re|ve|s)"
)
_SELDOM = 10  # a word that is this many times more often in lower case is not a name by itself
_OPENING = "\"'“‘«„([:*_#>|"  # a word after one of these may be capitalised for that reason


class _Phrase(NamedTuple):
    """Consecutive capitalised words, whether the first would be capitalised in any case, and whether its context still
    shows that it is a name."""

    text: str
    start: int
    sentence: int
    initial: bool
    shown: bool


class CapitalsExtractor:
    """Capitalised phrases, titles and headings as entities without a type; sharing a sentence as relations.

    A single word that begins a sentence is a name only if something else shows it: a capital elsewhere, in the title or
    inside the word, a genitive, or a line to itself.
    """

    @property
    def fingerprint(self) -> str:
        return key("capitals", VERSION).hex

    async def extract(self, source: Source, chunks: Sequence[Chunk]) -> Sequence[Extraction]:
        """The findings for each chunk, in order."""
        return await asyncio.to_thread(_extract, source, chunks, chunks_done(source.uri, len(chunks)))


def _extract(source: Source, chunks: Sequence[Chunk], told: Callable[[int], None]) -> list[Extraction]:
    sentences = [gapless(chunk.text) for chunk in chunks]
    seen: list[list[_Phrase]] = []
    for done, (chunk, spans) in enumerate(zip(chunks, sentences, strict=True)):
        seen.append(list(_phrases(chunk.text, spans)))
        told(done // 2)  # each chunk is scanned twice
    about = topics(source, chunks)
    known = _known(source.text, seen, about)
    parts = zip(chunks, sentences, seen, about, strict=True)
    found: list[Extraction] = []
    for done, (chunk, spans, phrases, here) in enumerate(parts, 1):
        found.append(_extraction(chunk.text, spans, phrases, here, known))
        told((len(chunks) + done) // 2)
    return found


def _extraction(
    text: str, sentences: list[Span], phrases: list[_Phrase], about: dict[str, int], known: _Known
) -> Extraction:
    seen = [sighting for phrase in phrases if (sighting := _sighting(phrase, known))]
    sightings = with_topics(text, sentences, seen, about, {})
    spoken_of = mentions(sightings, about, {})
    return Extraction(spoken_of, links(sightings, sentences, about), _notes(text, bool(spoken_of)))


def _notes(text: str, found: bool) -> tuple[str, ...]:
    letters = {} if text.isascii() else Counter(text)
    caseless = sum(times for one, times in letters.items() if one.isalpha() and one.lower() == one.upper())
    if 2 * caseless > sum(times for one, times in letters.items() if one.isalpha()):
        return ("most of this chunk is in a script without capitals, so its names were not found; use nlp or llm",)
    return () if found else ("no capitalised name in this chunk",)


def _sighting(phrase: _Phrase, known: _Known) -> Sighting | None:
    """The name in a phrase; None if there is none."""
    words = [(word[0], word.start()) for word in _TOKEN.finditer(phrase.text)]
    if phrase.initial:
        words = list(dropwhile(lambda word: _is_common(word[0]) or word[0] in INSIDE, words))
    # A line or a sentence may end after "University of".
    while words and (words[-1][0] in INSIDE or _is_contraction(words[-1][0])):
        words.pop()
    if not words or len(words) > MOST_WORDS or all(w.lower() in NEVER_ALONE or w.isdigit() for w, _ in words):
        return None
    (first, start), (last, last_start) = words[0], words[-1]
    if len(words) == 1 and (len(first) < 2 or known.is_seldom(first)):
        return None
    if len(words) == 1 and phrase.initial and start == 0 and not known.is_name(first, phrase):
        return None
    name, span = " ".join(word for word, _ in words), (phrase.start + start, phrase.start + last_start + len(last))
    return Sighting(name, "", span, phrase.sentence) if len(name) <= LONGEST_NAME else None


def _is_common(word: str) -> bool:
    return word.lower() in COMMON or _is_contraction(word)


def _is_contraction(word: str) -> bool:
    return bool(_CONTRACTION.fullmatch(word.lower().replace("’", "'")))


class _Known(NamedTuple):
    """Statistics on the words of a document, all in lower case: how often they are in lower case, how often they are a
    capitalised name inside a sentence, and those that occur within longer names or topics."""

    small: Counter[str]
    names: Counter[str]
    within: set[str]

    def is_seldom(self, word: str) -> bool:
        """Whether a word is rarely capitalised inside a sentence, compared with how often it is in lower case."""
        lower = word.lower()
        return self.small[lower] >= _SELDOM * max(self.names[lower], 1)

    def is_name(self, word: str, phrase: _Phrase) -> bool:
        """Whether a word that begins a sentence is still a name."""
        lower = word.lower()
        if lower in self.small:
            return lower in self.names
        return phrase.shown or lower in self.within or not (word[1:].islower() or len(word) == 1)


def _known(text: str, seen: Sequence[Sequence[_Phrase]], topics: Sequence[Iterable[str]]) -> _Known:
    phrases = [phrase for there in seen for phrase in there]
    # The first word of an initial phrase, and of a title, is capitalised in any case; that of a title names its topic.
    capitals = chain(
        chain.from_iterable(phrase.text.split()[phrase.initial :] for phrase in phrases),
        chain.from_iterable(topic.split() for about in topics for topic in about),
    )
    names = Counter(phrase.text.lower() for phrase in phrases if not phrase.initial)
    return _Known(_small_words(text), names, {word.lower() for word in capitals if not word[0].islower()})


def _small_words(text: str) -> Counter[str]:
    return Counter({word: times for word, times in Counter(_WORD.findall(text)).items() if word.islower()})


def _phrases(text: str, sentences: Sequence[Span]) -> Iterator[_Phrase]:
    starts = [start for start, _ in sentences]
    rare = any(one.isupper() for one in set(text) if ord(one) >= _PLANE)
    for match in _pattern(2 * _PLANE if rare else _PLANE).finditer(text):
        start, end = match.span()
        if text[start - 2 : start - 1] in _BEFORE_LAST and (number := _NUMBER_BEFORE.search(text, start - 6, start)):
            start = number.start()
        sentence = bisect_right(starts, start) - 1
        while start < end:  # a phrase that crosses the end of a sentence is two phrases
            stop = min(end, sentences[sentence][1])
            part = text[start:stop].rstrip()
            if stop < end and part.count(".") == 1:  # the point ended the sentence
                part = part.rstrip(".")
            initial = _is_initial(text, sentences[sentence][0], start)
            shown = initial and _is_shown(text, sentences[sentence], start, start + len(part))
            yield _Phrase(part, start, sentence, initial, shown)
            start, sentence = stop, sentence + 1


def _is_initial(text: str, sentence: int, start: int) -> bool:
    before = text[max(sentence, start - 4) : start].rstrip()
    return not before or before[-1] in _OPENING or not any(map(str.isalnum, text[sentence : min(start, sentence + 50)]))


def _is_shown(text: str, sentence: Span, start: int, end: int) -> bool:
    """Whether a phrase is followed by a genitive, or is alone on its line or in quotation marks."""
    if _GENITIVE.match(text, end) or text[start - 1 : start] + text[end : end + 1] in _QUOTED:
        return True
    return not _ENDING.search(text[end : min(sentence[1], end + 20)])


@cache
def _pattern(end: int) -> re.Pattern[str]:
    """Capitalised words in a row, with capitals below this code point.

    It begins with the class of capitals alone, within the first plane of Unicode if possible, which makes the search
    fifty times as fast.
    """
    upper = _capitals(end)
    initials = rf"\.(?:{upper}\.)+|\.(?=\s{upper})"
    title = "|".join(rf"(?<=\b{title}\.)" for title in abbreviations.TITLES)
    word = rf"[^\W_]*(?:(?:['’](?![sS]\b)|[-&])[^\W_]+)*(?:\.(?=\s)(?:{title}))?"
    rest = rf"(?:{initials}|{word})"
    space = r"(?:[ \u00a0]|[ \t]?\n[ \t]*)"
    inside = rf"(?:(?:{'|'.join(INSIDE)}){space}){{0,2}}"
    number = r"[ \u00a0]\d{1,4}[A-Za-z]?\b(?![.,:]?\d|%)"
    return re.compile(rf"{upper}(?<![^\W_].){rest}(?:{space}{inside}{upper}{rest})*(?:{number})?", re.DOTALL)


def _capitals(end: int) -> str:
    """A class of the capitals of all scripts, because Python's patterns have no name for it."""
    return "[" + "".join(one for one in map(chr, range(end)) if one.isupper() or one.istitle()) + "]"
