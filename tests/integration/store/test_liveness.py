"""What a process claimed is free soon after it has stopped, however it stopped, and it does not take it back."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg import errors

from tests.integration.proxies import Proxy
from trueweave.core import supervising
from trueweave.core.model_calls import Call, Purpose
from trueweave.errors import BudgetReached
from trueweave.extend import Database, Workspace
from trueweave.store.postgres.connections import Timeouts
from trueweave.store.postgres.db import Transaction
from trueweave.store.postgres.money.ledger import PostgresLedger
from trueweave.store.postgres.money.replies import PostgresReplies
from trueweave.store.postgres.queue.liveness import LEASE, Liveness
from trueweave.store.postgres.queue.rate_limit import RateLimits, SharedRateLimiter

SHORT = 1.5  # seconds
PATIENCE = 120.0  # for a busy machine
CALL = Call("m", Purpose("extract"), 60, 40, None)


async def eventually(what: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not await what():  # noqa: ASYNC110 (other processes act too)
            await asyncio.sleep(0.05)


class Claims:
    """One process with all that a process can claim."""

    def __init__(self, database: Database, workspace: Workspace, liveness: Liveness) -> None:
        self.workspace = workspace = Workspace(database, workspace.id)
        self.liveness = liveness
        self.replies = PostgresReplies(workspace, liveness, "m")
        self.ledger = PostgresLedger(workspace, liveness)
        self.pace = SharedRateLimiter(database, liveness, "m", RateLimits(calls_at_once=1))


@asynccontextmanager
async def process(url: str, workspace: Workspace) -> AsyncIterator[Claims]:
    async with Database(url) as database, Liveness(database, SHORT) as liveness:
        yield Claims(database, workspace, liveness)


@pytest.fixture
async def frozen(url: str, workspace: Workspace) -> AsyncIterator[tuple[Proxy, Claims]]:
    """A process whose connections can be frozen while they stay open."""
    async with Proxy(url).serve() as proxy:
        database = Database(proxy.url)
        await database.open()
        liveness = Liveness(database, SHORT)
        await liveness.__aenter__()
        yield proxy, Claims(database, workspace, liveness)
        proxy.thaw()
        await liveness.__aexit__()
        await database.close()


def processes(url: str) -> set[int]:
    with psycopg.connect(url) as connection:
        return {id_ for (id_,) in connection.execute("SELECT id FROM trueweave.process")}


def test_a_dead_machine_is_noticed_within_thirty_seconds() -> None:
    """Its lease runs out, and one who renews his own next looks for such."""
    assert LEASE + LEASE / 5 < 25


async def test_all_that_a_machine_without_power_claimed_is_taken_over(
    url: str, workspace: Workspace, frozen: tuple[Proxy, Claims]
) -> None:
    proxy, dead = frozen
    key = uuid4()
    async with process(url, workspace) as alive:
        async with alive.workspace.transaction() as tx:
            await tx.execute("INSERT INTO budget (token_cap) VALUES (150)")
        assert await dead.replies.ask(key) is None
        await dead.ledger.reserve(CALL)
        turn = dead.pace.acquire(1)
        await turn.__aenter__()

        proxy.freeze()  # neither end hears that the other is gone
        asked = asyncio.create_task(alive.replies.ask(key))
        reserved = asyncio.create_task(alive.ledger.reserve(CALL))
        taken = alive.pace.acquire(1)
        slot = asyncio.create_task(taken.__aenter__())
        await asyncio.sleep(SHORT / 3)
        assert not any((asked.done(), reserved.done(), slot.done())), "taken from one who may be alive"
        assert await asyncio.wait_for(asked, PATIENCE) is None
        await asyncio.wait_for(slot, PATIENCE)
        with pytest.raises(BudgetReached):  # the dead one's call may have been charged
            await asyncio.wait_for(reserved, PATIENCE)

        former = dead.liveness.owner
        assert not dead.liveness.holds(former), "believes that it still owns what others have by now"
        proxy.thaw()

        async def is_back() -> bool:
            return dead.liveness.owner != former and dead.liveness.holds(dead.liveness.owner)

        await eventually(is_back)
        assert former not in processes(url)
        await turn.__aexit__(None, None, None)  # its slot is another's now, and stays that
        again = asyncio.create_task(dead.pace.acquire(1).__aenter__())
        await asyncio.sleep(0.5)
        assert not again.done()
        again.cancel()
        await taken.__aexit__(None, None, None)


async def test_one_whose_lease_ran_out_claims_nothing_under_its_old_number(
    database: Database, workspace: Workspace, liveness: Liveness
) -> None:
    claims = Claims(database, workspace, liveness)
    async with database.transaction(None) as tx:
        await tx.run("liveness.leave", owner=liveness.owner)
    asked = asyncio.create_task(claims.replies.ask(uuid4()))
    reserved = asyncio.create_task(claims.ledger.reserve(CALL))
    slot = asyncio.create_task(claims.pace.acquire(1).__aenter__())
    await asyncio.sleep(0.5)
    assert not any((asked.done(), reserved.done(), slot.done()))
    async with asyncio.timeout(PATIENCE):  # until it has another
        assert await asked is None
        await reserved
        await slot


async def test_nobody_is_taken_for_dead_right_after_the_database_was_away(url: str, database: Database) -> None:
    async with Liveness(database, SHORT) as here, Liveness(database, SHORT) as there:
        numbers = here.owner, there.owner
        with psycopg.connect(url, autocommit=True) as owner:
            for _ in range(3):
                owner.execute("UPDATE trueweave.process SET expires = now() - interval '1 hour'")
                await asyncio.sleep(SHORT / 2)
        assert (here.owner, there.owner) == numbers


async def test_a_process_that_leaves_in_good_order_is_gone_at_once(url: str, database: Database) -> None:
    async with Liveness(database) as leaving:
        assert leaving.owner in processes(url)
    assert processes(url) == set()


async def test_a_transaction_in_which_nothing_happens_is_ended_and_lets_others_pass(
    url: str, workspace: Workspace
) -> None:
    async def hold(holding: Database, meanwhile: Database) -> None:
        async with holding.transaction(workspace.id) as tx:
            await tx.run("ledger.make_budget")
            async with meanwhile.transaction(workspace.id) as waiting:  # as if the machine had no power
                await asyncio.wait_for(waiting.run("ledger.make_budget"), PATIENCE)
            await tx.rows("ledger.lock_budget")

    async with Database(url, timeouts=Timeouts(idle=0.3)) as database, Database(url) as other:
        with pytest.raises(psycopg.Error):
            await hold(database, other)
        async with database.transaction(workspace.id, unhurried=True) as tx:
            await asyncio.sleep(0.6)
            await tx.rows("ledger.lock_budget")


async def test_a_process_that_is_stopped_before_it_has_its_lease_leaves_no_connection(url: str) -> None:
    async def is_there(condition: str) -> bool:
        query = f"SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%%INTO process%%' AND {condition}"
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as own:
            return await (await own.execute(query.encode())).fetchone() == (1,)

    async def is_gone() -> bool:
        return not await is_there("pid <> pg_backend_pid()")

    async with Database(url) as database, await psycopg.AsyncConnection.connect(url) as other:
        await other.execute("LOCK TABLE trueweave.process")
        entering = asyncio.create_task(Liveness(database, SHORT).__aenter__())
        await eventually(lambda: is_there("wait_event_type = 'Lock'"))
        entering.cancel()
        await asyncio.wait((entering,))
        assert entering.cancelled()
        await eventually(is_gone)


async def test_every_connection_has_timeouts_and_keepalives(url: str, workspace: Workspace) -> None:
    given = Timeouts(statement=7, lock=5, idle=3)
    query = """SELECT current_setting('statement_timeout'), current_setting('lock_timeout'),
        current_setting('idle_in_transaction_session_timeout')"""
    async with Database(url, timeouts=given) as database:
        workspace = Workspace(database, workspace.id)
        assert await workspace.read(query.encode()) == [("7s", "5s", "3s")]
        async with workspace.transaction() as tx:
            assert await (await tx.execute(query)).fetchall() == [("7s", "5s", "3s")]
            assert tx.connection.info.get_parameters()["keepalives_idle"] == "5"
        async with await database.connect() as own:
            assert await (await own.execute(query)).fetchall() == [("7s", "5s", "3s")]
            shown = await (await own.execute("SHOW tcp_keepalives_idle")).fetchone()
            assert shown == ("5",)
            assert own.info.get_parameters()["tcp_user_timeout"] == "20000"


async def test_a_lease_is_renewed_again_after_the_process_stood_still_in_the_midst_of_it(url: str) -> None:
    stands_still = False

    class Interrupted(Database):
        @asynccontextmanager
        async def entered(self, *args: Any, **kwargs: Any) -> AsyncIterator[Transaction]:
            async with super().entered(*args, **kwargs) as tx:
                yield tx
                if stands_still:
                    raise errors.IdleInTransactionSessionTimeout("terminating connection due to idle-in-transaction")

    async with Interrupted(url) as database, Liveness(database, SHORT) as liveness:
        stands_still = True
        async with asyncio.timeout(PATIENCE):
            while liveness.holds(liveness.owner):  # noqa: ASYNC110 (by the clock)
                await asyncio.sleep(0.05)
        stands_still = False
        async with asyncio.timeout(PATIENCE):
            while not liveness.holds(liveness.owner):  # noqa: ASYNC110 (by a task of its own)
                await asyncio.sleep(0.05)


async def test_a_lease_is_renewed_again_after_a_bug_in_renewing_it(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervising, "_FIRST_DELAY", 0.01)
    renew, renewed, failed = Liveness._renew, asyncio.Event(), False

    async def renewing(self: Liveness) -> None:
        nonlocal failed
        if not failed:
            failed = True
            raise KeyError("a bug")
        await renew(self)
        renewed.set()

    monkeypatch.setattr(Liveness, "_renew", renewing)
    async with Liveness(database, lease=0.5):
        await asyncio.wait_for(renewed.wait(), 20)
    assert failed


async def test_a_database_that_is_closed_first_gives_up_its_lease(url: str) -> None:
    database = await Database(url).open()
    lease = await Liveness(database).__aenter__()
    assert processes(url) == {lease.owner}
    await database.close()
    assert processes(url) == set()
    await lease.aclose()  # as its own context does afterwards: nothing is left to do

    async def no_connection_is_left() -> bool:
        left = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        with psycopg.connect(url) as connection:
            return connection.execute(left).fetchone() == (0,)

    await eventually(no_connection_is_left)
