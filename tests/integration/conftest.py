"""A workspace, and processes that are present in its database."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from trueweave.store.postgres.db import Database
from trueweave.store.postgres.presence import Presence


@pytest.fixture
async def workspace(database: Database) -> int:
    """The number of an empty workspace."""
    found = await database.find_workspace("test", make=True)
    assert found is not None
    return found


@pytest.fixture
async def presence(database: Database) -> AsyncIterator[Presence]:
    """One process."""
    async with Presence(database) as made:
        yield made


@pytest.fixture
async def presences(database: Database) -> AsyncIterator[list[Presence]]:
    """Three processes, as far as the database can tell."""
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(Presence(database)) for _ in range(3)]
