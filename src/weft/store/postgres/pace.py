"""How fast and how many at once a model is called, over all processes at one database."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from weft.store.postgres.db import Database
from weft.store.postgres.presence import Presence

_LOOK_AGAIN = 0.1
_SHARE = 1.0  # a slot goes back to all after this many seconds, even when more calls wait here


@dataclass(frozen=True)
class Limits:
    """What was agreed with the provider of a model; None is without limit."""

    calls_at_once: int = 16
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None


@dataclass(frozen=True)
class _Slot:
    number: int
    since: float


class SharedPace:
    """The pace of one model. Implements `weft.protocols.Pace`.

    Slots are locks of this process's presence, so those of a process that dies are free at once. A slot is handed from
    call to call within the process while there are calls waiting, which takes no statement at all.
    """

    def __init__(self, database: Database, workspace: int, presence: Presence, model: str, limits: Limits) -> None:
        self._database = database
        self._workspace = workspace
        self._presence = presence
        self._model = model
        self._limits = limits
        self._waiting: deque[asyncio.Future[_Slot | None]] = deque()
        self._searching = asyncio.Lock()

    @asynccontextmanager
    async def turn(self, tokens: int) -> AsyncIterator[None]:
        """Entered when a call of so many tokens may be made, left when it is over."""
        slot = await self._take()
        try:
            await self._wait_for_pace(tokens)
            yield
        finally:
            await self._give_back(slot)

    async def _take(self) -> _Slot:
        while True:
            if not self._searching.locked():
                async with self._searching:
                    number = await self._presence.take_slot(self._model, self._limits.calls_at_once)
                if number is not None:
                    return _Slot(number, _now())
            handed: asyncio.Future[_Slot | None] = asyncio.get_running_loop().create_future()
            self._waiting.append(handed)
            try:
                async with asyncio.timeout(_LOOK_AGAIN):
                    slot = await handed
            except TimeoutError:
                slot = None
            finally:
                if handed in self._waiting:
                    self._waiting.remove(handed)
            if slot:
                return slot

    async def _give_back(self, slot: _Slot) -> None:
        while self._waiting and _now() - slot.since < _SHARE:
            handed = self._waiting.popleft()
            if not handed.done():
                handed.set_result(slot)
                return
        await self._presence.give_back_slot(self._model, slot.number)
        if self._waiting and not (handed := self._waiting.popleft()).done():
            handed.set_result(None)  # have one of those here look for a slot at once

    async def _wait_for_pace(self, tokens: int) -> None:
        request, token = self._limits.requests_per_minute, self._limits.tokens_per_minute
        if request is None and token is None:
            return

        async def promise() -> float:
            async with self._database.transaction(self._workspace) as tx:
                seconds = await tx.value(
                    "pace.promise",
                    model=self._model,
                    request=timedelta(minutes=1 / request if request else 0),
                    token=timedelta(minutes=tokens / token if token else 0),
                )
                return float(seconds)

        wait = await self._database.insist(promise)
        if wait > 0:
            await asyncio.sleep(wait)


def _now() -> float:
    return asyncio.get_running_loop().time()
