"""`semantic`: chunks that end where the topic of a text changes, judged by the vectors of its sentences.

The sentences before each border are compared with those after it. A chunk that is long enough ends where the two are
less similar than at most other borders of the text. Size limits always apply: a chunk that reaches its limit without
such a border ends at the best one within range.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueweave.core.protocols import Embedder
from trueweave.core.record import Chunk, ChunkSizes, Source
from trueweave.text import chunking, sentences, tokens
from trueweave.text.names import key

VERSION = "1"  # of the rules below: a new version gives other chunks

_WINDOW = 3  # sentences compared on each side of a border
_AT_ONCE = 256  # sentences embedded per call
_SMALLEST = 16  # smallest limit for a chunk, in tokens
_BLOCK = 2048  # sentences whose vectors are in memory at once; chunks do not extend across blocks


class _Piece(NamedTuple):
    """A sentence, or a part of one that is too long for a chunk."""

    start: int
    end: int
    tokens: int


class SemanticChunker:
    """Cuts documents by the vectors of `model`, which `embedder` opens when first needed.

    A chunk may end at the `percentile` per cent of borders between sentences with the least similar neighbours. A
    document that fits in one chunk is not embedded for this.
    """

    def __init__(self, embedder: Callable[[], Awaitable[Embedder]], model: str, percentile: float) -> None:
        self._embedder = embedder
        self._percentile = percentile
        self._fingerprint = key("semantic", VERSION, chunking.VERSION, model, f"{percentile:g}").hex

    @property
    def fingerprint(self) -> str:
        return self._fingerprint

    async def chunk(self, source: Source, sizes: ChunkSizes) -> list[Chunk]:
        """The document as chunks, in order. They cover all of it except white space."""
        pieces = await asyncio.to_thread(_pieces, source.text, sizes)
        if sum(piece.tokens for piece in pieces) <= sizes.fresh:
            return [made for made in [_made(source.text, pieces)] if made.text] if pieces else []
        made: list[Chunk] = []
        for at in range(0, len(pieces), _BLOCK):
            block = pieces[at : at + _BLOCK]
            alike = await self._similarities(source.text, block)
            made += await asyncio.to_thread(self._cut, source.text, block, alike, sizes)
        return made

    async def _similarities(self, text: str, pieces: Sequence[_Piece]) -> NDArray[np.float32]:
        """The similarity of the sentences before and after each border; one border fewer than there are sentences."""
        embedder = await self._embedder()
        said = [text[piece.start : piece.end].strip() for piece in pieces]
        parts = [await embedder.embed(said[at : at + _AT_ONCE], "document") for at in range(0, len(said), _AT_ONCE)]
        return await asyncio.to_thread(_neighbours, np.concatenate(parts))

    def _cut(self, text: str, pieces: Sequence[_Piece], alike: NDArray[np.float32], sizes: ChunkSizes) -> list[Chunk]:
        threshold = float(np.percentile(alike, self._percentile)) if len(alike) else 0.0
        return list(_chunks(text, pieces, alike.tolist(), threshold, sizes))


def _pieces(text: str, sizes: ChunkSizes) -> list[_Piece]:
    """The non-blank sentences of a text, with those too long for a chunk divided."""
    return [piece for start, end in sentences.gapless(text) for piece in _divided(text, start, end, sizes)]


def _divided(text: str, start: int, end: int, sizes: ChunkSizes) -> Iterator[_Piece]:
    said = text[start:end]
    if not said.strip():
        return
    size = tokens.count(said)
    if size <= sizes.fresh:
        yield _Piece(start, end, size)
        return
    most = max(sizes.fresh, _SMALLEST)
    for part in chunking.chunk(Source("sentence", said), ChunkSizes(most // 2, most)):
        yield _Piece(start + part.start, start + part.end, part.tokens)


def _neighbours(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """The cosine between the mean of the vectors before each border and the mean of those after it."""
    sums = np.concatenate([np.zeros((1, vectors.shape[1])), np.cumsum(_unit(vectors), axis=0)])
    last = len(vectors)
    borders = np.arange(1, last)
    before = sums[borders] - sums[np.maximum(borders - _WINDOW, 0)]
    after = sums[np.minimum(borders + _WINDOW, last)] - sums[borders]
    return np.asarray(np.sum(_unit(before) * _unit(after), axis=1), dtype=np.float32)


def _unit(vectors: NDArray[np.floating]) -> NDArray[np.float64]:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths == 0, 1, lengths), dtype=np.float64)


def _chunks(
    text: str, pieces: Sequence[_Piece], alike: Sequence[float], threshold: float, sizes: ChunkSizes
) -> Iterator[Chunk]:
    sums = [0, *accumulate(piece.tokens for piece in pieces)]
    before = begin = 0
    while begin < len(pieces):
        end = _end(sums, alike, begin, threshold, sizes)
        made = _made(text, pieces[begin:end])
        while made.tokens > sizes.max_chunk_size and end > begin + 1:
            end -= 1  # the whole can have a few more tokens than its pieces
            made = _made(text, pieces[begin:end])
        if sizes.overlap and begin:
            first = bisect_left(sums, sums[begin] - sizes.overlap, before + 1, begin)
            longer = _made(text, pieces[first:end])
            made = longer if longer.tokens <= sizes.max_chunk_size else made
        yield made
        before, begin = begin, end


def _end(sums: Sequence[int], alike: Sequence[float], begin: int, threshold: float, sizes: ChunkSizes) -> int:
    """The end of the chunk that begins here: the first border within range where the topic changes, or else the best
    one, or the end of the text."""
    last = len(sums) - 1
    high = max(bisect_right(sums, sums[begin] + sizes.fresh, begin + 1, last + 1) - 1, begin + 1)
    low = min(bisect_left(sums, sums[begin] + sizes.min_chunk_size, begin + 1, last), high)
    in_reach = range(low, min(high + 1, last))
    enough_left = [end for end in in_reach if sums[last] - sums[end] >= sizes.min_chunk_size]
    turns = (end for end in enough_left if alike[end - 1] <= threshold)
    found = next(turns, last if high == last else None)
    return found if found is not None else min(enough_left or in_reach, key=lambda end: alike[end - 1])


def _made(text: str, pieces: Sequence[_Piece]) -> Chunk:
    start = pieces[0].start
    ended = text[start : pieces[-1].end].rstrip()
    bare = ended.lstrip()
    return Chunk(bare, start + len(ended) - len(bare), tokens.count(bare))
