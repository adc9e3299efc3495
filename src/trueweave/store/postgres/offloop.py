"""Processes a lot of data in a transaction without blocking the event loop.

The computation between statements may take seconds. It runs in a thread with its own event loop; its statements are
sent, one at a time, by the loop that the connection belongs to.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, LiteralString, TypeVar

from psycopg import AsyncCursor

from trueweave.store.postgres.binary_params import packed
from trueweave.store.postgres.connections import Row
from trueweave.store.postgres.db import Transaction

T = TypeVar("T")

MUCH = 200  # rows; from this many on, a thread is worthwhile


async def off_loop(tx: Transaction, act: Callable[[Transaction], Coroutine[Any, Any, T]]) -> T:
    """Run `act` in a thread and return its result. It may use the transaction it receives until it ends."""
    remote = _Remote(tx, asyncio.get_running_loop())
    working = asyncio.ensure_future(asyncio.to_thread(asyncio.run, act(remote)))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        remote.stop()
        await asyncio.wait((working,))  # otherwise its statements would mix with those of the connection's next user
        raise


class _Remote(Transaction):
    """A transaction used from a thread: the thread encodes parameters and reads rows, the connection's loop sends the
    statements."""

    def __init__(self, tx: Transaction, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(tx.connection, tx.workspace)
        self._tx = tx
        self._loop = loop
        self._under_way: Future[Any] | None = None
        self._is_stopped = False

    def stop(self) -> None:
        """Cancel the statement in progress, and send no more."""
        self._is_stopped = True
        if self._under_way:
            self._under_way.cancel()

    async def execute(
        self, query: LiteralString, params: Mapping[str, Any] | None = None, *, prepare: bool = False
    ) -> AsyncCursor[Row]:
        sent = {name: packed(value) for name, value in params.items()} if params else None
        return await self._send(self._tx.execute(query, sent, prepare=prepare))

    async def copy(self, table: LiteralString, types: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        await self._send(self._tx.copy(table, types, list(rows)))

    async def _send(self, statement: Coroutine[Any, Any, T]) -> T:
        sent = self._under_way = asyncio.run_coroutine_threadsafe(statement, self._loop)
        if self._is_stopped:  # checked after `_under_way` is set, so that either this or `stop` cancels it
            sent.cancel()
        return await asyncio.wrap_future(sent)
