"""A workspace, and processes that are present in its database."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

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
