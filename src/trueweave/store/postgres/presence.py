"""Presence: a connection that lives as long as its process, and what others can tell from it.

PostgreSQL gives back the locks of a connection the moment it breaks. So a mark that is held as a lock says whether the
process that began something is still there to end it. When PostgreSQL itself was away, all marks are gone at once, and
those who live set theirs again within a moment: nobody is taken for dead before that has passed.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, LiteralString, Self

from psycopg import AsyncConnection, InterfaceError, OperationalError

from trueweave.store.postgres.db import Database
from trueweave.store.postgres.together import Together
from trueweave.text.names import key

MARKS = 0x57454647  # "WEFG": also in the function `present`
_PAUSE = 0.2
_BEAT = 1.0
_MOMENT = 5.0  # more than enough to find out that a connection is broken, and to make another


class Presence:
    """This process, as others at the same database see it. Comes back by itself after the database was away."""

    def __init__(self, database: Database) -> None:
        self.owner = secrets.randbelow(2**31 - 1) + 1
        self._database = database
        self._connection: AsyncConnection[Any] | None = None
        self._keeping: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()
        self._slots: dict[str, set[int]] = {}
        self._give_back = Together(self._give_back_all)
        self._missed: dict[int, float] = {}

    async def __aenter__(self) -> Self:
        await self._database.insist(self._connect)
        self._keeping = asyncio.create_task(self._keep())
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._keeping:
            self._keeping.cancel()
            with suppress(asyncio.CancelledError):
                await self._keeping
        if self._connection:
            await self._connection.close()

    def is_gone(self, owner: int, *, seen: bool) -> bool:
        """Whether another process will not come back. To be told at each look whether its mark was seen.

        What is done about it must be done in the transaction of that look, and only if this process's own mark is
        there: then PostgreSQL was not away since the mark was first missed.
        """
        if seen:
            self._missed.pop(owner, None)
            return False
        now = asyncio.get_running_loop().time()
        return now - self._missed.setdefault(owner, now) > _MOMENT

    async def take_slots(self, model: str, most: int, wanted: int) -> list[int]:
        """Up to as many as `wanted` of a model's `most` slots that no process holds, this one included."""
        held = self._slots.setdefault(model, set())
        async with self._lock:
            free = [slot for slot in range(most) if slot not in held]
            taken: list[int] = await self._ask(
                "SELECT array_agg(slot) FROM (SELECT slot FROM unnest(%s::int[]) AS slot "
                "WHERE pg_try_advisory_lock(%s, slot) LIMIT %s) taken",
                free,
                _place(model),
                wanted,
            )
            held.update(taken or ())
        return taken or []

    async def give_back_slot(self, model: str, slot: int) -> None:
        await self._give_back((model, slot))

    async def _give_back_all(self, slots: Sequence[tuple[str, int]]) -> list[None]:
        async with self._lock:
            for model, slot in slots:
                self._slots[model].discard(slot)
            await self._ask(
                "SELECT count(pg_advisory_unlock(place, slot)) FROM unnest(%s::int[], %s::int[]) AS s (place, slot)",
                [_place(model) for model, _ in slots],
                [slot for _, slot in slots],
            )
        return [None] * len(slots)

    async def _ask(self, query: LiteralString, *values: Any) -> Any:
        """The one value that a query gives; None when the connection is broken, as one that is broken holds nothing."""
        try:
            assert self._connection, "entered"
            row = await (await self._connection.execute(query, values)).fetchone()
        except (OperationalError, InterfaceError):
            return None
        return row[0] if row else None

    async def _connect(self) -> None:
        self._connection = await AsyncConnection.connect(self._database.url, autocommit=True)
        self._missed.clear()  # the others may have lost their marks when this one was lost
        await self._connection.execute("SELECT pg_advisory_lock(%s, %s)", (MARKS, self.owner))
        for model, slots in self._slots.items():  # those in use: whoever took one meanwhile shares it for a call
            for slot in slots:
                await self._ask("SELECT pg_try_advisory_lock(%s, %s)", _place(model), slot)

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(_BEAT)
            async with self._lock:
                if await self._ask("SELECT 1") is None:
                    await self._reconnect()

    async def _reconnect(self) -> None:
        while True:
            try:
                return await self._connect()
            except OperationalError:
                await asyncio.sleep(_PAUSE)


def _place(model: str) -> int:
    """The number under which a model's slots are locked."""
    return int(key("slots", model).int & 0x7FFFFFFF)
