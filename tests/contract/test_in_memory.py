"""The store adapter of docs/how-to/stores.md: it does what every store must do, and serves questions."""

from dataclasses import replace

import pytest

from tests.contract.in_memory import MemoryGraph, load
from trueweave import AsyncTrueweave, Filter
from trueweave.extend import Method, Readers
from trueweave.methods import Global, GraphRag, Local, PathRag, Subgraph
from trueweave.testing.contracts import GraphReaderContract, OpenGraph
from trueweave.testing.small_graph import FIRST_HALF, Angles, SmallGraph


class TestMemoryGraph(GraphReaderContract):
    @pytest.fixture
    async def open_graph(self, small_graph: SmallGraph) -> OpenGraph:
        graph = await load(small_graph.trueweave.graph.projection("in memory"))
        return lambda filter: MemoryGraph(graph, small_graph.readers(filter).record)

    @pytest.mark.parametrize("method", [Local(), Global(), Subgraph(similarity_threshold=None), PathRag(), GraphRag()])
    @pytest.mark.parametrize("filter", [Filter(), FIRST_HALF])
    async def test_questions_find_the_same_as_on_postgresql(
        self, small_graph: SmallGraph, method: Method, filter: Filter
    ) -> None:
        graph = await load(small_graph.trueweave.graph.projection("in memory"))

        def from_memory(readers: Readers, _: Filter) -> Readers:
            return replace(readers, graph=MemoryGraph(graph, readers.record))

        workspace = small_graph.trueweave.workspace
        mine = AsyncTrueweave(workspace, Angles(), readers=from_memory)
        expected = await small_graph.trueweave.retrieve("question", method, filter=filter)
        found = await mine.retrieve("question", method, filter=filter)
        assert (found.passages, found.relations) == (expected.passages, expected.relations)
        assert found.passages
