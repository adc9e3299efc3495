"""Synchronous calls: an event loop in its own thread, which runs calls for other threads."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import Future, wait
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager
from typing import Any, Generic, Literal, Self, TypeVar

from trueweave.core.errors import TrueweaveError

A = TypeVar("A")
T = TypeVar("T")

_LOOK_AGAIN = 0.1  # seconds
_END: Any = object()
_CLOSED = "this Trueweave is closed. Open the workspace again with another."


class LoopThread:
    """An event loop in its own thread. It runs calls while the caller waits."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._under_way: set[asyncio.Task[Any]] = set()
        self._opening: AbstractAsyncContextManager[Any] | None = None
        self._lock = threading.RLock()  # garbage collection may run while it is held
        self._is_closed = False
        # This thread does not keep a program that does not close it from exiting; `WaitingCalls` closes it then.
        self._thread = threading.Thread(target=self._run, name="trueweave", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        # The runner ends as `asyncio.run` does: running tasks are cancelled, and awaited.
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.get_loop().run_forever()

    @property
    def is_here(self) -> bool:
        """Whether the caller is this thread, which cannot wait for itself."""
        return threading.current_thread() is self._thread

    def open(self, opening: Callable[[], AbstractAsyncContextManager[A]]) -> A:
        """The object that this opens, until the thread is closed. If opening fails, the thread ends."""

        async def enter() -> A:
            manager = opening()
            trueweave = await manager.__aenter__()
            self._opening = manager
            return trueweave

        try:
            return self.wait_for(enter)
        except BaseException:
            self.close()
            raise

    def wait_for(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of a call. If the caller is interrupted, the call is cancelled and awaited."""
        if self.is_here:
            raise TrueweaveError(
                "a listener cannot call the Trueweave that it listens to, because that call would wait for the "
                "listener. Use AsyncTrueweave."
            )
        over: Future[T] = Future()
        begun: list[asyncio.Task[T]] = []

        def begin() -> None:
            begun.append(self._begin(work))
            begun[0].add_done_callback(lambda task: _call(task, over))

        try:
            with self._lock:
                if self._is_closed:
                    over.set_exception(TrueweaveError(_CLOSED))
                else:
                    self._loop.call_soon_threadsafe(begin)
            return over.result()
        except BaseException:
            if not over.done():
                self._loop.call_soon_threadsafe(lambda: begun[0].cancel() if begun else over.cancel())
                wait([over])
            raise

    def end(self, pieces: AsyncIterator[object]) -> None:
        """Release an iterator, from any thread: garbage collection may run in this one, too."""
        if self._is_closed or not isinstance(pieces, AsyncGenerator):
            return
        if self.is_here:
            self._begin(pieces.aclose)
        else:
            self.wait_for(pieces.aclose)

    def close(self) -> None:
        """Cancel running calls, release everything, and end the thread."""
        with self._lock:
            was_closed, self._is_closed = self._is_closed, True
            if not was_closed:
                self._loop.call_soon_threadsafe(lambda: self._begin(self._leave))
        if not self.is_here:
            self._thread.join()

    async def _leave(self) -> None:
        others = self._under_way - {asyncio.current_task()}
        try:
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)
            if self._opening:
                await self._opening.__aexit__(None, None, None)
        finally:
            self._loop.stop()

    def _begin(self, work: Callable[[], Coroutine[Any, Any, T]]) -> asyncio.Task[T]:
        task = self._loop.create_task(work())
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)
        return task


def wait_for(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """The result of a call that needs no workspace."""
    thread = LoopThread()
    try:
        return thread.wait_for(work)
    finally:
        thread.close()


def _call(task: asyncio.Task[T], over: Future[T]) -> None:
    """Pass the result of a task to the waiting caller. A task that nobody interrupted was cancelled by closing."""
    if task.cancelled():
        over.set_exception(TrueweaveError(_CLOSED))
    elif error := task.exception():
        over.set_exception(error)
    else:
        over.set_result(task.result())


class _Event(asyncio.Event):
    """A threading event that a loop can wait for."""

    def __init__(self, event: threading.Event) -> None:
        super().__init__()
        self._event = event

    def is_set(self) -> bool:
        return self._event.is_set()

    async def wait(self) -> Literal[True]:
        while not self._event.is_set():  # noqa: ASYNC110 - it is set in another thread
            await asyncio.sleep(_LOOK_AGAIN)
        return True


def awaited(event: threading.Event | None) -> asyncio.Event | None:
    """A threading event as an awaitable for the loop."""
    return _Event(event) if event else None


class WaitingCalls(Generic[A]):
    """Calls an AsyncTrueweave or an AsyncClient in another thread, and waits for the result."""

    def __init__(
        self,
        opening: Callable[[], AbstractAsyncContextManager[A]],
        shared: tuple[LoopThread, A] | None = None,
    ) -> None:
        self._opening = opening
        self._is_shared = shared is not None
        self._has = shared
        self._is_closed = False
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        self._opened()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close everything that was opened. Calls of other threads are cancelled."""
        with self._lock:
            self._is_closed = True
        if self._has and not self._is_shared:
            self._has[0].close()

    @property
    def _trueweave(self) -> A:
        return self._opened()[1]

    def _opened(self) -> tuple[LoopThread, A]:
        with self._lock:
            if self._is_closed:
                raise TrueweaveError(_CLOSED)
            if self._has is None:
                thread = LoopThread()
                self._has = thread, thread.open(self._opening)
                weakref.finalize(self, thread.close)
            return self._has

    def _wait_for(self, act: Callable[[A], Coroutine[Any, Any, T]]) -> T:
        thread, trueweave = self._opened()
        return thread.wait_for(lambda: act(trueweave))

    def _iterate(self, act: Callable[[A], AsyncIterator[T]]) -> Iterator[T]:
        """The items, one by one. No work is done before the first item is requested, nor after the last requested
        one."""
        thread, trueweave = self._opened()
        pieces = act(trueweave)
        try:
            while (piece := thread.wait_for(lambda: _next(pieces))) is not _END:
                yield piece
        finally:
            thread.end(pieces)

    @contextmanager
    def _entered(self, act: Callable[[A], AbstractAsyncContextManager[T]]) -> Iterator[T]:
        thread, trueweave = self._opened()
        manager = act(trueweave)
        entered = thread.wait_for(lambda: _enter(manager))
        try:
            yield entered
        finally:
            thread.wait_for(lambda: _leave(manager))

    def _beside(self, trueweave: A) -> Self:
        """Another workspace, open as long as this one."""
        made = type(self).__new__(type(self))
        WaitingCalls.__init__(made, self._opening, (self._opened()[0], trueweave))
        return made


async def _next(pieces: AsyncIterator[T]) -> T:
    return await anext(pieces, _END)


async def _enter(manager: AbstractAsyncContextManager[T]) -> T:
    return await manager.__aenter__()


async def _leave(manager: AbstractAsyncContextManager[object]) -> None:
    await manager.__aexit__(None, None, None)


class WaitingGroup(Generic[A]):
    """Some of the calls of a Trueweave or of a Client."""

    def __init__(self, waiting: WaitingCalls[A]) -> None:
        self._waiting = waiting

    @property
    def _trueweave(self) -> A:
        return self._waiting._trueweave  # noqa: SLF001 (a part of it)

    def _wait_for(self, act: Callable[[A], Coroutine[Any, Any, T]]) -> T:
        return self._waiting._wait_for(act)  # noqa: SLF001 (a part of it)

    def _entered(self, act: Callable[[A], AbstractAsyncContextManager[T]]) -> AbstractContextManager[T]:
        return self._waiting._entered(act)  # noqa: SLF001 (a part of it)
