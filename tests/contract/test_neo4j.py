"""Neo4j does what every graph store must do."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from itertools import combinations

import pytest

from tests.contract.projected import copied
from trueweave import AsyncTrueweave, Chunk, Document, Filter, Link
from trueweave.extend import Database
from trueweave.store.limits import MOST_RELATIONS
from trueweave.store.neo4j.client import Neo4jClient
from trueweave.store.neo4j.graph import Neo4jGraph
from trueweave.store.neo4j.target import Neo4jTarget
from trueweave.store.postgres.reading import VectorLayoutCache, open_readers
from trueweave.testing.contracts import GraphReaderContract, OpenGraph
from trueweave.testing.small_graph import SmallGraph


class TestNeo4jGraph(GraphReaderContract):
    @pytest.fixture
    async def open_graph(self, small_graph: SmallGraph, neo4j_url: str) -> AsyncIterator[OpenGraph]:
        async with (
            aclosing(Neo4jClient(neo4j_url)) as client,
            copied(small_graph.trueweave.workspace, Neo4jTarget(client)) as copy,
        ):
            yield lambda filter: Neo4jGraph(client, copy, small_graph.readers(filter).record)


@pytest.mark.nightly
async def test_neighbourhoods_of_a_dense_graph_need_little_memory(database: Database, neo4j_url: str) -> None:
    """Neo4j counts a list for each row that it is carried in, and stops a transaction that has too many of them."""
    names = [f"Person {n}" for n in range(90)]
    links = [Link(a, b, f"{a} knows {b}", strength=n % 9 + 1) for n, (a, b) in enumerate(combinations(names, 2))]
    some = [links[n : n + 500] for n in range(0, len(links), 500)]
    trueweave = await AsyncTrueweave.enter(database, "dense")
    chunks = tuple(Chunk(f"Part {n}.", links=tuple(part)) for n, part in enumerate(some))
    await trueweave.add_documents([Document("dense", chunks)])
    own = open_readers(VectorLayoutCache(trueweave.workspace), Filter())
    entities = [one.id for one in await trueweave.graph.entities(100)]
    async with aclosing(Neo4jClient(neo4j_url)) as client, copied(trueweave.workspace, Neo4jTarget(client)) as copy:
        theirs = Neo4jGraph(client, copy, own.record)
        found = [await graph.neighbourhood(entities[:10], 2) for graph in (own.graph, theirs)]
        around = [await graph.around(entities, entities[:20], 5) for graph in (own.graph, theirs)]
    assert found[0] == found[1]
    assert len(found[0]) == MOST_RELATIONS
    assert around[0].relations == around[1].relations
    assert sorted(around[0].mentions) == sorted(around[1].mentions)
