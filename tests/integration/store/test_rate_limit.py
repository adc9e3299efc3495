"""Limits that were agreed with a provider hold over all processes."""

import asyncio

import pytest

from trueweave.errors import DatabaseError
from trueweave.extend import Database, Workspace
from trueweave.store.postgres.queue.liveness import Liveness
from trueweave.store.postgres.queue.rate_limit import RateLimits, SharedRateLimiter


class Calls:
    """How many calls are under way, and how many ever were at once."""

    def __init__(self) -> None:
        self.now = self.most = self.made = 0

    async def make(self, pace: SharedRateLimiter, seconds: float = 0.02, tokens: int = 0) -> None:
        async with pace.acquire(tokens):
            self.now += 1
            self.most = max(self.most, self.now)
            await asyncio.sleep(seconds)
            self.now -= 1
            self.made += 1


async def test_no_more_calls_at_once_than_agreed_over_all_processes(
    database: Database, workspace: Workspace, processes: list[Liveness]
) -> None:
    paces = [SharedRateLimiter(database, p, "m", RateLimits(calls_at_once=5)) for p in processes]
    calls = Calls()
    await asyncio.wait_for(asyncio.gather(*(calls.make(paces[n % 3]) for n in range(150))), 20)
    assert calls.made == 150
    assert calls.most == 5


async def test_two_models_have_limits_of_their_own(
    database: Database, workspace: Workspace, processes: list[Liveness]
) -> None:
    paces = [SharedRateLimiter(database, processes[0], model, RateLimits(calls_at_once=1)) for model in ("a", "b")]
    calls = Calls()
    await asyncio.gather(*(calls.make(pace, 0.2) for pace in paces))
    assert calls.most == 2


async def test_the_slots_of_a_process_that_dies_are_free_at_once(
    database: Database, workspace: Workspace, processes: list[Liveness]
) -> None:
    limits = RateLimits(calls_at_once=2)
    calls = Calls()
    async with Liveness(database) as dying:
        held = SharedRateLimiter(database, dying, "m", limits)
        stuck = [asyncio.create_task(calls.make(held, 60)) for _ in range(2)]
        await asyncio.sleep(0.2)
        assert calls.now == 2
        waiting = asyncio.create_task(calls.make(SharedRateLimiter(database, processes[0], "m", limits)))
        await asyncio.sleep(0.3)
        assert not waiting.done()
    await asyncio.wait_for(waiting, 2)
    for task in stuck:
        task.cancel()
    await asyncio.gather(*stuck, return_exceptions=True)


async def test_a_caller_who_leaves_the_line_takes_no_slot_with_it(
    database: Database, workspace: Workspace, processes: list[Liveness]
) -> None:
    pace = SharedRateLimiter(database, processes[0], "m", RateLimits(calls_at_once=1))
    calls = Calls()
    first = asyncio.create_task(calls.make(pace, 0.3))
    await asyncio.sleep(0.05)
    leaving = asyncio.create_task(calls.make(pace))
    await asyncio.sleep(0.05)
    leaving.cancel()
    await asyncio.wait_for(asyncio.gather(first, calls.make(pace), calls.make(pace)), 5)
    assert calls.made == 3


@pytest.mark.parametrize("limits", [RateLimits(requests_per_minute=1200), RateLimits(tokens_per_minute=120_000)])
async def test_calls_are_spread_as_agreed_over_all_processes(
    database: Database, workspace: Workspace, processes: list[Liveness], limits: RateLimits
) -> None:
    """Both limits let a call of 100 tokens go every 50 ms."""
    paces = [SharedRateLimiter(database, p, "m", limits) for p in processes]
    calls = Calls()
    began = asyncio.get_running_loop().time()
    await asyncio.wait_for(asyncio.gather(*(calls.make(paces[n % 3], 0, tokens=100) for n in range(21))), 20)
    taken = asyncio.get_running_loop().time() - began
    assert 0.95 <= taken < 4


async def test_a_failure_that_lasts_reaches_all_who_wait_for_a_slot(database: Database) -> None:
    class Failing(Liveness):
        async def take_slots(self, model: str, most: int, wanted: int) -> tuple[int, list[int]]:
            raise DatabaseError("the disk is full")

    pace = SharedRateLimiter(database, Failing(database), "m", RateLimits())
    calls = Calls()
    async with asyncio.timeout(5):
        outcomes = await asyncio.gather(*(calls.make(pace) for _ in range(3)), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [DatabaseError] * 3


async def test_nothing_goes_on_behind_a_limiter_that_was_closed(
    database: Database, workspace: Workspace, processes: list[Liveness]
) -> None:
    before = asyncio.all_tasks()
    async with Liveness(database) as process:
        limiter = SharedRateLimiter(database, process, "m", RateLimits(calls_at_once=1))
        await Calls().make(limiter)
        assert asyncio.all_tasks() - before, "an idle slot is kept for a moment"
        await limiter.aclose()
    assert asyncio.all_tasks() == before
    await asyncio.wait_for(Calls().make(SharedRateLimiter(database, processes[0], "m", RateLimits(calls_at_once=1))), 5)


async def test_slots_that_were_taken_without_a_word_are_found_again(
    database: Database, workspace: Workspace, processes: list[Liveness]
) -> None:
    """The database was lost after it had given slots and before it could say so, or with what was given back."""
    here, there = processes[:2]
    async with database.transaction(None) as tx:
        await tx.rows("liveness.take_slots", model="m", most=3, wanted=2, owner=here.owner, held=[])
    assert len((await there.take_slots("m", 3, 3))[1]) == 1
    owner, taken = await here.take_slots("m", 3, 3)
    assert (owner, len(taken)) == (here.owner, 2)
    assert await here.take_slots("m", 3, 3) == (here.owner, [])
    await here.give_back_slot("m", taken[0], owner)
    assert await here.take_slots("m", 3, 3) == (owner, taken[:1])


async def test_two_limiters_of_one_process_share_the_slots_of_a_model(
    database: Database, workspace: Workspace, processes: list[Liveness]
) -> None:
    paces = [SharedRateLimiter(database, processes[0], "m", RateLimits(3, pace)) for pace in (60_000, 60_001)]
    calls = Calls()
    await asyncio.wait_for(asyncio.gather(*(calls.make(paces[n % 2]) for n in range(60))), 20)
    assert (calls.made, calls.most) == (60, 3)


async def test_a_caller_who_is_cancelled_as_the_search_fails_stays_cancelled(
    database: Database, workspace: Workspace, processes: list[Liveness]
) -> None:
    """The error is there already, and the caller has not woken up yet."""
    limits = RateLimits(calls_at_once=1)
    calls = Calls()
    other = asyncio.create_task(calls.make(SharedRateLimiter(database, processes[0], "m", limits), 60))
    async with asyncio.timeout(10):
        while not calls.now:  # noqa: ASYNC110 (it takes a statement)
            await asyncio.sleep(0.01)
    pace = SharedRateLimiter(database, processes[1], "m", limits)
    waiting = asyncio.create_task(calls.make(pace))
    await asyncio.sleep(0)
    [handed] = pace._waiting
    handed.set_exception(DatabaseError("the search failed"))
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    other.cancel()
    await asyncio.gather(other, return_exceptions=True)
    await pace.aclose()
