"""A workspace, and processes that are present in its database."""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from typing import Any
from urllib.parse import urlsplit

import pytest

from trueweave.store.postgres.db import Database, Workspace
from trueweave.store.postgres.liveness import Liveness


@pytest.fixture
async def workspace(database: Database) -> Workspace:
    """An empty workspace."""
    found = await database.find_workspace("test", make=True)
    assert found is not None
    return found


@pytest.fixture
async def liveness(database: Database) -> AsyncIterator[Liveness]:
    """One process."""
    async with Liveness(database) as made:
        yield made


@pytest.fixture
async def processes(database: Database) -> AsyncIterator[list[Liveness]]:
    """Three processes, as far as the database can tell."""
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(Liveness(database)) for _ in range(3)]


@pytest.fixture
def neo4j(neo4j_url: str) -> Iterator[Any]:
    """A driver to Neo4j. What is written there without belonging to a copy of a workspace is removed at the end."""
    from neo4j import GraphDatabase

    place = urlsplit(neo4j_url)
    address = f"{place.scheme}://{place.hostname}:{place.port}"
    with GraphDatabase.driver(address, auth=(place.username or "", place.password or "")) as driver:
        yield driver
        driver.execute_query("MATCH (n:Entity) WHERE n.copy IS NULL DETACH DELETE n")
