"""Routes for jobs: documents that were submitted together, their progress, and a stream of events about it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request
from pydantic import AwareDatetime

from trueweave.core.errors import TrueweaveError
from trueweave.core.jobs import DocumentState, IngestJob
from trueweave.engine.trueweave import AsyncTrueweave
from trueweave.server.access import Reading, Shared
from trueweave.server.bodies import JobBody
from trueweave.server.fields import Cursor, Limit, Line
from trueweave.server.pages import ListPage, Pager
from trueweave.server.problems import RESPONSES, problem_of, request_id_of
from trueweave.server.streaming import EVENT, MEDIA_TYPE, EventStream, event

router = APIRouter(prefix="/v1/workspaces/{workspace}/jobs", tags=["jobs"], responses=RESPONSES)

_LOOK_AGAIN = 0.5  # seconds
_SHARE = 10  # after each poll, wait this many times as long as it took
_EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Events: `progress` (a job) whenever something changed, and `done` (a job) at the end; "
        "`problem` if it cannot be read.",
        "content": {MEDIA_TYPE: {"schema": EVENT}},
    }
}


@router.get("")
async def list_jobs(
    trueweave: Reading,
    limit: Limit = 50,
    cursor: Cursor = "",
    made_before: Annotated[AwareDatetime | None, Query(description="Only jobs made before this time.")] = None,
    before: Annotated[
        UUID | None,
        Query(description="The id of the last job seen, made at `made_before`."),
    ] = None,
) -> ListPage[JobBody]:
    """Jobs, the latest first."""
    pager: Pager[tuple[datetime, UUID]] = Pager(tuple[datetime, UUID], "jobs", trueweave.workspace.id)
    position = pager.position(cursor) or ((made_before, before) if made_before and before else None)
    found = await trueweave.jobs.latest(limit + 1, before=position)
    page = pager.page(found, limit, lambda one: (one.made, one.id))
    return ListPage(items=[JobBody.of(one) for one in page["items"]], next=page["next"])


@router.get("/{job}")
async def get_job(job: UUID, trueweave: Reading) -> JobBody:
    """The progress of a job."""
    return JobBody.of(await trueweave.jobs.get(job))


@router.get("/{job}/documents", response_model=ListPage[DocumentState])
async def list_job_documents(
    job: UUID,
    trueweave: Reading,
    limit: Limit = 50,
    cursor: Cursor = "",
    after: Annotated[Line, Query(description="Only documents after this URI.")] = "",
) -> Any:
    """The documents of a job, sorted by uri, and the state of each."""
    await trueweave.jobs.get(job)
    pager: Pager[str] = Pager(str, "job documents", trueweave.workspace.id, job)
    found = await trueweave.jobs.documents(job, limit + 1, after=pager.position(cursor) or after)
    return pager.page(found, limit, lambda one: one.uri)


@router.get("/{job}/events", status_code=200, response_class=EventStream, responses=_EVENTS)
async def follow_job(request: Request, job: UUID, trueweave: Reading, shared: Shared) -> EventStream:
    """The progress of a job, sent whenever it changes, until the job is done."""
    found = await trueweave.jobs.get(job)
    return EventStream(_events(trueweave, found, shared.stopping, request_id_of(request)))


async def _events(
    trueweave: AsyncTrueweave, job: IngestJob, stopping: asyncio.Event, request_id: str
) -> AsyncGenerator[bytes, None]:
    told: IngestJob | None = None
    while job.state == "under way" and not stopping.is_set():
        if job != told:
            yield event("progress", JobBody.of(job))
            told = job
        await asyncio.sleep(_LOOK_AGAIN)
        began = time.monotonic()
        try:
            job = await trueweave.jobs.get(job.id)
        except TrueweaveError as error:
            yield event("problem", problem_of(error, request_id))
            return
        await asyncio.sleep((time.monotonic() - began) * _SHARE)
    yield event("progress" if job.state == "under way" else "done", JobBody.of(job))
