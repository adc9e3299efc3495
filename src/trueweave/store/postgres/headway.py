"""How work goes on, as the database sees it: whoever does it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from trueweave.store.postgres.db import Transaction
from trueweave.types import Duplicate, Note


@dataclass(frozen=True, slots=True)
class Headway:
    """Documents that became part of the index, that wait to be worked, and that are in the record and not yet settled;
    descriptions that wait to be summed up; and documents that are set aside."""

    came_in: int
    waiting: int
    unsettled: int
    descriptions: int
    set_aside: int


async def headway(tx: Transaction, since: datetime | None) -> Headway:
    """How work goes on. What came in is counted since then; without a time, it is not."""
    return Headway(*(await tx.rows("headway.since", since=since))[0])


async def clock(tx: Transaction) -> datetime:
    """The time by the database's clock."""
    now = await tx.value("headway.now")
    assert isinstance(now, datetime)
    return now


async def duplicates(tx: Transaction, since: datetime) -> list[Duplicate]:
    """The documents that came in since then and have the very text of one that was there before."""
    return [Duplicate(*row) for row in await tx.rows("headway.duplicates", since=since)]


async def notes(tx: Transaction, since: datetime, named: int) -> list[Note]:
    """What was odd about the documents that came in since then, with the names of the first so many."""
    rows = await tx.rows("headway.notes", since=since, named=named)
    return [Note(text, documents, tuple(uris)) for text, documents, uris in rows]
