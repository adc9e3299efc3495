"""PostgreSQL does what every store must do."""

import pytest

from trueweave.store.postgres.reading import VectorLayoutCache, open_readers
from trueweave.testing.contracts import (
    GraphReaderContract,
    OpenGraph,
    OpenText,
    OpenVectors,
    TextSearchContract,
    VectorSearchContract,
)
from trueweave.testing.small_graph import SmallGraph


class TestPostgresVectors(VectorSearchContract):
    @pytest.fixture
    def open_vectors(self, small_graph: SmallGraph) -> OpenVectors:
        where = VectorLayoutCache(small_graph.trueweave.workspace)
        return lambda filter: open_readers(where, filter).vectors


class TestPostgresText(TextSearchContract):
    @pytest.fixture
    def open_text(self, small_graph: SmallGraph) -> OpenText:
        where = VectorLayoutCache(small_graph.trueweave.workspace)
        return lambda filter: open_readers(where, filter).text


class TestPostgresGraph(GraphReaderContract):
    @pytest.fixture
    def open_graph(self, small_graph: SmallGraph) -> OpenGraph:
        where = VectorLayoutCache(small_graph.trueweave.workspace)
        return lambda filter: open_readers(where, filter).graph
