"""Blocking iterators that are read in threads: bounded, and ended when nobody reads them."""

import asyncio
import itertools
import threading
import time
from collections.abc import Generator
from contextlib import aclosing

import pytest

from trueweave.models.threads import AHEAD, read_in_thread


def unused() -> None:
    raise AssertionError("nobody left")


async def until(is_so: threading.Event) -> None:
    deadline = time.monotonic() + 5
    while not is_so.is_set():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


async def test_items_come_in_order_and_then_an_end() -> None:
    def numbers() -> Generator[int, None, None]:
        yield from range(100)

    assert [item async for item in read_in_thread(numbers, unused)] == list(range(100))


async def test_an_error_comes_after_the_items_before_it() -> None:
    def numbers() -> Generator[int, None, None]:
        yield 1
        raise LookupError("no more")

    async with aclosing(read_in_thread(numbers, unused)) as items:
        assert await anext(items) == 1
        with pytest.raises(LookupError, match="no more"):
            await anext(items)


async def test_no_more_is_read_ahead_than_allowed_and_who_leaves_ends_the_thread() -> None:
    read: list[int] = []
    is_closed = threading.Event()

    def numbers() -> Generator[int, None, None]:
        try:
            for number in itertools.count():
                read.append(number)
                yield number
        finally:
            is_closed.set()

    stopped = threading.Event()
    async with aclosing(read_in_thread(numbers, stopped.set)) as items:
        assert await anext(items) == 0
        await asyncio.sleep(0.2)
        assert len(read) <= AHEAD + 2
    assert stopped.is_set()
    await until(is_closed)


async def test_who_leaves_ends_a_thread_that_waits_for_an_item() -> None:
    is_stopped, is_closed = threading.Event(), threading.Event()

    def numbers() -> Generator[int, None, None]:
        yield 1
        is_stopped.wait(5)
        is_closed.set()

    async with aclosing(read_in_thread(numbers, is_stopped.set)) as items:
        assert await anext(items) == 1
    await until(is_closed)
