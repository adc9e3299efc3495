"""Submits documents to the workers of a server, and reports their progress."""

from __future__ import annotations

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
    ) -> IngestJob:
        """Hand in files, whole folders and texts for workers, and wait for none of them: they are read, and are part of
        the index once `trueweave worker`, or anybody who adds documents, has worked them.

        What is there unchanged is left alone, unless `refresh` has it worked again where an earlier version of the
        extractor or of its prompts made it. With a `job`, these documents are added to it. `get` tells how far they
        are.
        """
        return await Submission(self._requests, listener, refresh=refresh, job=job).submit(what)

    async def latest(self, limit: int = 50, *, before: tuple[datetime, UUID] | None = None) -> list[IngestJob]:
        """Jobs, the latest first. The next page begins before the last one of this: its `made` and its `id`."""
        made, id_ = before or (None, None)
        params = {"made_before": moment(made), "before": None if id_ is None else str(id_)}
        return await self._requests.listed("/jobs", IngestJob, limit, **params)

    # --- written by `make sync` from engine/jobs.py and the server's routes ---

    async def get(self, id: UUID) -> IngestJob:
        """The documents that were handed in as this job, and how far they are. UnknownJob where there is none."""
        return read(IngestJob, await self._requests.get(f"/jobs/{id}"))

    async def documents(self, job: UUID, limit: int = 50, *, after: str = "") -> list[DocumentState]:
        """The documents of a job by uri, and how far each is. The next page begins after the last uri of this one."""
        return await self._requests.listed(f"/jobs/{job}/documents", DocumentState, limit, after=after or None)

    async def state(self, uri: str) -> DocumentState:
        """How far one document is, however it was added. UnknownDocument where there is none."""
        return read(DocumentState, await self._requests.get("/document/status", uri=uri))
