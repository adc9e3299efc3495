"""PostgreSQL does what every store must do."""

import pytest

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
        return lambda filter: small_graph.readers(filter).vectors


class TestPostgresText(TextSearchContract):
    @pytest.fixture
    def open_text(self, small_graph: SmallGraph) -> OpenText:
        return lambda filter: small_graph.readers(filter).text


class TestPostgresGraph(GraphReaderContract):
    @pytest.fixture
    def open_graph(self, small_graph: SmallGraph) -> OpenGraph:
        return lambda filter: small_graph.readers(filter).graph
