"""Every method finds the same, whichever stores it reads from, on passages with the triples that a real model found."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar
from uuid import UUID
from zlib import crc32

import numpy as np
import pytest

from tests.contract.projected import copied
from trueweave import AsyncTrueweave, Filter
from trueweave.bench import datasets
from trueweave.core.graph import Metric
from trueweave.core.model_calls import Purpose, TextRole
from trueweave.extend import (
    ChangeReaders,
    Database,
    Embedder,
    Prompt,
    Readers,
    Reply,
    VectorKind,
    Vectors,
    VectorSearch,
)
from trueweave.ingest.extract import preannotated
from trueweave.retrieval.methods import registry
from trueweave.store.chroma.client import ChromaClient
from trueweave.store.chroma.target import ChromaTarget
from trueweave.store.chroma.vectors import ChromaVectors
from trueweave.store.neo4j.client import Neo4jClient
from trueweave.store.neo4j.graph import Neo4jGraph
from trueweave.store.neo4j.target import Neo4jTarget
from trueweave.store.postgres.vectors import vectors
from trueweave.testing import HashEmbedder
from trueweave.types import Scored

ASKING = {"guess", "rephrase", "hyde", "rewrite", "decompose"}  # the methods that find nothing without a language model
EXACT = 50_000  # vectors; there are fewer of each kind
Lists = list[list[Scored[UUID]]]

AT_ONCE = 4
TIE = 1e-6
FILTERED = Filter(metadata={"half": "first"})


@dataclass(frozen=True)
class Distinct:
    """A hash embedder with a little noise of each text's own, so that no two texts are equally near to a third."""

    dimensions: int = 256
    model: str = "testing/distinct"
    metric: Metric = "cosine"

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        found = await HashEmbedder(self.dimensions).embed(texts, role)
        seeds = (np.random.default_rng(crc32(text.encode())) for text in texts)
        noise = np.array([seed.standard_normal(self.dimensions, dtype=np.float32) for seed in seeds])
        return np.asarray(found + 0.02 * noise, dtype=np.float32)


class ExactChroma(ChromaVectors):
    """Chroma's copy, searched exactly: its own search is approximate, however it is configured."""

    stored: ClassVar[dict[str, tuple[list[str], list[Any], Vectors]]] = {}

    async def _query(
        self, collection: Any, vectors: Vectors, limit: int, where: Any = None
    ) -> list[list[Scored[UUID]]]:
        if collection.name not in self.stored:
            all_ = await self._client.call(lambda _: collection.get(include=["embeddings", "metadatas"]))
            matrix = np.asarray(all_["embeddings"], dtype=np.float32)
            self.stored[collection.name] = all_["ids"], all_["metadatas"], matrix
        ids, metadatas, matrix = self.stored[collection.name]
        passing = np.array([not where or one["document"] in where["document"]["$in"] for one in metadatas])
        halves = np.asarray(vectors, dtype=np.float16).astype(np.float32)
        lengths = np.linalg.norm(matrix, axis=1) * np.linalg.norm(halves, axis=1)[:, None]
        near = np.where(passing, halves @ matrix.T / lengths, -2)
        return [[Scored(UUID(ids[n]), float(row[n])) for n in np.argsort(-row)[:limit] if row[n] >= -1] for row in near]


@dataclass(frozen=True)
class Untied:
    """A vector store in which what is equally near comes in the order of ids: how two stores add up many products
    differs in the seventh digit."""

    search: VectorSearch

    async def check_space(self, embedder: Embedder) -> None:
        await self.search.check_space(embedder)

    async def nearest(self, kind: VectorKind, vectors: Vectors, limit: int) -> Lists:
        found = await self.search.nearest(kind, vectors, limit + 20)
        ordered = ([one for tied in _ties(some) for one in tied][:limit] for some in found)
        return [[Scored(one.item, round(one.score, 5)) for one in some] for some in ordered]

    async def rank(self, kind: VectorKind, ids: Sequence[UUID], vector: Vectors) -> list[Scored[UUID]]:
        found = await self.search.rank(kind, ids, vector)
        return [Scored(one.item, round(one.score, 5)) for tied in _ties(found) for one in tied]


