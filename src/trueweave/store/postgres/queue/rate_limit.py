"""Limits the rate and concurrency of calls to a model, over all processes that share a database."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from psycopg import Error

from trueweave.core.errors import DatabaseError
from trueweave.store.postgres.db import Database
from trueweave.store.postgres.queue.liveness import Liveness

_LOOK_AGAIN = 0.1
_SHARE = 0.25  # a slot is given up after this many seconds, even if more calls are waiting in this process
_IDLE = 0.2  # or after this many without a call; a call that follows sooner needs no statement


@dataclass(frozen=True)
class RateLimits:
    """The limits of a model's provider; None means no limit."""

    calls_at_once: int = 16
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None


@dataclass(frozen=True)
class _Slot:
    number: int
    owner: int
    since: float


class SharedRateLimiter:
    """The rate limiter of one model, for all workspaces of a process. Implements the protocol `RateLimiter`.

    A slot belongs to a process while it is alive, and passes from call to call within it without any statement. A
    process whose lease has expired makes no more calls with the slots that it had.
    """

    def __init__(self, database: Database, liveness: Liveness, model: str, limits: RateLimits) -> None:
        self._database = database
        self._liveness = liveness
        self._model = model
        self._limits = limits
        self._waiting: deque[asyncio.Future[_Slot]] = deque()
        self._searching: asyncio.Task[None] | None = None
        self._idle: deque[_Slot] = deque()
        self._returning: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def acquire(self, tokens: int) -> AsyncIterator[None]:
        """Hold a slot during a call with this many tokens; entered when the call may start."""
        slot = await self._take()
        try:
            await self._wait_for_pace(tokens)
            if not self._liveness.holds(slot.owner):  # the lease expired meanwhile
                slot, lost = await self._take(), slot
                await self._give_back(lost)
            yield
        finally:
            await self._hand_on(slot)

    async def aclose(self) -> None:
        """Stop the background tasks. Unused slots are released with the lease of the process."""
        tasks = [task for task in (self._searching, self._returning) if task]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _take(self) -> _Slot:
        while self._idle:
            slot = self._idle.pop()
            if self._liveness.holds(slot.owner):
                return slot
            await self._give_back(slot)
        handed: asyncio.Future[_Slot] = asyncio.get_running_loop().create_future()
        self._waiting.append(handed)
        self._search()
        try:
            return await handed
        except asyncio.CancelledError:
            if handed.done() and not handed.cancelled() and handed.exception() is None:
                slot = handed.result()
                if not self._offer(slot):
                    self._lay_aside(slot)  # without a statement, whose error would replace this one
            raise

    async def _hand_on(self, slot: _Slot) -> None:
        """Pass a slot to the first local waiter or keep it for the next; release it if it is other processes' turn."""
        if not self._offer(slot):
            await self._give_back(slot)
            self._search()

    def _offer(self, slot: _Slot) -> bool:
        """Pass a slot to the first local waiter, or keep it for the next; False if it should be released to all
        processes."""
        if _now() - slot.since >= _SHARE or not self._liveness.holds(slot.owner):
            return False
        while self._waiting:
            handed = self._waiting.popleft()
            if not handed.done():
                handed.set_result(slot)
                return True
        self._lay_aside(slot)
        return True

    def _lay_aside(self, slot: _Slot) -> None:
        """Keep a slot for a moment. A background task releases it."""
        self._idle.append(slot)
        self._returning = self._returning or asyncio.create_task(self._return_idle())

    async def _give_back(self, slot: _Slot) -> None:
        await self._liveness.give_back_slot(self._model, slot.number, slot.owner)

    async def _return_idle(self) -> None:
        try:
            while self._idle:
                await asyncio.sleep(_IDLE)
                while self._idle and _now() - self._idle[0].since > _IDLE:
                    await self._give_back(self._idle.popleft())
        finally:
            self._returning = None

    def _search(self) -> None:
        if self._waiting and self._searching is None:
            self._searching = asyncio.create_task(self._take_slots())

    async def _take_slots(self) -> None:
        """Take slots for as long as there are local waiters."""
        try:
            while self._waiting:
                wanted = len(self._waiting)
                owner, taken = await self._liveness.take_slots(self._model, self._limits.calls_at_once, wanted)
                for number in taken:
                    await self._hand_on(_Slot(number, owner, _now()))
                if len(taken) < wanted:
                    await asyncio.sleep(_LOOK_AGAIN)
        except (Error, DatabaseError) as error:  # all local waiters depend on this
            while self._waiting:
                handed = self._waiting.popleft()
                if not handed.done():
                    handed.set_exception(error)
        finally:
            self._searching = None

    async def _wait_for_pace(self, tokens: int) -> None:
        request, token = self._limits.requests_per_minute, self._limits.tokens_per_minute
        if request is None and token is None:
            return

        async def promise() -> float:
            async with self._database.transaction(None) as tx:
                seconds = await tx.value(
                    "rate_limit.promise",
                    model=self._model,
                    request=timedelta(minutes=1 / request if request else 0),
                    token=timedelta(minutes=tokens / token if token else 0),
                )
                return float(seconds)

        wait = await self._database.retry_while_down(promise)
        if wait > 0:
            await asyncio.sleep(wait)


def _now() -> float:
    return asyncio.get_running_loop().time()
