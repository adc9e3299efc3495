"""Tracks which processes are alive: each renews a lease by the database's clock, and a process without a lease loses
its claims.

A connection says nothing about the process at its other end: after a power loss it stays open for hours. So each
process has a row, its lease, that it renews several times before it expires. Each process, when it renews its lease,
deletes those that have expired, and claims in the database are valid only while their owner has a row. A process that
comes back finds its row deleted, registers again under another number, and drops what it held under the old one. After
an outage of the database all leases have expired at once; so no process deletes others until it has renewed its own for
a while.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Self

from psycopg import Error
from psycopg.errors import ConnectionTimeout

from trueweave.core.supervising import background
from trueweave.store.postgres.batcher import Batcher
from trueweave.store.postgres.connections import PostgresConnection
from trueweave.store.postgres.db import Database
from trueweave.store.postgres.failures import DRIVER_ERRORS, first_line

_log = logging.getLogger(__name__)

LEASE = 15.0  # seconds
_BEATS = 5  # renewals within a lease
_GRACE = 1 / 3  # of a lease, in which all processes may come back after an outage of the database
_PAUSE = 0.2
_FAILED = (Error, TimeoutError)  # retry after any error, because calls wait until the lease is renewed


class Liveness:
    """This process, as others using the same database see it. Recovers by itself after an outage of the database.

    On a server other than the home it `follows` the home's Liveness and uses the same number, so that claims in a
    workspace stay valid when the workspace is moved. Opening it does not wait for the server, which may be unavailable.
    """

    def __init__(self, database: Database, lease: float = LEASE, follows: Liveness | None = None) -> None:
        self._database = database
        self._follows = follows
        self._lease = lease
        self._owner = 0
        self._sure_until = 0.0
        self._connection: PostgresConnection | None = None
        self._renewing: asyncio.Task[None] | None = None
        self._give_back = Batcher(self._give_back_all)
        self._taking = asyncio.Lock()
        self._held: set[tuple[str, int, int]] = set()  # (model, number of the slot, owner number that claimed it)

    @property
    def owner(self) -> int:
        """The number under which this process claims slots and jobs now. It changes after the lease has expired."""
        return self._owner

    def holds(self, owner: int) -> bool:
        """Whether claims made under that number are still this process's, as far as it can tell locally."""
        return owner == self._owner and time.monotonic() < self._sure_until

    async def __aenter__(self) -> Self:
        if not self._follows:
            try:
                await self._database.retry_while_down(self._register)
            except BaseException:
                await self._disconnect()  # __aexit__ is not called for a process that never had a lease
                raise
        self._renewing = background("process lease", self._renew_for_ever)
        self._database.closes_first.add(self.aclose)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Give up the lease, and close the connection. If the database is closed first, it calls this."""
        self._database.closes_first.discard(self.aclose)
        if self._renewing:
            self._renewing.cancel()
            with suppress(asyncio.CancelledError):
                await self._renewing
        if self._connection:
            with suppress(*_FAILED):  # on failure the lease expires by itself
                await self._in_time(self._run("liveness.leave", owner=self._owner))
            await self._disconnect()

    # --- slots ----------------------------------------------------------------------------------------

    async def take_slots(self, model: str, most: int, wanted: int) -> tuple[int, list[int]]:
        """Claim up to `wanted` of a model's `most` slots that no process holds; also returns the owner number.

        If the connection is lost, the database may have granted slots without our knowing, or may not have recorded
        which were given back. So we send the list of slots held here; others claimed by this process are free.
        """

        async def take() -> tuple[int, list[int]]:
            owner = self._owner
            held = [slot for of, slot, by in self._held if (of, by) == (model, owner)]
            async with self._database.transaction(None) as tx:
                rows = await tx.rows(
                    "liveness.take_slots", model=model, most=most, wanted=wanted, owner=owner, held=held
                )
            return owner, [slot for (slot,) in rows]

        async with self._taking:  # one at a time: slots just granted to another caller must be known here
            owner, taken = await self._database.retry_while_down(take)
            self._held.update((model, slot, owner) for slot in taken)
        return owner, taken

    async def give_back_slot(self, model: str, slot: int, owner: int) -> None:
        """Release a slot. If another process has taken it over meanwhile, nothing happens."""
        await self._give_back((model, slot, owner))

    async def _give_back_all(self, slots: Sequence[tuple[str, int, int]]) -> list[None]:
        models, numbers, owners = map(list, zip(*slots, strict=True))

        async def give_back() -> None:
            async with self._database.transaction(None) as tx:
                await tx.run("liveness.give_back_slots", models=models, slots=numbers, owners=owners)

        await self._database.retry_while_down(give_back)
        self._held.difference_update(slots)  # not earlier: a slot must not be taken again while it is being given back
        return [None] * len(slots)

    # --- the lease ------------------------------------------------------------------------------------

    async def _renew_for_ever(self) -> None:
        while True:
            if self._owner or not self._follows:
                await asyncio.sleep(self._lease / _BEATS)
            while not await self._renew_in_time():  # noqa: ASYNC110 (nothing signals that the database is back)
                await asyncio.sleep(_PAUSE)

    async def _renew_in_time(self) -> bool:
        """Whether the lease was renewed."""
        try:
            await self._in_time(self._renew())
        except _FAILED as error:
            if not isinstance(error, DRIVER_ERRORS):  # other code reports that the database is unavailable
                _log.warning(
                    "the lease of this process cannot be renewed: %s; trying again",
                    first_line(error),
                    extra={"event": "renewal.retry", "wait_seconds": _PAUSE},
                )
            await self._disconnect()
            return False
        return True

    async def _in_time(self, act: Coroutine[None, None, object]) -> None:
        """Run this before the next renewal is due, or fail. A connection that does not answer is given up: it may be
        open only at this end."""
        acting = asyncio.create_task(act)
        try:
            await asyncio.wait((acting,), timeout=self._lease / _BEATS)
        finally:
            if not acting.done():
                await self._disconnect()  # ends a statement at once; cancelling alone would wait for the server
                acting.cancel()
                await asyncio.wait((acting,))
        if acting.cancelled():
            raise ConnectionTimeout(f"there was no connection within {self._lease / _BEATS:g} s")
        acting.result()

    async def _renew(self) -> None:
        sent = time.monotonic()
        if self._follows and self._owner != self._follows.owner:
            await self._register()
        elif await self._run("liveness.renew", owner=self._owner, lease=timedelta(seconds=self._lease)):
            self._sure_until = sent + self._lease
        else:
            await self._register()
        await self._run("liveness.end_others", owner=self._owner, grace=timedelta(seconds=self._lease * _GRACE))

    async def _register(self) -> None:
        sent = time.monotonic()
        connection = await self._connect()
        async with self._database.entered(connection, None) as tx:
            lease = timedelta(seconds=self._lease)
            if self._follows:
                owner = self._follows.owner
                await tx.run("liveness.register_as", owner=owner, lease=lease)
                self._owner = owner
            else:
                self._owner = await tx.value("liveness.register", lease=lease)
        self._sure_until = sent + self._lease

    async def _run(self, query: str, **params: object) -> int:
        async with self._database.entered(await self._connect(), None) as tx:
            return await tx.run(query, **params)

    async def _connect(self) -> PostgresConnection:
        """A connection outside the pool, because a busy process might wait for the pool longer than its lease lasts."""
        if self._connection is None or self._connection.closed:
            self._connection = await self._database.connect()
        return self._connection

    async def _disconnect(self) -> None:
        if self._connection:
            await self._connection.close()
            self._connection = None
