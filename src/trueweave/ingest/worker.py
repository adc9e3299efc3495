"""A worker claims jobs of all workspaces, or of one, until it is stopped, or until nothing is left. It needs no
connection to itself:

claims are short transactions on the pool, and the lease of its process shows that it is alive. Jobs of a process
without a lease are claimed by others.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import partial

from psycopg import Error

from trueweave.core.errors import UnknownWorkspace
from trueweave.core.events import Listener, Waiting, ignore
from trueweave.core.supervising import Delays
from trueweave.ingest.jobs import (
    WAITED_FOR,
    Postponed,
    WorkerControls,
    WorkerDependencies,
    WorkerSettings,
    WorkspaceJobs,
)
from trueweave.store.postgres.db import Database, Workspace
from trueweave.store.postgres.failures import DRIVER_ERRORS, describe, lasting, raise_if_cancelled
from trueweave.store.postgres.queue.liveness import Liveness
from trueweave.store.postgres.queue.queue import ClaimedJob, Queue

_log = logging.getLogger(__name__)

_FIRST_PAUSE = 0.02  # seconds between polls of the queue, doubled while it is empty
_GATHER = 0.01  # seconds in which finished jobs are replaced by one claim
_SETTINGS_LAST = 60.0  # seconds after which a worker for all workspaces reads the settings of one again
_OPEN = 1000  # workspaces that a worker keeps open while it has nothing to do in them

Dependencies = Callable[[Workspace], AbstractAsyncContextManager[WorkerDependencies]]


@dataclass
class _Opened:
    """A workspace with jobs of a worker."""

    jobs: WorkspaceJobs
    closing: AsyncExitStack
    since: float
    under_way: int = field(default=0)


class Worker:
    """Works for all workspaces, or `only` for one. With `patient`, it waits for what a person must provide; without, it
    stops with an error. A worker for all workspaces never stops because of one: it delays that workspace.

    `dependencies` opens what jobs of a workspace need. `limit` is the maximum number of concurrent jobs of one
    workspace, over all workers, unless the workspace's settings have one.
    """

    def __init__(
        self,
        database: Database,
        dependencies: Dependencies,
        listener: Listener = ignore,
        pace: WorkerSettings = WorkerSettings(),  # noqa: B008 (immutable)
        *,
        only: Workspace | None = None,
        patient: bool = False,
        limit: int | None = None,
        liveness: Liveness | None = None,
    ) -> None:
        self._database = database
        self._dependencies = dependencies
        self._tell = listener
        self._pace = pace
        self._only = only
        self._patient = patient
        self._limit = limit
        self._liveness = liveness
        self._idle = pace.idle
        self._opened: dict[int, _Opened] = {}
        self._opening: defaultdict[int, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._jobs: dict[asyncio.Task[None], ClaimedJob] = {}
        self._woken = asyncio.Event()
        self._reason: Exception | None = None
        self._stopping = asyncio.Event()
        places = asyncio.Semaphore(pace.documents_at_once)
        self._holds = Delays(pace.try_again_after, pace.hold)
        self._controls = WorkerControls(listener, pace, places, self._stopping, self._woken.set)

    def stop(self) -> None:
        """Finish running jobs, except those that are cheap to repeat, and start no more."""
        self._stopping.set()
        self._woken.set()

    def abandon(self) -> None:
        """Stop immediately: running jobs go back to the queue."""
        self.stop()
        for job in self._jobs:
            job.cancel()

    async def run(self) -> None:
        """Run until `stop`; raises the error that stopped it, if any. If cancelled, it stops like `abandon`."""
        async with AsyncExitStack() as stack:
            liveness = self._liveness
            if liveness is None:
                liveness = await stack.enter_async_context(Liveness(self._database))
            stack.push_async_callback(self._close_all)
            share = self._pace.jobs_at_once if self._only else max(1, self._pace.jobs_at_once // 2)
            queue = Queue(self._database, liveness, self._only, limit=self._limit, share=share)
            try:
                await self._work_until_stopped(queue)
            except asyncio.CancelledError:
                self.abandon()  # or it would wait for jobs that wait for a model
                raise
        if self._reason:
            raise self._reason

    async def _work_until_stopped(self, queue: Queue) -> None:
        while not self._stopping.is_set():
            try:
                await self._work(queue)
            except DRIVER_ERRORS as error:
                raise_if_cancelled(error)
                if problem := lasting(await self._database.cause(error)):
                    raise problem from error
                self._wait_for_database(error)
                await asyncio.sleep(0.5)
        await self._ended()

    async def run_until_done(self, no_more: asyncio.Event) -> None:
        """Run until `no_more` is set and all jobs of its workspace are done, here and in other workers."""
        self._idle = self._pace.look_again
        working = asyncio.create_task(self.run())
        watch = asyncio.create_task(self._watch(no_more))
        try:
            await asyncio.wait((working, watch), return_when=asyncio.FIRST_COMPLETED)
            if watch.done():
                watch.result()  # after a failure the work would never end
            await working
        finally:
            self.abandon()
            for task in (working, watch):
                task.cancel()
            await asyncio.gather(working, watch, return_exceptions=True)

    async def _watch(self, no_more: asyncio.Event) -> None:
        def told(reason: str, waited: float) -> None:
            self._tell(Waiting(reason, waited))

        assert self._only, "the end of the work is only known for one workspace"
        await no_more.wait()
        jobs = (await self._open(self._only.id)).jobs
        while jobs.is_busy or not await self._only.retry_while_down(jobs.is_done, self._pace.patience, told):  # noqa: ASYNC110
            await asyncio.sleep(self._pace.look_again)
        self.stop()

    async def _work(self, queue: Queue) -> None:
        """Claim and run jobs until stopped. Running jobs continue while the database is unavailable."""
        clock = asyncio.get_running_loop()
        await queue.release_unknown(self._jobs.values())
        if self._only:
            await (await self._open(self._only.id)).jobs.prepare()
        pause = _FIRST_PAUSE
        while not self._stopping.is_set():
            self._woken.clear()
            free = self._pace.jobs_at_once - len(self._jobs)
            claimed = await queue.claim(free, clock.time()) if free > 0 else []
            for job in claimed:
                self._begin(queue, job)
            pause = _FIRST_PAUSE if claimed else min(2 * pause, self._idle)
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._woken.wait()
            await asyncio.sleep(_GATHER)

    # --- jobs -----------------------------------------------------------------------------------------

    def _begin(self, queue: Queue, job: ClaimedJob) -> None:
        task = asyncio.create_task(self._carry_out(queue, job))
        self._jobs[task] = job
        task.add_done_callback(self._has_ended)

    def _has_ended(self, task: asyncio.Task[None]) -> None:
        del self._jobs[task]
        self._woken.set()
        if not task.cancelled() and (error := task.exception()):
            _log.warning(
                "the end of a job could not be recorded; another process takes it over when this one ends",
                extra={"event": "job.unrecorded", "error_type": type(error).__name__},
            )

    async def _carry_out(self, queue: Queue, job: ClaimedJob) -> None:
        """Run a job, and record the result: done, or due again later."""
        about: dict[str, object] = {"workspace": job.workspace, "job": job.id, "kind": job.kind}
        _log.debug("job taken: %s", job.kind, extra={"event": "job.taken", **about})
        delay: float | None = None
        began = time.monotonic()
        try:
            opened = await self._open(job.workspace)
            opened.under_way += 1
            try:
                await opened.jobs.carry_out(job.kind, job.payload)
            finally:
                opened.under_way -= 1
        except Postponed as later:
            delay = later.delay
        except UnknownWorkspace as error:  # it was dropped, and its jobs with it
            if self._only:
                delay = self._postponed(job.workspace, error).delay
        except asyncio.CancelledError:  # by `abandon`
            delay = 0.0
        except Exception as error:  # noqa: BLE001 (the workspace cannot be opened; others continue)
            delay = self._postponed(job.workspace, error).delay
        about["seconds"] = round(time.monotonic() - began, 3)
        if delay is None:
            self._holds.succeeded(job.workspace)
            await queue.finish(job)
            _log.info("job finished: %s", job.kind, extra={"event": "job.finished", **about})
        else:
            await queue.release((job, delay))
            _log.info("job postponed: %s", job.kind, extra={"event": "job.postponed", **about, "wait_seconds": delay})

    async def _open(self, id_: int) -> _Opened:
        """A workspace with the dependencies of its jobs. Settings are read again from time to time."""
        now = asyncio.get_running_loop().time()
        async with self._opening[id_]:
            found = self._opened.get(id_)
            if found and not self._only and not found.under_way and now - found.since > _SETTINGS_LAST:
                await self._opened.pop(id_).closing.aclose()
                found = None
            if found is None:
                await self._close_some()
                workspace = self._only or Workspace(self._database, id_)
                async with AsyncExitStack() as stack:
                    needed = await stack.enter_async_context(self._dependencies(workspace))
                    jobs = WorkspaceJobs(workspace, needed, self._controls, partial(self._postponed, id_))
                    found = self._opened[id_] = _Opened(jobs, stack.pop_all(), now)
            return found

    async def _close_some(self) -> None:
        """Close idle workspaces beyond a maximum."""
        idle = [id_ for id_, one in self._opened.items() if not one.under_way]
        for id_ in idle[: max(0, len(idle) - _OPEN)]:
            self._opening.pop(id_, None)
            await self._opened.pop(id_).closing.aclose()

    async def _close_all(self) -> None:
        await self._ended()
        for one in self._opened.values():
            await one.closing.aclose()
        self._opened.clear()

    async def _ended(self) -> None:
        while self._jobs:
            await asyncio.wait(self._jobs)

    # --- what goes wrong ------------------------------------------------------------------------------

    def _wait_for_database(self, error: Error) -> None:
        self._tell(Waiting(describe(error)))
        _log.warning("%s; trying again", describe(error), extra={"event": "database.retry"})

    def _postponed(self, workspace: int, error: Exception) -> Postponed:
        """Put a job of a workspace back into the queue. The worker waits for an unavailable database and, if it is
        patient, for a budget or a model. After any other failure a worker for all workspaces retries the job after a
        delay that grows while jobs of its workspace fail; a worker for one workspace stops and raises the error."""
        reason = str(error)
        later = Postponed(reason, self._pace.try_again_after)
        if isinstance(error, DRIVER_ERRORS):
            problem = lasting(error)
            if problem is None:
                self._wait_for_database(error)
                return later
            error = problem
        if isinstance(error, WAITED_FOR) and self._patient:
            self._tell(Waiting(reason))
            return later
        if self._only is None:
            self._tell(Waiting(reason))
            delay = self._holds.failed(workspace)
            about = {"workspace": workspace, "error_type": type(error).__name__, "wait_seconds": delay}
            said = "a job of workspace %s failed (%s); retrying it in %g s"
            _log.warning(said, workspace, type(error).__name__, delay, extra={"event": "workspace.held", **about})
            return Postponed(reason, delay)
        self._reason = self._reason or error
        self.stop()
        return Postponed(reason)


async def run_until(worker: Worker, stop: asyncio.Event | None) -> None:
    """Run a worker until `stop` is set, then let it finish its jobs. If cancelled, it leaves them to others."""
    working = asyncio.create_task(worker.run())
    stopping = asyncio.create_task((stop or asyncio.Event()).wait())
    try:
        await asyncio.wait((working, stopping), return_when=asyncio.FIRST_COMPLETED)
        worker.stop()
        await working
    finally:
        worker.abandon()
        stopping.cancel()
        await asyncio.gather(working, stopping, return_exceptions=True)


def worker_of(
    workspace: Workspace,
    dependencies: WorkerDependencies,
    listener: Listener = ignore,
    pace: WorkerSettings = WorkerSettings(),  # noqa: B008 (immutable)
    *,
    patient: bool = False,
    liveness: Liveness | None = None,
) -> Worker:
    """A worker for one workspace, with its dependencies."""

    @asynccontextmanager
    async def given(_: Workspace) -> AsyncIterator[WorkerDependencies]:
        yield dependencies

    return Worker(workspace.database, given, listener, pace, only=workspace, patient=patient, liveness=liveness)
