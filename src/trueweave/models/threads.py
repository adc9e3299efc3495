"""Iterators of blocking libraries, read in threads of their own so that the event loop never waits for them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

AHEAD = 16  # items that are read before they are asked for


@dataclass(frozen=True, slots=True)
class _End:
    """That there are no more items, and the error that ended them, if one did."""

    error: Exception | None


async def read_in_thread(
    items: Callable[[], Generator[T, None, None]], stop: Callable[[], None]
) -> AsyncGenerator[T, None]:
    """The items, as they come, at most `AHEAD` of them read ahead. Who stops reading has `stop` called, which must make
    a generator that waits for an item end, by an error or otherwise. Then it is closed, and the thread ends.

    The thread is not one of the event loop's pool, where those that wait would keep others from their turn.
    """
    loop = asyncio.get_running_loop()
    found: asyncio.Queue[T | _End] = asyncio.Queue()
    room = threading.Semaphore(AHEAD)
    is_left = threading.Event()

    def hand_over(item: T | _End) -> bool:
        """Whether anybody still waits for items."""
        room.acquire()
        if is_left.is_set():
            return False
        try:
            loop.call_soon_threadsafe(found.put_nowait, item)
        except RuntimeError:  # the loop is closed, so that nobody waits
            return False
        return True

    def read() -> None:
        error = None
        try:
            with closing(items()) as made:
                for item in made:
                    if not hand_over(item):
                        return
        except Exception as raised:  # noqa: BLE001 (raised again where the items are read)
            error = raised
        hand_over(_End(error))

    threading.Thread(target=read, name="trueweave-model", daemon=True).start()
    has_ended = False
    try:
        while not isinstance(item := await found.get(), _End):
            room.release()
            yield item
        has_ended = True
        if item.error:
            raise item.error
    finally:
        is_left.set()
        room.release()
        if not has_ended:
            stop()
