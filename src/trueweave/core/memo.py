"""Work that is done once for all concurrent callers."""

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
    """Results by key. Concurrent callers wait for the same result."""

    def __init__(self) -> None:
        self._work: dict[str, _Work] = {}

    async def once(self, key: str, make: Callable[[], Awaitable[T]]) -> T:
        """The result of `make`, which is called for the first caller.

        If a caller is cancelled, the work continues for the others; when the last one is cancelled, so is the work.
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
        """Forget the result, so that it is computed again."""
        self._work.pop(key, None)
