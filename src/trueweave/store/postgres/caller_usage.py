"""What callers of the server with a daily limit have had models do for them, day by day (UTC), over all servers."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import NamedTuple

from trueweave.store.postgres.db import Database


class DailyUsage(NamedTuple):
    """What a caller has used today, and in how many seconds today ends."""

    tokens: int
    price: Decimal
    left_seconds: int


async def today(database: Database, caller: str) -> DailyUsage:
    """What this caller has used today."""
    async with database.transaction(None) as tx:
        [row] = await tx.rows("caller_usage.today", caller=caller)
    return DailyUsage(*row)


async def add(database: Database, caller: str, tokens: int, price: Decimal) -> None:
    """This caller has used so much more."""
    async with database.transaction(None) as tx:
        await tx.run("caller_usage.add", caller=caller, tokens=tokens, price=price)


async def prune(database: Database, kept: timedelta) -> None:
    """Take away days that are longer ago than this."""
    async with database.transaction(None) as tx:
        await tx.run("caller_usage.prune", kept=kept)
