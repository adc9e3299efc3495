"""The activity of workspaces. Listeners who see the same of a workspace share its queries."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

from trueweave.core.jobs import Activity
from trueweave.engine.trueweave import AsyncTrueweave
from trueweave.store.postgres.db import Workspace

_LOOK_AGAIN = 1.0  # seconds
LONGEST = 60.0  # seconds that a listener may listen before its key is checked again
_SHARE = 10  # after each query, wait this many times as long as it took


@dataclass
class _Watched:
    """A workspace with listeners: its latest activity, and when to query it again."""

    listeners: int = 0
    latest: Activity | None = None
    due: float = 0.0
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)


class ActivityFeed:
    """The activity of the workspaces that somebody listens to. However many listen, a workspace is queried once a
    second at most for all of them who read as the same groups."""

    def __init__(self, stopping: asyncio.Event) -> None:
        self._stopping = stopping
        self._watched: dict[Workspace, _Watched] = {}

    async def changes(self, trueweave: AsyncTrueweave) -> AsyncGenerator[Activity, None]:
        """The activity of a workspace now, and then whenever it has changed, for a minute. Raises TrueweaveError if
        the database does not answer."""
        workspace, ends, told = trueweave.workspace, time.monotonic() + LONGEST, None
        watched = self._watched.setdefault(workspace, _Watched())
        watched.listeners += 1
        try:
            while not self._stopping.is_set():
                found = await self._latest(watched, trueweave)
                if found != told:
                    yield found
                    told = found
                if time.monotonic() >= ends:
                    return
                await self._pause(min(watched.due, ends) - time.monotonic())
        finally:
            watched.listeners -= 1
            if not watched.listeners:
                del self._watched[workspace]

    async def _latest(self, watched: _Watched, trueweave: AsyncTrueweave) -> Activity:
        async with watched.asking:
            if watched.latest is None or time.monotonic() >= watched.due:
                began = time.monotonic()
                watched.latest = await trueweave.maintenance.activity()
                ended = time.monotonic()
                watched.due = ended + max(_LOOK_AGAIN, _SHARE * (ended - began))
            return watched.latest

    async def _pause(self, seconds: float) -> None:
        """Wait, but not longer than the server runs."""
        try:
            await asyncio.wait_for(self._stopping.wait(), max(seconds, 0))
        except TimeoutError:
            return
