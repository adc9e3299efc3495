"""Connections that break on command: before or after any statement, `BEGIN` and `COMMIT` included."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Self

from psycopg import AsyncCopy, AsyncCursor, OperationalError

from trueweave.store.postgres.connections import PostgresConnection, Row


class SimulatedCrash(OperationalError):
    """The connection broke here because a test said so."""


class Faults:
    """Breaks the connections of one `Database`: `break_at(n)` at the n-th chance, counted from 0.

    Each statement has two chances: just before it is sent, and just after it is executed. At the second, the caller
    does not learn that it was executed.
    """

    def __init__(self) -> None:
        self.chances = 0
        self._at: int | None = None

    def break_at(self, chance: int | None) -> None:
        """Break once, at that chance counted from now; None means never."""
        self.chances = 0
        self._at = chance

    async def chance(self, cursor: AsyncCursor[Row]) -> None:
        at, self.chances = self.chances, self.chances + 1
        if at == self._at:
            self._at = None
            await cursor.connection.close()
            raise SimulatedCrash(f"simulated crash at chance {at}")

    def connection_class(self) -> type[PostgresConnection]:
        """The class to open a `Database` with."""
        faults = self

        class FaultyCursor(AsyncCursor[Row]):
            async def execute(self, *args: Any, **kwargs: Any) -> Self:
                await faults.chance(self)
                await super().execute(*args, **kwargs)
                await faults.chance(self)
                return self

            @asynccontextmanager
            async def copy(self, *args: Any, **kwargs: Any) -> AsyncIterator[AsyncCopy]:
                await faults.chance(self)
                async with super().copy(*args, **kwargs) as copy:
                    yield copy
                await faults.chance(self)

        class FaultyConnection(PostgresConnection):
            def __init__(self, *args: Any, **kwargs: Any) -> None:
                super().__init__(*args, **kwargs)
                self.cursor_factory = FaultyCursor

        return FaultyConnection
