"""Keeps indexes of past times open for a while, so that several requests about one time build it once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from trueweave.core.errors import DatabaseError, UnknownWorkspace
from trueweave.engine.trueweave import AsyncTrueweave
from trueweave.server.problems import Refusal
from trueweave.store.postgres.failures import DRIVER_ERRORS
from trueweave.store.postgres.public_errors import translated
from trueweave.store.postgres.record import history

_IDLE = 600.0  # seconds after the last use
_LOOK_AGAIN = 5.0  # seconds


class _Key(NamedTuple):
    workspace: int
    changed: datetime
    state: str


@dataclass(eq=False)
class _Past:
    opening: asyncio.Task[AsyncTrueweave]
    stack: AsyncExitStack
    users: int = 0
    used: float = field(default_factory=time.monotonic)


class PastIndexes:
    """The indexes of past times that requests ask for: `most` at once, built one after the other. Times between which
    nothing changed share one. What was erased, or has other readers now, ends those that may have it."""

    def __init__(self, most: int, *, idle: float = _IDLE) -> None:
        self._most = most
        self._idle = idle
        self._open: dict[_Key, _Past] = {}
        self._building = asyncio.Lock()

    def __len__(self) -> int:
        return len(self._open)

    @asynccontextmanager
    async def lend(self, whole: AsyncTrueweave, at: datetime) -> AsyncIterator[AsyncTrueweave]:
        """The index of this workspace as it was, open inside this context."""
        with translated():
            async with whole.workspace.transaction() as tx:
                key = _Key(whole.workspace.id, *await history.moment(tx, at))
        past = self._open.get(key) or await self._begin(key, whole, at)
        past.users += 1
        try:
            yield await asyncio.shield(past.opening)
        except UnknownWorkspace as error:
            self._open.pop(key, None)
            raise Refusal(
                503,
                "past_changed",
                "Documents of that time were erased, or have other readers now.",
                "Send the request again: the index of that time is built anew.",
                {"Retry-After": "1"},
            ) from error
        finally:
            past.users -= 1
            past.used = time.monotonic()
            if not past.users and self._open.get(key) is not past:
                await asyncio.shield(_close(past))
            elif past.opening.done() and (past.opening.cancelled() or past.opening.exception()):
                self._open.pop(key, None)

    async def run(self) -> None:
        """Close what nobody has used for a while, again and again."""
        while True:
            await asyncio.sleep(_LOOK_AGAIN)
            now = time.monotonic()
            idle = [key for key, past in self._open.items() if not past.users and now - past.used > self._idle]
            ended = [self._open.pop(key) for key in idle]  # at once: closing takes time, in which others come
            for past in ended:
                await _close(past)

    async def aclose(self) -> None:
        """Close all of them."""
        while self._open:
            _, past = self._open.popitem()
            await _close(past)

    async def _begin(self, key: _Key, whole: AsyncTrueweave, at: datetime) -> _Past:
        """Begin to build a past index, in place of one that is idle if there are enough."""
        while len(self._open) >= self._most:
            idle = [(past.used, key) for key, past in self._open.items() if not past.users]
            if not idle:
                raise Refusal(
                    503,
                    "too_many_pasts",
                    f"This server keeps {self._most} indexes of past times open, and all are in use.",
                    "Try again later, or allow more with past_indexes.",
                    {"Retry-After": "5"},
                )
            _, oldest = min(idle)
            await _close(self._open.pop(oldest))
        if key not in self._open:  # another request may have begun meanwhile
            stack = AsyncExitStack()
            self._open[key] = _Past(asyncio.create_task(self._build(stack, whole, at)), stack)
        return self._open[key]

    async def _build(self, stack: AsyncExitStack, whole: AsyncTrueweave, at: datetime) -> AsyncTrueweave:
        async with self._building:
            return await stack.enter_async_context(whole.as_of(at))


async def _close(past: _Past) -> None:
    past.opening.cancel()
    await asyncio.gather(past.opening, return_exceptions=True)
    with suppress(UnknownWorkspace, DatabaseError, *DRIVER_ERRORS):  # it was dropped, or expires by itself
        await past.stack.aclose()
