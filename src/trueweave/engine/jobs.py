"""Documents submitted for workers to process, and their progress."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from uuid import UUID, uuid4

from trueweave.core.access import checked_readers
from trueweave.core.dates import checked_date
from trueweave.core.errors import UnknownDocument, UnknownJob
from trueweave.core.events import Event, Found, Listener, Refused, Unreadable, ignore
from trueweave.core.jobs import DocumentState, IngestJob
from trueweave.core.record import NamedFile, Source
from trueweave.engine.core import OpenWorkspace
from trueweave.engine.restricted import refuse_restricted
from trueweave.ingest.intake import batches, hand_in, incoming
from trueweave.ingest.loading import check_present
from trueweave.ingest.seen import Seen
from trueweave.store.postgres.public_errors import own_errors
from trueweave.store.postgres.queue import ingest_jobs


@own_errors
@refuse_restricted("jobs")
class AsyncJobsGroup:
    """Documents that workers process: `trueweave.jobs`."""

    def __init__(self, core: OpenWorkspace) -> None:
        self._core = core

    async def submit(
        self,
        *what: str | Path | Source | NamedFile,
        listener: Listener = ignore,
        refresh: bool = False,
        job: UUID | None = None,
        readers: Sequence[str] | None = None,
        date: str | None = None,
    ) -> IngestJob:
        """Submit files, whole folders and texts to workers, without waiting for them. The files are read now; the
        documents become part of the index once `trueweave worker`, or any process that adds documents, has processed
        them.

        Unchanged documents are skipped; with `refresh`, they are processed again if an earlier version of the extractor
        or of its prompts made them. With a `job`, these documents are added to it. `get` returns the progress.
        `readers` are the groups that can read them, and `date` is their date, as for `add`.
        """
        check_present(what)
        given, of_date = None if readers is None else checked_readers(readers), checked_date(date)
        id_, reasons = job or uuid4(), list[str]()

        def heard(event: Event) -> None:
            if isinstance(event, Refused | Unreadable) and len(reasons) < ingest_jobs.MOST_REASONS:
                reasons.append(event.reason)
            listener(event)

        workspace, models = self._core.workspace, await self._core.models()
        recipe = models.recipe()
        made, room = models.made(recipe).id if refresh else None, self._core.settings.max_storage_bytes
        if job:
            await self.get(job)
        else:
            async with workspace.transaction() as tx:
                await ingest_jobs.make(tx, id_)
        with Seen() as seen:
            coming = incoming(what, self._core.files(seen), seen, given, of_date)
            async for found in batches(coming, heard):
                handed_in = await hand_in(workspace, found, recipe, heard, made, room)
                async with workspace.transaction() as tx:
                    await ingest_jobs.note(tx, id_, [source.uri for source in found])
                listener(Found(handed_in.new, len(found) - handed_in.new))
        if reasons:
            async with workspace.transaction() as tx:
                await ingest_jobs.refuse(tx, id_, reasons)
        return await self.get(id_)

    async def get(self, id: UUID) -> IngestJob:
        """The job with this id, and the progress of its documents. Raises UnknownJob if there is none."""
        async with self._core.workspace.transaction() as tx:
            found = await ingest_jobs.get(tx, id)
        if found is None:
            raise UnknownJob(
                f"there is no job {id}: it never existed, or was cleaned up.", hint="List the jobs to see all."
            )
        return found

    async def latest(self, limit: int = 50, *, before: tuple[datetime, UUID] | None = None) -> list[IngestJob]:
        """Jobs, latest first. For the next page, pass `made` and `id` of the last one as `before`."""
        async with self._core.workspace.transaction() as tx:
            return await ingest_jobs.latest(tx, limit, before)

    async def documents(self, job: UUID, limit: int = 50, *, after: str = "") -> list[DocumentState]:
        """The documents of a job by uri, and the progress of each. For the next page, pass the last uri as `after`."""
        async with self._core.workspace.transaction() as tx:
            return await ingest_jobs.documents(tx, job, limit, after)

    async def state(self, uri: str) -> DocumentState:
        """The progress of one document, however it was added. Raises UnknownDocument if there is none."""
        async with self._core.workspace.transaction() as tx:
            found = await ingest_jobs.states(tx, [uri])
        if not found:
            raise UnknownDocument(f"there is no document {uri!r}, and none is waiting to be processed.", hint="Add it.")
        return found[0]
