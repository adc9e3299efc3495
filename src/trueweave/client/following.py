"""Waits for a job of a server, and reports its progress to a listener."""

from __future__ import annotations

import asyncio
import time

from trueweave.client.forms import read
from trueweave.client.requests import WorkspaceRequests
from trueweave.core.events import Indexed, Listener, Waiting, outcome
from trueweave.core.jobs import DocumentState, IngestJob

_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 2.0  # seconds between two polls
_QUIET = 15.0  # seconds without a change after which the listener receives `Waiting`


async def finished(requests: WorkspaceRequests, job: IngestJob, unchanged: int, listener: Listener) -> IngestJob:
    """The job once none of its documents waits any longer. The listener receives how many documents are indexed,
    besides unchanged ones, and `Waiting` while nothing changes because no worker takes them."""
    pause, began, changed = _FIRST_PAUSE, time.monotonic(), time.monotonic()
    settled = unchanged
    while True:
        if job.indexed > settled:
            listener(Indexed(job.indexed - settled))
            settled = job.indexed
        if job.state != "under way":
            return job
        await asyncio.sleep(pause)
        before, job = job, read(IngestJob, await requests.get(f"/jobs/{job.id}"))
        if job != before:
            pause, changed = _FIRST_PAUSE, time.monotonic()
        else:
            pause = min(pause * 1.5, _LONGEST_PAUSE)
        if time.monotonic() - changed >= _QUIET:
            changed = time.monotonic()
            listener(
                Waiting(f"{job.waiting + job.indexing:,} documents wait for a worker of the server", changed - began)
            )


async def tell_of_documents(requests: WorkspaceRequests, job: IngestJob, listener: Listener) -> None:
    """Report the outcome of each document of a job, except unchanged ones."""
    after = ""
    while page := await requests.listed(f"/jobs/{job.id}/documents", DocumentState, 200, after=after or None):
        for one in page:
            if one.state == "failed" or (one.added is not None and one.added >= job.made):
                listener(outcome(one))
        after = page[-1].uri
