"""Neo4j does what every graph store must do."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from itertools import combinations
from urllib.parse import urlsplit

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


@pytest.mark.parametrize(
    ("statement", "drop"),
    [
        ("CREATE INDEX twice IF NOT EXISTS FOR (n:Twice) ON (n.id)", "DROP INDEX twice"),
        ("CREATE CONSTRAINT twice IF NOT EXISTS FOR (n:Twice) REQUIRE n.id IS UNIQUE", "DROP CONSTRAINT twice"),
    ],
)
async def test_two_clients_create_the_same_index_at_once(neo4j_url: str, statement: str, drop: str) -> None:
    from neo4j import AsyncGraphDatabase

    place = urlsplit(neo4j_url)
    login = (place.username or "", place.password or "")
    async with (
        AsyncGraphDatabase.driver(f"bolt://{place.hostname}:{place.port}", auth=login) as driver,
        driver.session() as session,
        aclosing(Neo4jClient(neo4j_url)) as client,
    ):
        mine = "SHOW TRANSACTIONS YIELD connectionId, protocol WHERE protocol = 'bolt' RETURN count(*)"
        async with await session.begin_transaction() as first:
            await (await first.run(statement)).consume()
            before = (await driver.execute_query(mine)).records[0][0]
            second = asyncio.create_task(client.define(statement))
            while (await driver.execute_query(mine)).records[0][0] <= before:  # noqa: ASYNC110 (Neo4j acts)
                await asyncio.sleep(0.05)
            await asyncio.sleep(0.2)  # until the second one waits for the first, which Neo4j does not show
            await first.commit()
        await asyncio.wait_for(second, 30)
        await driver.execute_query(drop)


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
