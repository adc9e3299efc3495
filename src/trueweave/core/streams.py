"""Streams returned to callers: each is closed by the caller, when it is garbage collected, or with its source."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from types import AsyncGeneratorType
from typing import Any, TypeVar

from trueweave.core.events import Listener, ignore, in_run

T = TypeVar("T")


class Stream(AsyncGenerator[T, None]):
    """A stream of items. `aclose` ends it early, and so does dropping it, or closing its source."""

    def __init__(self, pieces: AsyncGenerator[T, None], source: OpenStreams, listener: Listener) -> None:
        self._pieces = pieces
        self._source = source
        self._listener = listener

    async def asend(self, value: None) -> T:
        self._source.begin(self._pieces)
        # An async generator runs in the context of the consumer, so the run is entered for each piece.
        try:
            with in_run(self._listener, is_question=True):
                return await self._pieces.asend(value)
        except BaseException:  # it is over
            self._source.forget(self._pieces)
            raise

    async def athrow(self, *error: Any) -> T:
        try:
            return await self._pieces.athrow(*error)
        except BaseException:
            self._source.forget(self._pieces)
            raise

    async def aclose(self) -> None:
        """End the stream. All its work has ended when this returns."""
        try:
            await self._pieces.aclose()
        finally:
            self._source.forget(self._pieces)

    def __del__(self) -> None:
        self._source.release(self._pieces)


class OpenStreams:
    """The open streams. They are closed before the resources that they use."""

    def __init__(self) -> None:
        self._open: dict[AsyncGenerator[Any, None], asyncio.AbstractEventLoop] = {}
        self._closing: set[asyncio.Task[None]] = set()

    def hand_out(self, pieces: AsyncGenerator[T, None], listener: Listener = ignore) -> Stream[T]:
        """These pieces as a stream. The listener receives the events on the way to each."""
        return Stream(pieces, self, listener)

    def begin(self, pieces: AsyncGenerator[Any, None]) -> None:
        """A stream was started."""
        self._open[pieces] = asyncio.get_running_loop()

    def forget(self, pieces: AsyncGenerator[Any, None]) -> None:
        """A stream has ended."""
        self._open.pop(pieces, None)

    def release(self, pieces: AsyncGenerator[Any, None]) -> None:
        """Close a stream that was garbage collected, which may happen in any thread."""
        if (loop := self._open.get(pieces)) is not None:
            with suppress(RuntimeError):  # the loop is closed, and everything in it has ended
                loop.call_soon_threadsafe(self._close, pieces)

    def _close(self, pieces: AsyncGenerator[Any, None]) -> None:
        if self._open.pop(pieces, None) is not None:
            task = asyncio.ensure_future(pieces.aclose())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def aclose(self) -> None:
        """Close all streams. One that another task is reading right now is left to that task."""
        for pieces in list(self._open):
            if not (isinstance(pieces, AsyncGeneratorType) and pieces.ag_running):
                self._close(pieces)
        outcomes = await asyncio.gather(*self._closing, return_exceptions=True)
        for outcome in outcomes:
            if outcome is not None:
                raise outcome
