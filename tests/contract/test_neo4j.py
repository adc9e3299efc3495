"""Neo4j does what every graph store must do."""

from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from tests.contract.projected import copied
from trueweave.store.neo4j.client import Neo4jClient
from trueweave.store.neo4j.graph import Neo4jGraph
from trueweave.store.neo4j.target import Neo4jTarget
from trueweave.testing.contracts import GraphReaderContract, OpenGraph
from trueweave.testing.small_graph import SmallGraph


class TestNeo4jGraph(GraphReaderContract):
    @pytest.fixture
    async def open_graph(self, small_graph: SmallGraph, neo4j_url: str) -> AsyncIterator[OpenGraph]:
        async with aclosing(Neo4jClient(neo4j_url)) as client, copied(small_graph, Neo4jTarget(client)) as copy:
            yield lambda filter: Neo4jGraph(client, copy, small_graph.readers(filter).record)
