"""What callers of the server with a daily limit have had models do for them, day by day (UTC), over all servers."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from decimal import Decimal
from typing import NamedTuple

from trueweave.store.postgres.db import Database


class DailyUsage(NamedTuple):
    """What a caller has used today, and in how many seconds today ends."""

    tokens: int
    price: Decimal
    left_seconds: int


async def today(database: Database, callers: Collection[str]) -> dict[str, DailyUsage]:
    """What each of these callers has used today."""
    async with database.transaction(None) as tx:
        rows = await tx.rows("caller_usage.today", callers=list(callers))
    return {caller: DailyUsage(*used) for caller, *used in rows}


async def add(database: Database, callers: Collection[str], tokens: int, price: Decimal) -> None:
    """Count this much more for each of these callers."""
    async with database.transaction(None) as tx:
        await tx.run("caller_usage.add", callers=list(callers), tokens=tokens, price=price)


async def prune(database: Database, kept: timedelta) -> None:
    """Take away days that are longer ago than this."""
    async with database.transaction(None) as tx:
        await tx.run("caller_usage.prune", kept=kept)
