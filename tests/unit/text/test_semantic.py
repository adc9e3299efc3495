"""Chunks by meaning: sizes are kept, nothing is lost, and a chunk ends where the text turns."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueweave import Chunk, Source
from trueweave.core.model_calls import TextRole
from trueweave.extend import ChunkSizes, Embedder, Vectors
from trueweave.testing import HashEmbedder
from trueweave.text import semantic, tokens
from trueweave.text.semantic import SemanticChunker

SMALL = ChunkSizes(20, 60)


def chunker(percentile: float = 10.0, embedder: Embedder | None = None) -> SemanticChunker:
    made = embedder or HashEmbedder()

    async def opened() -> Embedder:
        return made

    return SemanticChunker(opened, made.model, percentile)


class Counting(HashEmbedder):
    """Counts what it is asked for."""

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        ASKED.append(len(texts))
        return await super().embed(texts, role)


ASKED: list[int] = []


def holds(text: str, sizes: ChunkSizes, made: list[Chunk]) -> None:
    """Chunks are exact spans in order, none too long, and hold all that is not white space."""
    held: set[int] = set()
    for one in made:
        assert one.text == text[one.start : one.end]
        assert one.text.strip() == one.text != ""
        assert one.tokens == tokens.count(one.text) <= sizes.max_chunk_size
        held |= set(range(one.start, one.end))
    assert all(place in held for place, character in enumerate(text) if not character.isspace())
    assert [one.start for one in made] == sorted({one.start for one in made})


WORDS = st.lists(st.sampled_from(["bees", "honey", "ships.", "Docks?", "\n\n", "港。", "x" * 300, " "]), max_size=120)


@settings(max_examples=60)
@given(WORDS, st.sampled_from([SMALL, ChunkSizes(1, 16), ChunkSizes(10, 40, 20)]))
async def test_sizes_are_kept_and_nothing_is_lost(words: list[str], sizes: ChunkSizes) -> None:
    text = " ".join(words)
    holds(text, sizes, await chunker().chunk(Source("a", text), sizes))


async def test_a_short_text_is_one_chunk_and_asks_no_model() -> None:
    ASKED.clear()
    made = await chunker(embedder=Counting()).chunk(Source("a", " Bees make honey. Ships sail. "), SMALL)
    assert made == [Chunk("Bees make honey. Ships sail.", 1, tokens.count("Bees make honey. Ships sail."))]
    assert await chunker().chunk(Source("a", " \n "), SMALL) == []
    assert ASKED == []


async def test_memory_is_bounded_by_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(semantic, "_BLOCK", 20)
    monkeypatch.setattr(semantic, "_AT_ONCE", 8)
    ASKED.clear()
    text = " ".join(f"Bees make honey number {n} in hives." for n in range(50))
    holds(text, SMALL, await chunker(embedder=Counting()).chunk(Source("a", text), SMALL))
    assert ASKED == [8, 8, 4, 8, 8, 4, 8, 2]


def test_neighbours_are_compared_by_windows() -> None:
    one, other = [1.0, 0.0], [0.0, 1.0]
    alike = semantic._neighbours(np.array([one, one, one, other, other, other], dtype=np.float32))
    assert int(np.argmin(alike)) == 2
    assert alike[2] == pytest.approx(0.0)


def test_another_percentile_or_model_is_another_fingerprint() -> None:
    assert chunker().fingerprint == chunker(10.0).fingerprint != chunker(20.0).fingerprint
    assert chunker().fingerprint != chunker(embedder=HashEmbedder(name="another")).fingerprint
