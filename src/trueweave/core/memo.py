"""Work that is done once, however many ask for it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass
class _Work:
    task: asyncio.Future[Any]
    waiting: int = 0


class Memo:
    """Results by a key. Those who ask while one is being made wait for it."""

    def __init__(self) -> None:
        self._work: dict[str, _Work] = {}

    async def once(self, key: str, make: Callable[[], Awaitable[T]]) -> T:
        """The result of `make`, which is called for the first who asks.

        A caller who is cancelled leaves the work to the others. When the last one has left, the work is cancelled.
        """
        work = self._work.get(key)
        if work is None:
            work = self._work[key] = _Work(asyncio.ensure_future(make()))
        work.waiting += 1
        try:
            result: T = await asyncio.shield(work.task)
        finally:
            work.waiting -= 1
            if not work.waiting and not work.task.done():
                if self._work.get(key) is work:
                    del self._work[key]
                work.task.cancel()
                await asyncio.wait((work.task,))
        return result

    def forget(self, key: str) -> None:
        """Have it made again."""
        self._work.pop(key, None)
