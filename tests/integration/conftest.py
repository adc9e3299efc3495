"""A workspace, and processes that are present in its database."""

import os
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
def neo4j() -> Iterator[Any]:
    """A driver to the empty Neo4j at TRUEWEAVE_TEST_NEO4J_URL (bolt://user:password@host:port), emptied at the end."""
    url = os.environ.get("TRUEWEAVE_TEST_NEO4J_URL")
    if not url:
        pytest.skip("no Neo4j; set TRUEWEAVE_TEST_NEO4J_URL to an empty one")
    from neo4j import GraphDatabase

    place = urlsplit(url)
    address = f"{place.scheme}://{place.hostname}:{place.port or 7687}"
    with GraphDatabase.driver(address, auth=(place.username or "neo4j", place.password or "")) as driver:
        yield driver
        driver.execute_query("MATCH (n) DETACH DELETE n")
