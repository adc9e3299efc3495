"""Chroma does what every vector store must do, as a server and inside the process."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import pytest

from tests.contract.projected import copied
from trueweave import Filter
from trueweave.store.chroma.client import ChromaClient
from trueweave.store.chroma.target import ChromaTarget
from trueweave.store.chroma.vectors import ChromaVectors
from trueweave.testing.contracts import OpenVectors, VectorSearchContract
from trueweave.testing.small_graph import SmallGraph


class TestChromaVectors(VectorSearchContract):
    @pytest.fixture
    async def open_vectors(self, small_graph: SmallGraph, address: str) -> AsyncIterator[OpenVectors]:
        workspace = small_graph.trueweave.workspace
        async with aclosing(ChromaClient(address)) as client, copied(workspace, ChromaTarget(client)) as copy:

            def opened(filter: Filter) -> ChromaVectors:
                readers = small_graph.readers(filter)
                return ChromaVectors(client, copy, readers.record, readers.vectors)

            yield opened

    @pytest.fixture
    def address(self, chroma_url: str) -> str:
        return chroma_url


class TestChromaInTheProcess(TestChromaVectors):
    @pytest.fixture
    def address(self, tmp_path: Path) -> str:
        return str(tmp_path / "chroma")
