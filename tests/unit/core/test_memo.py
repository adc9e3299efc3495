"""A shared result is made once, and belongs to all who wait for it."""

import asyncio

import pytest

from trueweave.core.memo import Memo


class Work:
    """Something that takes until it is released."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.released = asyncio.Event()
        self.started = self.cancelled = 0

    async def __call__(self) -> str:
        self.started += 1
        self.begun.set()
        try:
            await self.released.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return "made"


async def test_a_first_waiter_who_is_cancelled_leaves_the_result_to_the_others() -> None:
    memo, work = Memo(), Work()
    first, second = (asyncio.create_task(memo.once("key", work)) for _ in range(2))
    await work.begun.wait()
    first.cancel()
    await asyncio.wait((first,))
    assert first.cancelled()
    work.released.set()
    assert await second == "made"
    assert await memo.once("key", work) == "made"
    assert (work.started, work.cancelled) == (1, 0)


async def test_work_that_nobody_waits_for_ends_and_is_begun_anew_for_the_next() -> None:
    memo, work = Memo(), Work()
    waiting = [asyncio.create_task(memo.once("key", work)) for _ in range(3)]
    await work.begun.wait()
    for task in waiting:
        task.cancel()
    await asyncio.wait(waiting)
    assert (work.started, work.cancelled) == (1, 1), "the last who leaves waits for the end of the work"
    work.released.set()
    assert await memo.once("key", work) == "made"
    assert work.started == 2


async def test_one_who_comes_while_work_is_being_cancelled_gets_a_result() -> None:
    memo, work = Memo(), Work()
    leaving = asyncio.create_task(memo.once("key", work))
    await work.begun.wait()
    leaving.cancel()
    work.begun.clear()
    await asyncio.sleep(0)  # the cancellation has reached the waiter, and not yet the work
    coming = asyncio.create_task(memo.once("key", work))
    async with asyncio.timeout(10):
        await work.begun.wait()
        work.released.set()
        assert await coming == "made"


async def test_an_error_reaches_all_who_wait() -> None:
    async def fail() -> None:
        raise ValueError("no")

    memo = Memo()
    outcomes = await asyncio.gather(*(memo.once("key", fail) for _ in range(2)), return_exceptions=True)
    assert [type(one) for one in outcomes] == [ValueError, ValueError]
    memo.forget("key")
    with pytest.raises(ValueError, match="no"):
        await memo.once("key", fail)
