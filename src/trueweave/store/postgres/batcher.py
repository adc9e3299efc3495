"""Calls that are made at the same time are carried out together: one transaction for many callers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, Generic, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def _ignore(_item: object, _result: object) -> None:
    """A result that means nothing to anybody else."""


class Batcher(Generic[Item, Result]):
    """Gathers what arrives within a `pause` of ten milliseconds, or while another batch is under way.

    An error of a batch reaches all its callers. A caller who is cancelled before its batch begins is left out of it.
    One who is cancelled later no longer waits; the batch goes on, and `unclaimed` is called with the item and its
    result, which nobody else will hear of.
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
        """The results of several items, in order. If it fails or is cancelled, those that came are unclaimed."""
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
        """Wait until no batch is under way, also for callers who no longer wait."""
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
        except asyncio.CancelledError:  # the event loop ends
            for _, waiting in batch:
                waiting.cancel()
            raise
        except Exception as error:  # noqa: BLE001 (whatever it is, it is the callers' to deal with)
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
    """Work that no caller waits for. `aclose` waits for it."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, object]) -> None:
        """Do this beside everything else."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def aclose(self) -> None:
        """Wait until all is done."""
        while self._tasks:
            await asyncio.gather(*self._tasks)
