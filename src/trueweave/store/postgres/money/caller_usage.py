"""Daily model usage (UTC) of callers with a daily limit, over all servers."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from decimal import Decimal
from typing import NamedTuple

from trueweave.store.postgres.db import Database


class DailyUsage(NamedTuple):
    """A caller's usage today, and the seconds until today ends."""

    tokens: int
    price: Decimal
    left_seconds: int


async def today(database: Database, callers: Collection[str]) -> dict[str, DailyUsage]:
    """Today's usage of each of these callers."""
    async with database.transaction(None) as tx:
        rows = await tx.rows("caller_usage.today", callers=list(callers))
    return {caller: DailyUsage(*used) for caller, *used in rows}


async def add(database: Database, callers: Collection[str], tokens: int, price: Decimal) -> None:
    """Add this usage to each of these callers."""
    async with database.transaction(None) as tx:
        await tx.run("caller_usage.add", callers=list(callers), tokens=tokens, price=price)


async def prune(database: Database, kept: timedelta) -> None:
    """Delete days older than this."""
    async with database.transaction(None) as tx:
        await tx.run("caller_usage.prune", kept=kept)
