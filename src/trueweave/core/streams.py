"""Streams that are handed out: each is closed by whoever has it, when nobody has it any longer, or with its source."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from types import AsyncGeneratorType
from typing import Any, TypeVar

from trueweave.core.events import Listener, ignore, in_run

T = TypeVar("T")


class Stream(AsyncGenerator[T, None]):
    """What comes, one by one. `aclose` ends it early, and so does letting go of it, or closing what it came from."""

    def __init__(self, pieces: AsyncGenerator[T, None], source: OpenStreams, listener: Listener) -> None:
        self._pieces = pieces
        self._source = source
        self._listener = listener

    async def asend(self, value: None) -> T:
        self._source.begin(self._pieces)
        # An async generator runs in the context of whoever asks for the next piece, so the run is entered for each.
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
        """Hear no more. What was begun for it has ended when this returns."""
        try:
            await self._pieces.aclose()
        finally:
            self._source.forget(self._pieces)

    def __del__(self) -> None:
        self._source.release(self._pieces)


class OpenStreams:
    """The streams that were handed out, have begun and are not over. They are closed before whatever they need."""

    def __init__(self) -> None:
        self._open: dict[AsyncGenerator[Any, None], asyncio.AbstractEventLoop] = {}
        self._closing: set[asyncio.Task[None]] = set()

    def hand_out(self, pieces: AsyncGenerator[T, None], listener: Listener = ignore) -> Stream[T]:
        """These pieces as a stream. What happens on the way to each is told to the listener."""
        return Stream(pieces, self, listener)

    def begin(self, pieces: AsyncGenerator[Any, None]) -> None:
        """This one is asked for a piece."""
        self._open[pieces] = asyncio.get_running_loop()

    def forget(self, pieces: AsyncGenerator[Any, None]) -> None:
        """This one is over."""
        self._open.pop(pieces, None)

    def release(self, pieces: AsyncGenerator[Any, None]) -> None:
        """Close a stream that nobody has any longer. The garbage may be collected in any thread."""
        if (loop := self._open.get(pieces)) is not None:
            with suppress(RuntimeError):  # the loop is closed, and all that ran in it is over
                loop.call_soon_threadsafe(self._close, pieces)

    def _close(self, pieces: AsyncGenerator[Any, None]) -> None:
        if self._open.pop(pieces, None) is not None:
            task = asyncio.ensure_future(pieces.aclose())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def aclose(self) -> None:
        """Close all of them. One that another task is waiting for right now is left to that task."""
        for pieces in list(self._open):
            if not (isinstance(pieces, AsyncGeneratorType) and pieces.ag_running):
                self._close(pieces)
        outcomes = await asyncio.gather(*self._closing, return_exceptions=True)
        for outcome in outcomes:
            if outcome is not None:
                raise outcome
