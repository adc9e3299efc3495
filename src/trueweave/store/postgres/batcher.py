"""Combines calls made at the same time into one transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def _ignore(_item: object, _result: object) -> None:
    """Discard a result that no other caller needs."""


class Batcher(Generic[Item, Result]):
    """Collects items that arrive within `pause` (ten milliseconds by default) or while another batch is running.

    If a batch fails, all its callers get the error. A caller cancelled before its batch begins is left out of it. If a
    caller is cancelled later, the batch continues, and `unclaimed` is called with the item and its result, which would
    otherwise be lost.
    """

    def __init__(
        self,
        act: Callable[[Sequence[Item]], Awaitable[Sequence[Result]]],
        most: int = 256,
        pause: float = 0.01,
        unclaimed: Callable[[Item, Result], None] = _ignore,
    ) -> None:
        self._act = act
        self._most = most
        self._pause = pause
        self._unclaimed = unclaimed
        self._waiting: list[tuple[Item, asyncio.Future[Result]]] = []
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, item: Item) -> Result:
        [result] = await self.all([item])
        return result

    async def all(self, items: Sequence[Item]) -> list[Result]:
        """The results of several items, in order. If this fails or is cancelled, results already made are passed to
        `unclaimed`."""
        results = [self._add(item) for item in items]
        try:
            return [await result for result in results]
        except BaseException:
            for item, result in zip(items, results, strict=True):
                is_made = not result.cancel() and not result.cancelled() and result.exception() is None
                if is_made:
                    self._unclaimed(item, result.result())
            raise

    async def idle(self) -> None:
        """Wait until no batch is running, including batches whose callers were cancelled."""
        while self._running is not None:
            await asyncio.wait((self._running,))

    def _add(self, item: Item) -> asyncio.Future[Result]:
        result: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append((item, result))
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        return result

    async def _run(self) -> None:
        try:
            while self._waiting:
                if len(self._waiting) < self._most:
                    await asyncio.sleep(self._pause)
                batch, self._waiting = self._waiting[: self._most], self._waiting[self._most :]
                if wanted := [one for one in batch if not one[1].done()]:
                    await self._carry_out(wanted)
        finally:
            self._running = None

    async def _carry_out(self, batch: list[tuple[Item, asyncio.Future[Result]]]) -> None:
        try:
            results = await self._act([item for item, _ in batch])
        except asyncio.CancelledError:  # the event loop is shutting down
            for _, waiting in batch:
                waiting.cancel()
            raise
        except Exception as error:  # noqa: BLE001 (every error goes to the callers)
            for _, waiting in batch:
                if not waiting.done():
                    waiting.set_exception(error)
        else:
            for (item, waiting), result in zip(batch, results, strict=True):
                if waiting.done():
                    self._unclaimed(item, result)
                else:
                    waiting.set_result(result)


class Background:
    """Background work that no caller waits for. `aclose` waits for it."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, object]) -> None:
        """Run this in the background."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def aclose(self) -> None:
        """Wait until all background work is done."""
        while self._tasks:
            await asyncio.gather(*self._tasks)
