"""The graph row by row, all from one snapshot."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, Literal

from trueweave.store.postgres.db import Transaction
from trueweave.store.postgres.queries import QUERIES

Row = Mapping[str, Any]
Section = Literal["communities", "entities", "relations"]

_AT_ONCE = 2000


async def rows(tx: Transaction, section: Section) -> AsyncGenerator[Row, None]:
    """The communities (each before those within it, with its report), entities or relations."""
    async with tx.connection.cursor(name=f"trueweave_export_{section}") as cursor:
        cursor.itersize = _AT_ONCE
        await cursor.execute(QUERIES[f"export.{section}"])
        async for (row,) in cursor:
            yield row


async def batches(tx: Transaction, section: Section, size: int) -> AsyncGenerator[list[Row], None]:
    """The rows in batches of up to `size`."""
    batch: list[Row] = []
    async with aclosing(rows(tx, section)) as found:
        async for row in found:
            batch.append(row)
            if len(batch) == size:
                yield batch
                batch = []
    if batch:
        yield batch
