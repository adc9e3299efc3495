"""Submits documents to the workers of a server, and reports their progress."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from uuid import UUID

from trueweave.client.forms import moment, read
from trueweave.client.requests import WorkspaceRequests
from trueweave.client.uploads import Submission
from trueweave.core.events import Listener, ignore
from trueweave.core.jobs import DocumentState, IngestJob
from trueweave.core.record import NamedFile, Source


class AsyncClientJobs:
    """Documents that the workers of a server process: `client.jobs`."""

    def __init__(self, requests: WorkspaceRequests) -> None:
        self._requests = requests

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
        submission = Submission(self._requests, listener, refresh=refresh, job=job, readers=readers, date=date)
        return await submission.submit(what)

    async def latest(self, limit: int = 50, *, before: tuple[datetime, UUID] | None = None) -> list[IngestJob]:
        """Jobs, latest first. For the next page, pass `made` and `id` of the last one as `before`."""
        made, id_ = before or (None, None)
        params = {"made_before": moment(made), "before": None if id_ is None else str(id_)}
        return await self._requests.listed("/jobs", IngestJob, limit, **params)

    # --- written by `make sync` from engine/jobs.py and the server's routes ---

    async def get(self, id: UUID) -> IngestJob:
        """The job with this id, and the progress of its documents. Raises UnknownJob if there is none."""
        return read(IngestJob, await self._requests.get(f"/jobs/{id}"))

    async def documents(self, job: UUID, limit: int = 50, *, after: str = "") -> list[DocumentState]:
        """The documents of a job by uri, and the progress of each. For the next page, pass the last uri as `after`."""
        return await self._requests.listed(f"/jobs/{job}/documents", DocumentState, limit, after=after or None)

    async def state(self, uri: str) -> DocumentState:
        """The progress of one document, however it was added. Raises UnknownDocument if there is none."""
        return read(DocumentState, await self._requests.get("/document/status", uri=uri))
