"""Whoever is cancelled ends, also if the server's answer to the cancelling comes late."""

import asyncio
import threading
from typing import Any
from uuid import uuid4

import pytest
from psycopg import AsyncCursor, errors

from trueweave import AsyncTrueweave
from trueweave.extend import Database, Workspace
from trueweave.store.postgres.connections import PostgresConnection, Row
from trueweave.store.postgres.queue import leases


class LateConnection(PostgresConnection):
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
        def transaction(self, **given: Any) -> Any:
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


async def test_who_is_cancelled_while_given_a_connection_ends_and_gives_it_back(url: str) -> None:
    async def take_one() -> None:
        async with database.transaction(None):
            pass
        await asyncio.sleep(60)

    async with Database(url, connections=1) as database:
        for turns in range(4):  # of the event loop, some of them before the connection has gone from one to the other
            async with database.transaction(None):
                waiting = asyncio.create_task(take_one())
                await asyncio.sleep(0.02)
            for _ in range(turns):
                await asyncio.sleep(0)
            waiting.cancel()
            done, _ = await asyncio.wait((waiting,), timeout=5)
            assert done
            assert waiting.cancelled()
            async with asyncio.timeout(5), database.transaction(None):
                pass


async def test_a_lease_is_given_back_if_renewing_it_waits_for_the_connection_that_was_used_last(
    url: str, trueweave: AsyncTrueweave, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leases, "SECONDS", 0.2)
    async with Database(url, connections=1) as database:
        workspace = Workspace(database, trueweave.workspace.id)
        async with asyncio.timeout(5), leases.kept(workspace, uuid4()), workspace.transaction():
            await asyncio.sleep(0.1)  # longer than until it is renewed


async def test_who_was_cancelled_may_wait_for_a_connection_to_put_things_in_order(url: str) -> None:
    is_in_order = False
    begun = asyncio.Event()

    async def work() -> None:
        nonlocal is_in_order
        try:
            begun.set()
            await asyncio.sleep(60)
        finally:
            async with database.transaction(None):
                is_in_order = True

    async with Database(url, connections=1) as database:
        async with database.transaction(None):
            working = asyncio.create_task(work())
            await begun.wait()
            working.cancel()
            await asyncio.sleep(0.02)
        with pytest.raises(asyncio.CancelledError):
            await working
        assert is_in_order


def test_an_event_loop_ends_after_opening_a_database_was_cancelled(url: str) -> None:
    class Slow(PostgresConnection):
        @classmethod
        async def connect(cls, *_: Any, **__: Any) -> Any:
            connecting.set()
            await asyncio.sleep(60)

    connecting = threading.Event()

    async def cancelled() -> None:
        opening = asyncio.create_task(Database(url, connection_class=Slow).open())
        await asyncio.to_thread(connecting.wait)
        opening.cancel()
        await asyncio.gather(opening, return_exceptions=True)

    running = threading.Thread(target=asyncio.run, args=(cancelled(),), daemon=True)
    running.start()
    running.join(20)
    assert not running.is_alive()
