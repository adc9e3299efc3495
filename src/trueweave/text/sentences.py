"""Sentences: where they begin and end, and how a text is cut between them.

`split` is for answers and the passages that they cite, and knows most. `gapless` is for the extractor `capitals`, to
which a line that stands alone is a sentence as well. `MAY_END` is for chunks, which may be cut behind an abbreviation
without harm. What the last two find is in the index, so that other rules there give another index.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from trueweave.core.record import Span
from trueweave.text import abbreviations, tokens
from trueweave.text.stopwords import COMMON, word_list

_MARKS = r"(?:[ \t]*\[\d{1,3}\])*+"  # marks right after the end of a sentence belong to it
_CLOSING = r"['\")\]”’»*_]{0,3}"
_WIDE_CLOSING = r"['\")\]”’」』）]{0,3}"
# No sentence ends with an initial, or before a small letter.
MAY_END = rf"(?<![\s(.][A-Z])[.!?…]{_CLOSING}(?=\s++[^a-z])|[。！？｡]{_WIDE_CLOSING}"
_END = re.compile(
    rf"(?<![.!?…؟۔।])(?P<stop>[.!?…؟۔।]++{_CLOSING}){_MARKS}(?=\s)"
    rf"|[。！？｡]++{_WIDE_CLOSING}{_MARKS}"
    # Lines are wrapped anywhere, but a blank one, an item, a heading and a row of a table begin something new.
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
_WRAPPED = 50  # a line of fewer characters ends because it is over, not because it is full


# After a day or a rank, as in German: 3. Mai, 19. Jahrhundert.
_RANKED = frozenset(
    word_list("""
    januar jänner februar märz april mai juni juli august september oktober november dezember jahrhundert jahrhunderts
    jahrtausend marts maj december
    """)
)


def split(text: str) -> list[Span]:
    """Where the sentences of a text are, in order, with the marks that follow them and without what leads in a line.

    Items of lists, headings and rows of tables are sentences of their own. What holds no letter or digit is none.
    """
    return [span for start, end in _stretches(text) if (span := _bare(text, start, end))]


def gapless(text: str) -> list[Span]:
    """The sentences of a text, one after the other and without gaps; a line that stands alone is one too."""
    ends = [match.end() for match in _STOP.finditer(text) if _is_end(text, match)]
    return [span for span in pairwise([0, *ends, len(text)]) if span[0] < span[1]] or [(0, len(text))]


def cut(text: str, room: int) -> str:
    """As much of the text, from its start, as fits into so many tokens: whole sentences, or else whole words, or else
    characters. The time that this takes depends on the room, not on the text."""
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
        while at and tokens.count(text[: ends[at - 1]]) > room:  # a longer text has fewer tokens, now and then
            at -= 1
        if at:
            return text[: ends[at - 1]]
    return ""


def _window(text: str, room: int) -> tuple[str, bool]:
    """The beginning of a text that holds all that can fit into so many tokens, and whether the whole text fits."""
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
    """Whether a sentence ends with this stop, followed by white space."""
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
