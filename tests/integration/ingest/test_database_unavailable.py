"""A run waits for a database that is unavailable, and says so; a database that cannot be used any more ends the run."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Self
from urllib.parse import urlsplit, urlunsplit

import pytest
from psycopg import AsyncCursor, Error, OperationalError, errors

from tests.integration.ingest.test_worker import CAPITALS, Scripted
from trueweave import Event, Source
from trueweave.errors import DatabaseError, DatabaseUnavailable
from trueweave.events import Waiting
from trueweave.extend import Database, Workspace
from trueweave.ingest.intake import take_in
from trueweave.ingest.jobs import WorkerDependencies, WorkerSettings
from trueweave.ingest.worker import worker_of
from trueweave.store.postgres.connections import PostgresConnection, Row
from trueweave.store.postgres.failures import lasting


class Failing:
    """Lets statements of a database fail as long as it is told to, if they have these words."""

    def __init__(self) -> None:
        self.error: Error | None = None
        self.words = ""

    def connection_class(self) -> type[PostgresConnection]:
        failing = self

        class Cursor(AsyncCursor[Row]):
            async def execute(self, query: Any, *args: Any, **kwargs: Any) -> Self:
                if failing.error and failing.words in str(query):
                    raise failing.error
                return await super().execute(query, *args, **kwargs)

        class FailingConnection(PostgresConnection):
            def __init__(self, *args: Any, **kwargs: Any) -> None:
                super().__init__(*args, **kwargs)
                self.cursor_factory = Cursor

        return FailingConnection


@asynccontextmanager
async def opened(url: str, failing: Failing) -> AsyncIterator[Database]:
    async with Database(url, connection_class=failing.connection_class()) as database:
        yield database


async def worked(database: Database, events: list[Event], pace: WorkerSettings, *sources: Source) -> None:
    workspace = await database.find_workspace("test", make=True)
    assert workspace is not None
    no_more = asyncio.Event()
    worker = worker_of(workspace, WorkerDependencies(lambda _: Scripted()), events.append, pace)
    working = asyncio.create_task(worker.run_until_done(no_more))
    try:
        await take_in(workspace, sources, CAPITALS, events.append)
        no_more.set()
        await asyncio.wait_for(working, 20)
    finally:
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)


async def test_each_retry_is_logged_and_told_with_how_long_it_took_so_far(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    failing = Failing()
    events: list[Event] = []
    async with opened(url, failing) as database:
        failing.error, failing.words = OperationalError("server closed the connection"), "INSERT INTO source"
        adding = asyncio.create_task(worked(database, events, WorkerSettings(gather=0.01), Source("a", "Ada")))
        with caplog.at_level(logging.WARNING, "trueweave"):
            while sum(isinstance(event, Waiting) for event in events) < 3:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        failing.error = None
        await adding
    waits = [event for event in events if isinstance(event, Waiting)]
    assert "server closed the connection" in waits[0].reason
    assert waits[0].waited < waits[1].waited < waits[2].waited
    assert sum("trying again in" in line.message for line in caplog.records) >= 3


@pytest.mark.parametrize("words", ["INSERT INTO source", "INSERT INTO mention", "UPDATE document SET visible"])
async def test_a_full_disk_ends_the_run_at_once_and_says_so(url: str, words: str) -> None:
    failing = Failing()
    events: list[Event] = []
    async with opened(url, failing) as database:
        failing.error, failing.words = errors.DiskFull("could not extend file: No space left on device"), words
        with pytest.raises(DatabaseError, match=r"No space left on device.*make room"):
            await worked(database, events, WorkerSettings(gather=0.01), Source("a", "Ada"))
        failing.error = None
        await worked(database, events, WorkerSettings(gather=0.01), Source("a", "Ada"))
    assert not any(isinstance(event, Waiting) for event in events)


async def test_a_run_ends_when_the_database_is_away_for_longer_than_is_worth_waiting(url: str) -> None:
    failing = Failing()
    events: list[Event] = []
    async with opened(url, failing) as database:
        failing.error, failing.words = OperationalError("server closed the connection"), "FROM source WHERE NOT failed"
        with pytest.raises(DatabaseUnavailable, match=r"server closed the connection.*Gave up after"):
            await worked(database, events, WorkerSettings(gather=0.01, patience=0.3), Source("a", "Ada"))
        failing.error = None
    assert any(isinstance(event, Waiting) and event.waited for event in events)


async def test_a_password_that_is_no_longer_right_is_told_at_once(url: str) -> None:
    parts = urlsplit(url)
    wrong = urlunsplit(parts._replace(netloc=f"{parts.username}:wrong@{parts.hostname}:{parts.port}"))
    with pytest.raises(OperationalError) as refused:
        await PostgresConnection.connect(wrong)
    problem = lasting(refused.value)
    assert problem is not None
    assert "user and password" in str(problem)


async def test_a_statement_that_may_not_take_so_long_is_not_tried_again(
    database: Database, workspace: Workspace
) -> None:
    tried = 0

    async def slow() -> None:
        nonlocal tried
        tried += 1
        async with workspace.transaction() as tx:
            await tx.execute("SET LOCAL statement_timeout = 20")
            await tx.execute("SELECT pg_sleep(5)")

    with pytest.raises(DatabaseError, match="statement_timeout"):
        await database.retry_while_down(slow)
    assert tried == 1
