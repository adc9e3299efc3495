"""Background tasks are restarted when they fail, with a growing delay, and are known to be down meanwhile."""

import asyncio
import logging

import pytest

from trueweave.core import supervising
from trueweave.core.supervising import Delays, background, down, running
from trueweave.errors import DatabaseError


async def first_down() -> list[str]:
    """The tasks that are down, as soon as there is one."""
    async with asyncio.timeout(10):
        while not down():  # noqa: ASYNC110 (the task acts)
            await asyncio.sleep(0)
    return down()


class Failing:
    """A task that fails as often as told, then runs until it is stopped."""

    def __init__(self, times: int, error: Exception | None) -> None:
        self.left = times
        self.error = error
        self.steady = asyncio.Event()

    async def __call__(self) -> None:
        if self.left:
            self.left -= 1
            if self.error:
                raise self.error
            return
        self.steady.set()
        await asyncio.Event().wait()


@pytest.mark.parametrize("error", [None, KeyError("a bug"), DatabaseError("the disk is full")])
async def test_a_task_that_fails_or_ends_is_down_until_it_is_restarted(
    error: Exception | None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    waits = asyncio.Event()

    async def waited(_: asyncio.Event, seconds: float) -> bool:
        await waits.wait()
        return False

    monkeypatch.setattr(supervising, "_is_set_within", waited)
    failing = Failing(1, error)
    task = background("worker", failing)
    assert await first_down() == ["worker"]
    waits.set()
    await asyncio.wait_for(failing.steady.wait(), 10)
    assert down() == []
    [record] = [one for one in caplog.records if one.levelno == logging.ERROR]
    assert record.__dict__["event"] == "task.down"
    assert "background task worker" in record.message
    assert ("a bug" in record.message) is False
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_the_delay_doubles_while_a_task_keeps_failing(monkeypatch: pytest.MonkeyPatch) -> None:
    delays: list[float] = []

    async def waited(_: asyncio.Event, seconds: float) -> bool:
        delays.append(seconds)
        return False

    monkeypatch.setattr(supervising, "_is_set_within", waited)
    failing = Failing(8, KeyError())
    async with running("worker", failing):
        await asyncio.wait_for(failing.steady.wait(), 10)
    assert delays == [1, 2, 4, 8, 16, 32, 60, 60]


async def test_a_task_that_ends_after_it_was_stopped_is_not_restarted() -> None:
    stop, runs = asyncio.Event(), 0

    async def act() -> None:
        nonlocal runs
        runs += 1
        await stop.wait()

    task = background("worker", act, stop)
    await asyncio.sleep(0)
    stop.set()
    await asyncio.wait_for(task, 10)
    assert (runs, down()) == (1, [])


async def test_stopping_does_not_wait_for_a_restart() -> None:
    stop = asyncio.Event()
    task = background("worker", Failing(1, KeyError()), stop)
    await first_down()
    stop.set()
    await asyncio.wait_for(task, 0.5)  # the restart would have been after a second
    assert down() == []


def test_each_key_has_a_delay_of_its_own_that_success_resets() -> None:
    delays = Delays(5, 60)
    assert [delays.failed("one") for _ in range(5)] == [5, 10, 20, 40, 60]
    assert delays.failed("two") == 5
    delays.succeeded("one")
    assert delays.failed("one") == 5
