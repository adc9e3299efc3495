"""A search by an HNSW index finds what a comparison with all vectors finds, or nearly so, whatever the filter."""

from collections.abc import AsyncIterator
from random import Random
from typing import NamedTuple

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray
from psycopg import sql

from trueweave import AsyncTrueweave, Chunk, Document, Filter
from trueweave.extend import Database
from trueweave.store.postgres.reading import VectorLayoutCache, open_readers
from trueweave.store.postgres.search import search
from trueweave.store.postgres.vectors import vectors
from trueweave.testing import HashEmbedder

DOCUMENTS, TOPICS, LOTS, SEARCHES = 1500, 12, 10, 30
EMBEDDER = HashEmbedder(64)


class Indexed(NamedTuple):
    trueweave: AsyncTrueweave
    vectors: NDArray[np.float32]  # of the chunk of each document, as they are stored


def text(chance: Random, topic: int) -> str:
    general = (f"word{int(400 * chance.random() ** 2)}" for _ in range(12))
    return " ".join([*general, *(f"topic{topic}x{chance.randrange(12)}" for _ in range(12))])


@pytest.fixture
async def indexed(url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Indexed]:
    """Vectors in an HNSW index, and filters that remain conditions."""
    monkeypatch.setattr(vectors, "MOST_IN_COMMON", DOCUMENTS)
    monkeypatch.setattr("trueweave.store.postgres.search.document_filter.FEW", 20)
    monkeypatch.setattr(search, "EFFORT", 20)  # a tenth, for a graph that is far smaller
    monkeypatch.setattr(search, "SPARSE", 3)
    chance = Random(1)
    texts = [text(chance, n % TOPICS) for n in range(DOCUMENTS)]
    async with Database(url) as database:
        trueweave = await AsyncTrueweave.enter(database, "indexed", EMBEDDER)
        await trueweave.add_documents(
            Document(f"{n}", (Chunk(one),), metadata={"topic": n % TOPICS, "lot": n // TOPICS % LOTS})
            for n, one in enumerate(texts)
        )
        async with trueweave.workspace.transaction() as tx:
            rows = await (await tx.execute("SELECT indexed FROM own_table WHERE kind = 'chunk'")).fetchall()
    assert rows == [(True,)]
    with psycopg.connect(url, autocommit=True) as owner:
        [name] = owner.execute("SELECT current_database()").fetchone() or [""]
        # Sorting vectors as few and short as these costs less than using their index.
        owner.execute(sql.SQL("ALTER DATABASE {} SET enable_sort = off").format(sql.Identifier(name)))
    search.near.cache_clear()
    async with Database(url) as database:
        stored = (await EMBEDDER.embed(texts, "document")).astype(np.float16).astype(np.float32)
        yield Indexed(await AsyncTrueweave.enter(database, "indexed", EMBEDDER), stored)
    search.near.cache_clear()


async def recall(indexed: Indexed, chosen: Filter, passing: NDArray[np.bool_]) -> float:
    """The share of the ten nearest chunks that searches for texts on topic 0 find under a filter."""
    chance = Random(2)
    asked = await EMBEDDER.embed([text(chance, 0) for _ in range(SEARCHES)], "document")
    cache, found = VectorLayoutCache(indexed.trueweave.workspace), 0
    for vector in asked:
        [near] = await open_readers(cache, chosen).vectors.nearest("chunk", vector[None], 10)
        tenth = np.sort(indexed.vectors[passing] @ vector)[-10]
        found += sum(one.score >= tenth - 1e-3 for one in near)
    return found / (10 * SEARCHES)


FILTERS: dict[str, dict[str, int | list[int]]] = {
    "nine tenths": {"lot": list(range(9))},
    "a tenth": {"lot": 0},
    "another topic": {"topic": 5},
    "a few of another topic": {"topic": 5, "lot": [1, 2, 3]},
}


async def test_nearly_all_of_the_nearest_are_found_under_any_filter(indexed: Indexed) -> None:
    """Also where the chunks near the vector do not pass."""
    numbers = {"topic": np.arange(DOCUMENTS) % TOPICS, "lot": np.arange(DOCUMENTS) // TOPICS % LOTS}
    recalls: dict[str, float] = {}
    for name, chosen in FILTERS.items():
        passing = np.ones(DOCUMENTS, bool)
        for key, values in chosen.items():
            passing &= np.isin(numbers[key], values)
        recalls[name] = await recall(indexed, Filter(metadata=chosen), passing)
    assert min(recalls.values()) >= 0.97, recalls