def _ties(found: list[Scored[UUID]]) -> Lists:
    groups: Lists = []
    for one in found:
        if groups and groups[-1][-1].score - one.score < TIE:
            groups[-1].append(one)
        else:
            groups.append([one])
    return [sorted(group, key=lambda one: one.item) for group in groups]


class Echo:
    """A language model that guesses what it is asked, and finds keywords in what begins with a capital."""

    model = "testing/echo"

    async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        asked = prompt.messages[-1].content
        if not prompt.schema:
            return Reply(asked, 1, 1)
        names = re.findall(r"\b[A-Z]\w+", asked)
        return Reply(json.dumps(dict.fromkeys(json.loads(prompt.schema)["properties"], names)), 1, 1)

    async def stream(self, prompt: Prompt, purpose: Purpose) -> AsyncIterator[str | Reply]:
        yield await self.complete(prompt, purpose)


@pytest.mark.nightly
async def test_all_methods_find_the_same_in_all_stores(
    database: Database, bench: Path, neo4j_url: str, chroma_url: str, monkeypatch: pytest.MonkeyPatch, full: bool
) -> None:
    """Of all passages and 100 questions in the full run; of some in the short one."""
    monkeypatch.setattr(vectors, "MOST_IN_COMMON", EXACT)  # PostgreSQL's search is exact up to here
    folder = bench / "musique_train100"
    questions = [one.text for one in datasets.find(str(folder)).questions[: 100 if full else 5]]
    texts = preannotated.read(folder / "corpus.jsonl.gz", folder / "openie.jsonl.gz")
    halves = ({"half": "first" if n % 2 else "second"} for n in range(10**6))
    documents = [
        replace(one, metadata=half) for one, half in zip(islice(texts, None if full else 150), halves, strict=False)
    ]
    async with (
        aclosing(await AsyncTrueweave.enter(database, "evidence", Distinct())) as record,
        aclosing(Neo4jClient(neo4j_url)) as neo4j,
        aclosing(ChromaClient(chroma_url)) as chroma,
    ):
        await record.add_documents(documents)
        await record.communities.find()
        await record.communities.write_reports()
        async with (
            copied(record.workspace, Neo4jTarget(neo4j, vectors=False)) as graph_copy,
            copied(record.workspace, ChromaTarget(chroma)) as vector_copy,
        ):

            def through_both(readers: Readers, _: Filter) -> Readers:
                graph = Neo4jGraph(neo4j, graph_copy, readers.record)
                near = ExactChroma(chroma, vector_copy, readers.record, readers.vectors)
                return replace(readers, graph=graph, vectors=Untied(near))

            names = registry.names()
            assert await compared(record, (untied, through_both), names, questions, Filter()) == []
            names = [name for name in names if name not in ("community", "drift")]  # of all documents, or none
            assert await compared(record, (untied, through_both), names, questions, FILTERED) == []


def untied(readers: Readers, _: Filter) -> Readers:
    return replace(readers, vectors=Untied(readers.vectors))


async def compared(
    index: AsyncTrueweave, stores: Sequence[ChangeReaders], names: list[str], questions: list[str], filter: Filter
) -> list[str]:
    """The methods and questions for which not all stores bring the same passages in the same order."""
    room = asyncio.Semaphore(AT_ONCE)
    echo = Echo()

    async def differs(name: str, question: str) -> str | None:
        llm = echo if name in ASKING else None
        async with room:
            found = []
            for readers in stores:
                asked = AsyncTrueweave(index.workspace, Distinct(), llm=llm, readers=readers)
                evidence = await asked.retrieve(question, name, filter=filter)
                found.append([(passage.uri, passage.start) for passage in evidence.passages])
        assert found[0] or filter, f"{name} finds nothing for {question!r}"
        return f"{name}: {question}" if found[0] != found[1] else None

    asked = [(name, question) for name in names for question in questions]
    return [one for one in await asyncio.gather(*(differs(*pair) for pair in asked)) if one]
