"""Progress of ingestion as the database sees it, whichever process does the work."""

from __future__ import annotations

from datetime import datetime

from trueweave.core.jobs import Activity, Duplicate, IngestProgress, Note, WaitsFor
from trueweave.store.postgres.db import Transaction
from trueweave.store.postgres.queue.outbox import newest


async def ingest_progress(tx: Transaction, since: datetime | None) -> IngestProgress:
    """The progress of ingestion. Indexed documents are counted if added since then; without a time, none are."""
    return IngestProgress(*(await tx.rows("ingest_progress.since", since=since))[0])


async def activity(tx: Transaction, reports: int) -> Activity:
    """The activity of a workspace with this many reports to be written, and what its queue waits for."""
    [(waiting, indexing, failed, descriptions, per_minute, *spent, is_spent, is_running, is_due)] = await tx.rows(
        "ingest_progress.activity"
    )
    price, tokens, price_cap, token_cap = spent
    waits_for: WaitsFor = ""
    if waiting + indexing + descriptions + reports:
        waits_for = "budget" if is_spent else "" if is_running else "worker" if is_due else "retry"
    left = 0.0 if not waiting else waiting * 60 / per_minute if per_minute else None
    return Activity(
        waiting,
        indexing,
        failed,
        descriptions,
        reports,
        per_minute,
        left,
        waits_for,
        price,
        tokens,
        price_cap,
        token_cap,
        await newest(tx),
    )


async def clock(tx: Transaction) -> datetime:
    """The time by the database's clock."""
    now = await tx.value("ingest_progress.now")
    assert isinstance(now, datetime)
    return now


async def duplicates(tx: Transaction, since: datetime) -> list[Duplicate]:
    """Documents added since then whose text is identical to that of an earlier document."""
    return [Duplicate(*row) for row in await tx.rows("ingest_progress.duplicates", since=since)]


async def notes(tx: Transaction, since: datetime, named: int) -> list[Note]:
    """Notes about the documents added since then, each with the uris of the first `named` documents."""
    rows = await tx.rows("ingest_progress.notes", since=since, named=named)
    return [Note(text, documents, tuple(uris)) for text, documents, uris in rows]
