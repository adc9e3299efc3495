"""Calls that are made at the same time are carried out together."""

import asyncio
from collections.abc import Sequence

import pytest

from trueweave.store.postgres.batcher import Batcher


class Batches:
    def __init__(self) -> None:
        self.seen: list[list[int]] = []
        self.gate = asyncio.Event()

    async def double(self, items: Sequence[int]) -> list[int]:
        self.seen.append(list(items))
        await self.gate.wait()
        if 13 in items:
            raise ValueError("13")
        return [2 * item for item in items]


async def test_those_who_come_during_one_batch_make_the_next_and_each_gets_its_own_result() -> None:
    batches = Batches()
    together = Batcher(batches.double, most=4)
    first = asyncio.create_task(together(1))
    await asyncio.sleep(0.05)
    others = [asyncio.create_task(together(n)) for n in range(2, 8)]
    await asyncio.sleep(0)
    batches.gate.set()
    assert await asyncio.gather(first, *others) == [2, 4, 6, 8, 10, 12, 14]
    assert batches.seen == [[1], [2, 3, 4, 5], [6, 7]]


async def test_an_error_reaches_all_of_its_batch_and_nobody_else() -> None:
    batches = Batches()
    batches.gate.set()
    together = Batcher(batches.double)
    outcomes = await asyncio.gather(together(13), together(1), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [ValueError, ValueError]
    assert await together(2) == 4


async def test_a_caller_who_is_cancelled_leaves_the_others_alone() -> None:
    batches = Batches()
    together = Batcher(batches.double)
    leaving, staying = asyncio.create_task(together(1)), asyncio.create_task(together(2))
    await asyncio.sleep(0.05)
    leaving.cancel()
    batches.gate.set()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    assert await staying == 4


async def test_a_caller_who_is_cancelled_before_its_batch_begins_is_left_out_of_it() -> None:
    batches = Batches()
    batches.gate.set()
    together = Batcher(batches.double)
    leaving, staying = asyncio.create_task(together(1)), asyncio.create_task(together(2))
    await asyncio.sleep(0)
    leaving.cancel()
    assert await staying == 4
    assert batches.seen == [[2]]


@pytest.mark.parametrize("moment", ["while the batch is under way", "when the result is there"])
async def test_what_came_for_a_caller_who_was_cancelled_is_told_as_unclaimed(moment: str) -> None:
    batches = Batches()
    unclaimed: list[tuple[int, int]] = []
    together = Batcher(batches.double, unclaimed=lambda item, result: unclaimed.append((item, result)))
    leaving = asyncio.create_task(together.all([1, 2]))
    await asyncio.sleep(0.05)
    batches.gate.set()
    if moment == "when the result is there":
        await asyncio.sleep(0)  # the batch is carried out, and the caller has not gone on yet
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    await asyncio.sleep(0.01)
    assert unclaimed == [(1, 2), (2, 4)]


async def test_a_result_that_came_before_another_of_the_same_call_failed_is_unclaimed() -> None:
    batches = Batches()
    batches.gate.set()
    unclaimed: list[tuple[int, int]] = []
    together = Batcher(batches.double, most=1, unclaimed=lambda item, result: unclaimed.append((item, result)))
    with pytest.raises(ValueError, match="13"):
        await together.all([1, 13, 2])
    await asyncio.sleep(0.05)
    assert unclaimed == [(item, 2 * item) for [item] in batches.seen if item != 13]
    assert batches.seen[:2] == [[1], [13]]


async def test_callers_end_with_the_loop_that_carries_out_their_batch() -> None:
    together = Batcher(Batches().double)
    calling = asyncio.create_task(together(1))
    await asyncio.sleep(0.05)
    assert together._running
    together._running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
