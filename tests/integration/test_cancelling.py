"""Whoever is cancelled ends, also if the server's answer to the cancelling comes late."""

import asyncio
from typing import Any
from uuid import uuid4

import pytest
from psycopg import AsyncConnection, AsyncCursor, errors

from trueweave import AsyncTrueweave
from trueweave.store.postgres import leases
from trueweave.store.postgres.connections import Row
from trueweave.store.postgres.db import Database, Workspace


class LateConnection(AsyncConnection[Row]):
    """A request to cancel a statement reaches the server when the next one, ROLLBACK, is under way."""

    async def execute(self, query: Any, *args: Any, **kwargs: Any) -> AsyncCursor[Row]:
        if query == "ROLLBACK":
            raise errors.QueryCanceled("canceling statement due to user request")
        return await super().execute(query, *args, **kwargs)


async def test_what_was_cancelled_stays_cancelled_if_its_rollback_is_cancelled_too(
    url: str, trueweave: AsyncTrueweave
) -> None:
    async with Database(url, connections=1, connection_class=LateConnection) as database:

        async def cancelled() -> None:
            async with database.transaction(trueweave.workspace.id) as tx:
                await tx.execute("CREATE TEMPORARY TABLE left_behind (n int)")
                raise asyncio.CancelledError

        with pytest.raises(asyncio.CancelledError):
            await cancelled()
        async with database.transaction(trueweave.workspace.id) as tx:  # on another connection
            rows = await (await tx.execute("SELECT to_regclass('left_behind')")).fetchall()
            assert rows == [(None,)]


async def test_a_lease_is_given_back_if_renewing_it_fails_as_it_is_cancelled(
    database: Database, trueweave: AsyncTrueweave, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "SECONDS", 0.04)
    renewing = asyncio.Event()

    class Failing(Workspace):
        def transaction(self, **given: bool) -> Any:
            if asyncio.current_task() is not main:
                return _FailsWhenCancelled(renewing)
            return super().transaction(**given)

    main = asyncio.current_task()
    async with asyncio.timeout(5), leases.kept(Failing(database, trueweave.workspace.id), uuid4()):
        await renewing.wait()


class _FailsWhenCancelled:
    """A transaction that ends in an error of the driver when it is cancelled."""

    def __init__(self, begun: asyncio.Event) -> None:
        self._begun = begun

    async def __aenter__(self) -> None:
        self._begun.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            raise errors.QueryCanceled("canceling statement due to user request") from None

    async def __aexit__(self, *_: object) -> None: ...


async def test_what_is_tried_again_while_the_database_is_away_ends_when_it_is_cancelled(database: Database) -> None:
    begun = asyncio.Event()

    async def act() -> None:
        async with _FailsWhenCancelled(begun):
            pass

    trying = asyncio.create_task(database.retry_while_down(act))
    await begun.wait()
    trying.cancel()
    done, _ = await asyncio.wait((trying,), timeout=5)
    assert done
    assert trying.cancelled()
