"""Slots for reading uploads, shared fairly between callers, with limits on reading each upload."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from trueweave.core.settings import Settings
from trueweave.ingest.reading_limits import ReadingLimits, limited

_TIMES_UPLOAD = 10  # default maximum of the unpacked size, as a multiple of the upload limit


class UploadReaders:
    """Slots for reading uploads. A caller gets at most half of them. A free slot goes to the caller with the fewest,
    and on a tie to the one that has waited longest."""

    def __init__(self, settings: Settings) -> None:
        self._most = settings.uploads_at_once
        self._unpacked = settings.max_unpacked_bytes or _TIMES_UPLOAD * settings.max_upload_bytes
        self._seconds = settings.max_reading_seconds
        self._under_way: Counter[str] = Counter()
        self._waiting: list[tuple[str, asyncio.Future[None]]] = []

    @asynccontextmanager
    async def one(self, caller: str) -> AsyncIterator[None]:
        """A slot for one upload of a caller. Reading inside this context is limited, and stops at its end."""
        await self._enter(caller)
        try:
            with limited(ReadingLimits(self._unpacked, self._seconds)):
                yield
        finally:
            self._leave(caller)

    async def _enter(self, caller: str) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((caller, turn))
        self._give()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._waiting.remove((caller, turn))
            else:  # the slot was granted at the same moment
                self._leave(caller)
            raise

    def _leave(self, caller: str) -> None:
        self._under_way[caller] -= 1
        if not self._under_way[caller]:
            del self._under_way[caller]
        self._give()

    def _give(self) -> None:
        """Give free slots to waiting uploads."""
        while self._under_way.total() < self._most:
            fewest = [
                (self._under_way[caller], place)
                for place, (caller, _) in enumerate(self._waiting)
                if self._under_way[caller] < self._most // 2
            ]
            if not fewest:
                return
            caller, turn = self._waiting.pop(min(fewest)[1])
            self._under_way[caller] += 1
            turn.set_result(None)
