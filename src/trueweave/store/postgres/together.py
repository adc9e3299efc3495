"""Calls that are made at the same time are carried out together: one transaction for many callers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class Together(Generic[Item, Result]):
    """Gathers what arrives within a `pause` of ten milliseconds, or while another batch is under way.

    An error of a batch reaches all its callers. A caller who is cancelled no longer waits; the batch goes on.
    """

    def __init__(
        self, act: Callable[[Sequence[Item]], Awaitable[Sequence[Result]]], most: int = 256, pause: float = 0.01
    ) -> None:
        self._act = act
        self._most = most
        self._pause = pause
        self._waiting: list[tuple[Item, asyncio.Future[Result]]] = []
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, item: Item) -> Result:
        result: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, result))
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        return await result

    async def _run(self) -> None:
        try:
            while self._waiting:
                if len(self._waiting) < self._most:
                    await asyncio.sleep(self._pause)
                batch, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
                await self._carry_out(batch)
        finally:
            self._running = None

    async def _carry_out(self, batch: list[tuple[Item, asyncio.Future[Result]]]) -> None:
        try:
            results = await self._act([item for item, _ in batch])
        except Exception as error:  # noqa: BLE001 (whatever it is, it is the callers' to deal with)
            for _, waiting in batch:
                if not waiting.done():
                    waiting.set_exception(error)
        else:
            for (_, waiting), result in zip(batch, results, strict=True):
                if not waiting.done():
                    waiting.set_result(result)
