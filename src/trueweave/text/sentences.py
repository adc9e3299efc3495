"""Sentences: splitting a text into them, and cutting a text between them.

`split` is for answers and the passages they cite, and is the most precise. `gapless` is for the extractor `capitals`,
for which a line by itself is also a sentence. `MAY_END` is for chunks, where a cut after an abbreviation does no harm.
The index depends on the last two, so changing their rules would change the index.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from trueweave.core.record import Span
from trueweave.text import abbreviations, tokens
from trueweave.text.stopwords import COMMON, word_list

_MARKS = r"(?:[ \t]*\[\d{1,3}\])*+"  # citations right after the end of a sentence belong to it
_CLOSING = r"['\")\]”’»*_]{0,3}"
_WIDE_CLOSING = r"['\")\]”’」』）]{0,3}"
# No sentence ends with an initial, or before a lower-case letter.
MAY_END = rf"(?<![\s(.][A-Z])[.!?…]{_CLOSING}(?=\s++[^a-z])|[。！？｡]{_WIDE_CLOSING}"
_END = re.compile(
    rf"(?<![.!?…؟۔।])(?P<stop>[.!?…؟۔।]++{_CLOSING}){_MARKS}(?=\s)"
    rf"|[。！？｡]++{_WIDE_CLOSING}{_MARKS}"
    # Lines may be wrapped anywhere, but a blank line, list item, heading or table row begins something new.
    r"|(?P<lines>\n(?:[^\S\n]*+\n)++|(?<=\n)(?=\s*+(?:[-*+•]\s|\d{1,3}[.)]\s|#{1,6}\s|\|)))"
    r"|(?P<after_heading>(?<![^\n])[ \t]*+#{1,6}\s[^\n]*+\n)"
)
_LEADING = re.compile(r"\s*+(?:(?:[-*+•]|\d{1,3}[.)]|#{1,6}|>)\s++)*+\|?\s*+")
_ITEM_NUMBER = re.compile(r"(?:\A|\n)\s*\d{1,3}\.\Z")
_INITIAL = re.compile(r"(?:\A|[\s(.])[^\W\d_]\.\Z")
_ORDINAL = re.compile(r"(?:\A|\s)\d{1,2}\.\Z")
_LAST_WORD = re.compile(r"([^\W\d_]+(?:\.[^\W\d_]+)*)\.\Z")
_NEXT = re.compile(r"\s*+[\"'“‘«(\[*_]*+(\S)")
_NEXT_WORD = re.compile(r"\s*+(\w+)")
_WORD_END = re.compile(r"(?<=\S)(?=\s|\Z)")
_SEEN = re.compile(r"[^\W_]")
_STOP = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’»)\]*_]*+\s+|\n\s*")
_CHARACTERS_A_TOKEN = 8  # more than most texts have
_WRAPPED = 50  # a line with fewer characters ends because it is complete, not because it is full


# After a day or ordinal, as in German: 3. Mai, 19. Jahrhundert.
_RANKED = frozenset(
    word_list("""
    januar jänner februar märz april mai juni juli august september oktober november dezember jahrhundert jahrhunderts
    jahrtausend marts maj december
    """)
)


def split(text: str) -> list[Span]:
    """The positions of the sentences of a text, in order, including citations after them and without list or heading
    markers at the start of a line.

    List items, headings and table rows are sentences of their own. Text without a letter or digit is not a sentence.
    """
    return [span for start, end in _stretches(text) if (span := _bare(text, start, end))]


def gapless(text: str) -> list[Span]:
    """The sentences of a text, without gaps between them; a line by itself is also a sentence."""
    ends = [match.end() for match in _STOP.finditer(text) if _is_end(text, match)]
    return [span for span in pairwise([0, *ends, len(text)]) if span[0] < span[1]] or [(0, len(text))]


def cut(text: str, room: int) -> str:
    """As much of the start of the text as fits into `room` tokens: whole sentences, or else whole words, or else
    characters. The time this takes depends on the room, not on the length of the text."""
    text, fits = _window(text, room)
    if fits:
        return text
    kinds: tuple[Callable[[], Sequence[int]], ...] = (
        lambda: [end for _, end in split(text)],
        lambda: [word.start() for word in _WORD_END.finditer(text)],
        lambda: range(1, len(text)),
    )
    for ends_of in kinds:
        ends = ends_of()
        at = bisect_right(ends, room, key=lambda end: tokens.count(text[:end]))
        while at and tokens.count(text[: ends[at - 1]]) > room:  # now and then, a longer text has fewer tokens
            at -= 1
        if at:
            return text[: ends[at - 1]]
    return ""


def _window(text: str, room: int) -> tuple[str, bool]:
    """A beginning of the text that contains all that can fit into `room` tokens, and whether the whole text fits."""
    size = max(_CHARACTERS_A_TOKEN * room, 1)
    while size < len(text):
        if tokens.count(text[:size]) > room:
            return text[:size], False
        size *= 2
    return text, tokens.count(text) <= room


def _stretches(text: str) -> Iterator[Span]:
    start = 0
    for found in _END.finditer(text):
        if found["stop"] and not _ends(text, found):
            continue
        yield start, found.end()
        start = found.end()
    yield start, len(text)


def _bare(text: str, start: int, end: int) -> Span | None:
    start = min(_leading(text, start, end), end)
    end -= len(text[start:end]) - len(text[start:end].rstrip())
    return (start, end) if _SEEN.search(text, start, end) else None


def _leading(text: str, start: int, end: int) -> int:
    found = _LEADING.match(text, start, end)
    return found.end() if found else start


def _ends(text: str, found: re.Match[str]) -> bool:
    """Whether a sentence ends with this full stop, which is followed by white space."""
    after = _NEXT.match(text, found.end())
    if after and after[1].islower():
        return False
    if found["stop"] != ".":
        return True
    before = text[max(found.start() - 40, 0) : found.start() + 1]
    if _INITIAL.search(before) or _ITEM_NUMBER.search(before):
        return False
    word = _LAST_WORD.search(before)
    if word and word[1].lower() in abbreviations.ALL:
        return not after
    follows = _NEXT_WORD.match(text, found.end())
    return not (_ORDINAL.search(before) and follows and follows[1].lower() in _RANKED)


def _is_end(text: str, stop: re.Match[str]) -> bool:
    gap, start = stop[0], stop.start()
    if gap.count("\n") > 1:
        return True
    if "\n" in gap and stop.end() - text.rfind("\n", 0, start) < _WRAPPED:
        return True
    if gap[0] == "\n":
        return text[stop.end() : stop.end() + 1] in "-*•#|>"
    following = text[stop.end() : stop.end() + 20].lstrip("\"'“‘«([*_")
    if following[:1].islower():
        return False
    last = text[max(0, start - 12) : start].rpartition(" ")[2].lstrip("([\"'“‘")
    if gap[0] == "." and (last in abbreviations.IN_NAMES or (last[-1:].isupper() and (len(last) == 1 or "." in last))):
        return following.partition(" ")[0].lower() in COMMON
    return True
