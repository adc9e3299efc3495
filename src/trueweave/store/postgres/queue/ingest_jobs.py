"""Documents that were submitted together, and their progress."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from trueweave.core.jobs import DocumentState, IngestJob, WorkState
from trueweave.store.postgres.binary_params import Texts
from trueweave.store.postgres.db import Transaction

MOST_REASONS = 100  # kept per job


async def make(tx: Transaction, id_: UUID) -> None:
    """Create a job without documents."""
    await tx.run("ingest_job.make", id=id_)


async def note(tx: Transaction, id_: UUID, uris: Sequence[str]) -> None:
    """Add documents to a job."""
    await tx.run("ingest_job.note", id=id_, uris=Texts(uris))


async def refuse(tx: Transaction, id_: UUID, reasons: Sequence[str]) -> None:
    """Record why something could not be used. The first hundred reasons of a job are kept."""
    await tx.run("ingest_job.refuse", id=id_, refused=list(reasons), most=MOST_REASONS)


async def get(tx: Transaction, id_: UUID) -> IngestJob | None:
    """The job with this id."""
    found = await tx.rows("ingest_job.listed", id=id_, made=None, before=None, limit=1)
    return _job(*found[0]) if found else None


async def latest(tx: Transaction, limit: int, before: tuple[datetime, UUID] | None = None) -> list[IngestJob]:
    """Jobs, latest first; with `before`, those made before the job with this creation time and id."""
    made, id_ = before or (None, None)
    return [_job(*row) for row in await tx.rows("ingest_job.listed", id=None, made=made, before=id_, limit=limit)]


async def documents(tx: Transaction, id_: UUID, limit: int, after: str = "") -> list[DocumentState]:
    """The documents of a job and their states, by uri, after this one."""
    uris = [uri for (uri,) in await tx.rows("ingest_job.documents", id=id_, after=after, limit=limit)]
    return await states(tx, uris)


async def states(tx: Transaction, uris: Sequence[str]) -> list[DocumentState]:
    """The states of these documents, in the same order; unknown documents are left out."""
    rows = await tx.rows("ingest_job.states", uris=Texts(uris))
    found = {row[0]: _state(*row) for row in rows}
    return [found[uri] for uri in uris if uri in found]


def _state(
    uri: str, state: WorkState, error: str, chunks: int, notes: list[str], added: datetime | None
) -> DocumentState:
    return DocumentState(uri, state, error, chunks, tuple(notes), added)


def _job(
    id_: UUID,
    made: datetime,
    documents_: int,
    refused: list[str],
    waiting: int,
    indexing: int,
    indexed: int,
    failed: int,
) -> IngestJob:
    return IngestJob(id_, made, documents_, waiting, indexing, indexed, failed, tuple(refused))
