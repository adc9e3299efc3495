"""Boundaries: where a text may be cut, how good each place is, and how many tokens lie between them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from zlib import crc32

from trueweave.core.record import Source
from trueweave.text import sentences, tokens

# Kinds of borders, from the last resort to the best. A heading of level 1 ranks highest, then level 2, and so on.
CHARACTER, WORD, LINE, SENTENCE, PARAGRAPH, HEADING = 0, 1, 2, 3, 4, 100
_LOWEST = 10

_FOUND = re.compile(sentences.MAY_END + r"|(?P<lines>[\n\r\f\v\x85\u2028\u2029]\s*+)")
_LIST_ITEM = re.compile(r"[-*+•]\s|\d{1,3}[.)]\s")
_ROW = r"[ \t]*+(?:\||[^\n|]*+(?<= )\|(?= |$))[^\n]*+"  # it begins with a bar, or has one between spaces
_TABLE = re.compile(rf"^{_ROW}(?:\n{_ROW})+", re.MULTILINE)
_WORD = re.compile(r"\S++")
_AROUND = 16  # characters on each side of a border that break ties


@dataclass(frozen=True, slots=True)
class Borders:
    """All borders of a text in order, including its start and end, as three parallel lists; and where its tables are.

    `sums` has the tokens before each border, added up piece by piece: the count for the whole text can differ a little.
    """

    text: str
    places: list[int]
    ranks: list[int]
    sums: list[int]
    tables: list[tuple[int, int]]

    @classmethod
    def of(cls, source: Source, piece: int) -> Borders:
        """The borders of a document. In sentences longer than `piece` tokens, words have borders too."""
        text = source.text
        tables = [found.span() for found in _TABLE.finditer(text)]
        ranks = _ranks(source, tables)
        # Loop rather than build lists: one step over a million borders would block all other threads.
        places, kinds, sums = [0], [ranks.get(0, CHARACTER)], [0]
        for start, end in pairwise(sorted({0, *ranks, len(text)})):
            for place, rank, size in _pieces(text, start, end, ranks.get(end, CHARACTER), piece):
                places.append(place)
                kinds.append(rank)
                sums.append(sums[-1] + size)
        return cls(text, places, kinds, sums, tables)

    def table_around(self, border: int) -> tuple[int, int] | None:
        """The borders before and after the table that a border is inside of."""
        place = self.places[border]
        at = bisect_left(self.tables, (place, 0)) - 1
        if at < 0 or not self.tables[at][0] < place < self.tables[at][1]:
            return None
        start, end = self.tables[at]
        return bisect_right(self.places, start) - 1, bisect_left(self.places, end)

    def lot(self, border: int) -> int:
        """A number that depends only on the text around a border."""
        place = self.places[border]
        return crc32(self.text[max(place - _AROUND, 0) : place + _AROUND].encode())

    def sections(self) -> Iterator[tuple[int, int, int]]:
        """The first and last border of the text under each heading, and its level; 0 before the first heading."""
        last = len(self.places) - 1
        starts = [i for i in range(last) if i == 0 or self.ranks[i] >= _LOWEST]
        for first, end in pairwise([*starts, last]):
            yield first, end, HEADING - self.ranks[first] if self.ranks[first] >= _LOWEST else 0


def _ranks(source: Source, tables: list[tuple[int, int]]) -> dict[int, int]:
    """The rank of each border that the text and the places of the document show. In a table there are only the ends of
    its rows."""
    ranks: dict[int, int] = {}
    waiting = iter([*tables, (len(source.text) + 1, 0)])
    start, end = next(waiting)
    for found in _FOUND.finditer(source.text):
        lines = found["lines"]
        while found.start() >= end > start:
            start, end = next(waiting)
        if start < found.start():
            if lines:
                ranks[found.start()] = LINE
            continue
        place, rank = (found.start(), _of_lines(source.text, lines, found.end())) if lines else (found.end(), SENTENCE)
        ranks[place] = max(rank, ranks.get(place, rank))
    for known in source.places:
        rank = max(HEADING - max(known.level, 1), _LOWEST) if known.kind == "heading" else PARAGRAPH
        if 0 <= known.start < len(source.text):
            ranks[known.start] = max(rank, ranks.get(known.start, rank))
    return ranks


def _of_lines(text: str, lines: str, end: int) -> int:
    if lines.count("\n") > 1 or lines.count("\r") > 1:
        return PARAGRAPH
    return SENTENCE if _LIST_ITEM.match(text, end) else LINE


def _pieces(text: str, start: int, end: int, rank: int, most: int) -> Iterator[tuple[int, int, int]]:
    """The borders in a stretch of text, with their ranks and the tokens of the piece before each.

    No piece has more than `most` tokens, except for white space, which is removed at the edges of a chunk.
    """
    size = tokens.count_within(text[start:end], most)
    if size is not None:
        yield end, rank, size
        return
    at, step = start, max(most // 4, 1)  # a character is at most four tokens
    for word in _WORD.finditer(text, start, end):
        size = tokens.count_within(text[at : word.end()], most)
        if size is None:
            for cut in range(at + step, word.end(), step):
                yield cut, CHARACTER, tokens.count(text[at:cut])
                at = cut
            size = tokens.count(text[at : word.end()])
        yield word.end(), WORD if word.end() < end else rank, size
        at = word.end()
    if at < end:
        yield end, rank, tokens.count(text[at:end])
