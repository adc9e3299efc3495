"""Work that is done once, however many ask for it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

T = TypeVar("T")


class Memo:
    """Results by a key. Those who ask while one is being made wait for it."""

    def __init__(self) -> None:
        self._made: dict[str, asyncio.Future[Any]] = {}

    async def once(self, key: str, make: Callable[[], Awaitable[T]]) -> T:
        """What `make` gives, made by whoever asks first."""
        if key not in self._made:
            self._made[key] = asyncio.ensure_future(make())
        made: T = await self._made[key]
        return made

    def forget(self, key: str) -> None:
        """Have it made again."""
        self._made.pop(key, None)
