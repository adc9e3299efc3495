"""Reading iterators of blocking libraries in separate threads, so that the event loop never waits for them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

AHEAD = 16  # items read in advance


@dataclass(frozen=True, slots=True)
class _End:
    """Marks the end of the items, with the error that ended them, if any."""

    error: Exception | None


async def read_in_thread(
    items: Callable[[], Generator[T, None, None]], stop: Callable[[], None]
) -> AsyncGenerator[T, None]:
    """The items as they arrive, at most `AHEAD` of them read in advance. If the caller stops reading, `stop` is called,
    which must make a generator that is waiting for an item end, with an error or normally. Then it is closed, and the
    thread ends.

    The thread is not from the event loop's pool, where waiting threads would block others.
    """
    loop = asyncio.get_running_loop()
    found: asyncio.Queue[T | _End] = asyncio.Queue()
    room = threading.Semaphore(AHEAD)
    is_left = threading.Event()

    def hand_over(item: T | _End) -> bool:
        """Pass an item on. Returns whether anyone is still waiting for items."""
        room.acquire()
        if is_left.is_set():
            return False
        try:
            loop.call_soon_threadsafe(found.put_nowait, item)
        except RuntimeError:  # the loop is closed, so no one is waiting
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
