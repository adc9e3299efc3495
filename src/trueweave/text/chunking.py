"""Chunks: exact spans of a document, cut at the borders of its own structure.

A document is cut at its headings first. A section that is too long for one chunk is cut at the best kind of border
within range: the end of a paragraph (or page), else of a sentence, a line or a word. A table that fits into one chunk
is not cut, even if the chunk before it becomes small; a larger one is cut between rows. Small adjacent sections are
joined. Which of several equal borders is chosen depends only on the characters around it, so an edit moves only the
cuts near it: after an insertion, later cuts realign by themselves.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from trueweave.core.record import Chunk, ChunkSizes, Source
from trueweave.text import tokens
from trueweave.text.boundaries import SENTENCE, WORD, Borders

VERSION = "2"  # of the rules below: a new version gives other chunks

_QUICK = 20_000  # characters; chunking more than this is worth a thread


class StructureChunker:
    """Cuts documents by their own structure: headings, paragraphs, sentences. It calls no model."""

    @property
    def fingerprint(self) -> str:
        return VERSION

    async def chunk(self, source: Source, sizes: ChunkSizes) -> list[Chunk]:
        """The document as chunks, in order. They cover all of it except white space."""
        if len(source.text) < _QUICK:
            return chunk(source, sizes)
        return await asyncio.to_thread(chunk, source, sizes)


def chunk(source: Source, sizes: ChunkSizes) -> list[Chunk]:
    """The document as chunks, in order. They cover all of it except white space."""
    if not source.places and _surely_fits(source.text, sizes.fresh):
        return _whole(source.text)
    return _cut(source, sizes)


def _surely_fits(text: str, most: int) -> bool:
    """Whether the text has at most `most` tokens however it is cut: a token has at least one byte."""
    return len(text) <= most and len(text.encode(errors="replace")) <= most


def _whole(text: str) -> list[Chunk]:
    """The text as one chunk, without surrounding white space, unless it is blank. Most documents are short and need no
    search for borders."""
    ended = text.rstrip()
    bare = ended.lstrip()
    return [Chunk(bare, len(ended) - len(bare), tokens.count(bare))] if bare else []


def _cut(source: Source, sizes: ChunkSizes) -> list[Chunk]:
    piece = min(max(sizes.fresh - sizes.min_chunk_size, sizes.fresh // 8), sizes.fresh // 2)
    cutter = _Cutter(source.text, Borders.of(source, piece), sizes)
    return [made for part in _groups(cutter, sizes) for made in cutter.chunks(part)]


@dataclass(frozen=True, slots=True)
class _Part:
    """A stretch of the document between two borders; `level` is that of its heading."""

    first: int
    last: int
    level: int


def _groups(cutter: _Cutter, sizes: ChunkSizes) -> Iterator[_Part]:
    """The sections, with small adjacent ones joined unless a higher-level heading separates them."""
    group: _Part | None = None
    joins = False
    for part in cutter.sections():
        small = cutter.size(part) < sizes.min_chunk_size
        if group and joins and small and part.level >= group.level:
            group = _Part(group.first, part.last, group.level)
            continue
        if group:
            yield group
        group, joins = part, small
    if group:
        yield group


class _Cutter:
    def __init__(self, text: str, borders: Borders, sizes: ChunkSizes) -> None:
        self._text = text
        self._borders = borders
        self._sizes = sizes

    def size(self, part: _Part) -> int:
        return self._borders.sums[part.last] - self._borders.sums[part.first]

    def sections(self) -> Iterator[_Part]:
        """The text under each heading, and the text before the first one."""
        held: _Part | None = None
        for first, last, level in self._borders.sections():
            part = _Part(first, last, level)
            if held and level > held.level:  # keep a heading together with one right under it
                part = _Part(held.first, last, held.level)
            elif held:
                yield held
            held = part if self._is_bare(_Part(first, last, level)) else None
            if not held:
                yield part
        if held:
            yield held

    def _is_bare(self, part: _Part) -> bool:
        """Whether it is only a heading."""
        if not part.level or self.size(part) >= self._sizes.min_chunk_size:
            return False
        start, end = self._borders.places[part.first], self._borders.places[part.last]
        lines = self._text[start:end].splitlines()
        return sum(any(map(str.isalnum, line)) for line in lines) <= 1

    def chunks(self, part: _Part) -> Iterator[Chunk]:
        """Cut the part into full chunks; the last one may be shorter."""
        before, begin = part.first, part.first
        start = -1  # of the previous chunk
        while begin < part.last:
            end, made = self._next(begin, part.last)
            if made:
                made = self._with_overlap(made, before, begin, end, start)
                start = made.start
                yield made
            before, begin = begin, end

    def _next(self, begin: int, last: int) -> tuple[int, Chunk | None]:
        """The border where the chunk that begins here ends, and the chunk, unless it is blank."""
        low, high = self._reach(begin, last)
        while True:
            end = max(range(low, high + 1), key=lambda i: (self._borders.ranks[i], self._borders.lot(i), i))
            made = self._made(begin, end)
            if not made or made.tokens <= self._sizes.max_chunk_size or end == begin + 1:
                return self._beside_table(begin, end) or (end, made)
            # The whole can have a few more tokens than its pieces.
            high = end - 1
            low = min(low, high)

    def _beside_table(self, begin: int, end: int) -> tuple[int, Chunk] | None:
        """Another end, and the chunk, if this one cuts a table that fits into a chunk: before the table, or after it if
        the chunk begins with it."""
        table = self._borders.table_around(end)
        if table is None or self.size(_Part(*table, 0)) > self._sizes.fresh:
            return None
        better = table[0] if table[0] > begin else table[1]
        made = self._made(begin, better)
        return (better, made) if made and made.tokens <= self._sizes.max_chunk_size else None

    def _reach(self, begin: int, last: int) -> tuple[int, int]:
        """The first and last border at which a chunk that begins here may end."""
        sums, least, most = self._borders.sums, self._sizes.min_chunk_size, self._sizes.fresh
        done, left = sums[begin], sums[last] - sums[begin]
        if left <= most:
            return last, last
        if 2 * least <= left < least + most:
            most = left - least  # leave enough for the last chunk
        low = bisect_left(sums, done + least, begin + 1, last)
        high = max(bisect_right(sums, done + most, begin + 1, last) - 1, begin + 1)
        return min(low, high), high

    def _made(self, begin: int, end: int) -> Chunk | None:
        start = self._borders.places[begin]
        text = self._text[start : self._borders.places[end]].rstrip()
        bare = text.lstrip()
        return Chunk(bare, start + len(text) - len(bare), tokens.count(bare)) if bare else None

    def _with_overlap(self, made: Chunk, before: int, begin: int, end: int, after: int) -> Chunk:
        """The chunk, extended backwards by the overlap that the sizes allow, but not to before the start of the
        previous one: by whole sentences, or else words."""
        sums, ranks = self._borders.sums, self._borders.ranks
        earliest = bisect_left(sums, sums[begin] - self._sizes.overlap, before + 1, begin)
        nearby = range(earliest, begin)
        whole = [i for i in nearby if ranks[i] >= SENTENCE] or [i for i in nearby if ranks[i] >= WORD]
        longer = (self._made(i, end) for i in whole)
        fitting = (one for one in longer if one and one.start > after and one.tokens <= self._sizes.max_chunk_size)
        return next(fitting, made)
