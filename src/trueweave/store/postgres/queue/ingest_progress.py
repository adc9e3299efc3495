"""How work goes on, as the database sees it: whoever does it."""

from __future__ import annotations

from datetime import datetime

from trueweave.core.jobs import Duplicate, IngestProgress, Note
from trueweave.store.postgres.db import Transaction


async def ingest_progress(tx: Transaction, since: datetime | None) -> IngestProgress:
    """How work goes on. What came in is counted since then; without a time, it is not."""
    return IngestProgress(*(await tx.rows("ingest_progress.since", since=since))[0])


async def clock(tx: Transaction) -> datetime:
    """The time by the database's clock."""
    now = await tx.value("ingest_progress.now")
    assert isinstance(now, datetime)
    return now


async def duplicates(tx: Transaction, since: datetime) -> list[Duplicate]:
    """The documents that came in since then and have the very text of one that was there before."""
    return [Duplicate(*row) for row in await tx.rows("ingest_progress.duplicates", since=since)]


async def notes(tx: Transaction, since: datetime, named: int) -> list[Note]:
    """What was odd about the documents that came in since then, with the names of the first so many."""
    rows = await tx.rows("ingest_progress.notes", since=since, named=named)
    return [Note(text, documents, tuple(uris)) for text, documents, uris in rows]
