"""A worker: takes jobs of one workspace from the queue until it is told to stop, or until nothing is left.

Every job may be carried out twice without harm: what a model replied is kept by its content, a document enters the
record in the transaction that takes its source away, and settling what is settled does nothing. So a worker may be
killed at any moment, and whoever takes its jobs over loses nothing but the calls that were under way.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain

from pgqueuer import Job as QueuedJob
from pgqueuer import QueueManager, RetryRequested
from psycopg import DataError, Error

from trueweave.errors import (
    BadReply,
    BudgetReached,
    ConfigError,
    DatabaseError,
    DatabaseUnavailable,
    ModelRefused,
    ModelUnavailable,
    SpaceMismatch,
    TrueweaveError,
)
from trueweave.events import Extracted, Failed, Listener, Settled, Summarised, Waiting, WorkFailed, unheard
from trueweave.extract.reports import ReportWriter
from trueweave.graph.contribution import Contribution
from trueweave.ingest.linking import link
from trueweave.ingest.recipe import Recipe
from trueweave.ingest.reports import Reporting, write_reports
from trueweave.ingest.settle import ROWS_AT_ONCE, settle
from trueweave.ingest.stages import work
from trueweave.ingest.summaries import Summarise, summarise_some
from trueweave.protocols import Embedder, Extractor
from trueweave.store.postgres import communities, failed_work, record, resolution, sources, summaries, vectors
from trueweave.store.postgres.db import Workspace
from trueweave.store.postgres.failures import DRIVER_ERRORS, describe, lasting
from trueweave.store.postgres.queue import Kind, absorb, enqueue, entrypoint, managed, take_up
from trueweave.store.postgres.sources import Begun, Job
from trueweave.store.postgres.together import Together
from trueweave.types import WorkKind

_log = logging.getLogger(__name__)

_GLANCE = 0.02  # seconds
_STARTS = 25  # a document that was begun this often and never came to an end takes its workers with it
_BROUGHT = (BudgetReached, ModelUnavailable, DatabaseUnavailable)  # a person brings it, perhaps while the worker waits
_MENDED = (ModelRefused, ConfigError, SpaceMismatch, DatabaseError)  # a person mends it, and starts a worker anew


class _Unworkable(Exception):
    """A document that was handed in under other settings than those of this run cannot be worked by them."""


@dataclass(frozen=True)
class Pace:
    """How a worker goes about it. Times are in seconds."""

    documents_at_once: int = 128
    jobs_at_once: int = 24
    tries: int = 3
    gather: float = 1.0
    try_again_after: float = 5.0
    heartbeat: float = 10.0
    look_again: float = 0.1
    idle: float = 5.0
    patience: float = 600.0  # with a database that is away, once all documents are handed in


@dataclass(frozen=True)
class Kit:
    """What a worker works with: extractors by recipe, the embedder of the workspace, a summariser and a writer of
    reports, if any; and the recipe of its own settings. Errors of that stop it, those of others set documents aside;
    without one, all stop it.
    """

    extractor: Callable[[Recipe], Extractor]
    embedder: Embedder | None = None
    summarise: Summarise | None = None
    writer: ReportWriter | None = None
    recipe: Recipe | None = None

    @property
    def reporting(self) -> Reporting:
        """What reports are written with."""
        return Reporting(self.writer, self.embedder)


class Worker:
    """Works for one workspace. With `patient`, it waits for what a person must bring; without, it stops and says so."""

    def __init__(
        self,
        workspace: Workspace,
        kit: Kit,
        listener: Listener = unheard,
        pace: Pace = Pace(),  # noqa: B008 (immutable)
        *,
        patient: bool = False,
    ) -> None:
        self._workspace = workspace
        self._kit = kit
        self._tell = listener
        self._pace = pace
        self._patient = patient
        self._places = asyncio.Semaphore(pace.documents_at_once)
        self._under_way: set[Job] = set()
        self._settling = asyncio.Lock()
        self._settling_large = asyncio.Lock()
        self._settle_waits = False
        self._begin = Together(self._begin_all)
        self._let_go = Together(self._let_go_all)
        self._store = Together(self._store_all, most=64)
        self._acts: dict[Kind, Callable[[QueuedJob], Awaitable[None]]] = {
            "document": self._documents,
            "settle": self._settle,
            "large": self._settle_large,
            "summary": self._summary,
            "report": self._report,
        }
        self._jobs: set[asyncio.Future[None]] = set()
        self._manager: QueueManager | None = None
        self._reason: Exception | None = None
        self._stopping = False

    def stop(self) -> None:
        """Let what is begun come to its end, and begin nothing more."""
        self._stopping = True
        if self._manager:
            self._manager.shutdown.set()

    def abandon(self) -> None:
        """Stop at once: what is begun goes back to the queue, for whoever comes next."""
        self.stop()
        for job in self._jobs:
            job.cancel()

    async def run(self) -> None:
        """Work until `stop`; raises the error that it was stopped by, if it was one."""
        while not self._stopping:
            try:
                await self._work()
            except DRIVER_ERRORS as error:
                if problem := lasting(await self._workspace.database.cause(error)):
                    raise problem from error
                self._wait_for_database(error)
                await asyncio.sleep(0.5)
        if self._reason:
            raise self._reason

    async def run_until_done(self, no_more: asyncio.Event) -> None:
        """Work until `no_more` is set and nothing waits any longer, here or at another worker."""
        working = asyncio.create_task(self.run())
        watch = asyncio.create_task(self._watch(no_more))
        try:
            await asyncio.wait((working, watch), return_when=asyncio.FIRST_COMPLETED)
            if watch.done():
                watch.result()  # one that fails would not see the end of the work
            await working
        finally:
            self.abandon()
            for task in (working, watch):
                task.cancel()
            await asyncio.gather(working, watch, return_exceptions=True)

    async def _watch(self, no_more: asyncio.Event) -> None:
        def told(reason: str, waited: float) -> None:
            self._tell(Waiting(reason, waited))

        await no_more.wait()
        while self._is_busy() or not await self._workspace.insist(self._done, self._pace.patience, told):  # noqa: ASYNC110
            await asyncio.sleep(self._pace.look_again)
        self.stop()

    def _is_busy(self) -> bool:
        return bool(self._under_way) or self._settling.locked() or self._settling_large.locked()

    async def _done(self) -> bool:
        async with self._workspace.transaction() as tx:
            if await tx.value("source.any_left") or (self._kit.summarise and await summaries.any_wanted(tx)):
                return False
            return not await communities.any_wanted(tx, by_model=self._kit.reporting.by_model)

    async def _work(self) -> None:
        """Work on one connection to the queue, until it breaks or is told to stop."""
        async with managed(self._workspace) as (connection, self._manager):
            await take_up(connection, self._workspace.id)
            async with self._workspace.transaction() as tx:
                await tx.run("failed.forget_whole")
            await enqueue(connection, self._workspace.id, "settle", [b""])  # sees to all that others had to leave
            for kind, act in self._acts.items():
                name = entrypoint(kind, self._workspace.id)
                # Batches that share a name would wait for each other, and plan anew: one settler is as fast as many.
                most = 1 if kind in ("settle", "large") else 0
                register = self._manager.entrypoint(
                    name, on_failure="hold", accepts_context=False, concurrency_limit=most
                )
                register(self._safely(kind, act))
            if self._stopping:
                return
            await self._manager.run(
                batch_size=self._pace.jobs_at_once // 2,
                max_concurrent_tasks=self._pace.jobs_at_once,
                dequeue_timeout=timedelta(seconds=self._pace.idle),
                heartbeat_timeout=timedelta(seconds=self._pace.heartbeat),
            )

    # --- jobs -----------------------------------------------------------------------------------------

    async def _documents(self, queued: QueuedJob) -> None:
        """A handful of documents. When one must wait, the job is done again for all; what is done is not done twice."""
        outcomes = await asyncio.gather(
            *(self._document(job) for job in sources.unpacked(queued.payload)), return_exceptions=True
        )
        errors = [outcome for outcome in outcomes if outcome is not None]
        if errors:
            raise max(errors, key=lambda error: not isinstance(error, RetryRequested))

    async def _document(self, job: Job) -> None:
        async with self._places:
            self._check_stopping()
            if job in self._under_way:
                return  # another job is for the same; it is the one that stays in the queue if the document must wait
            self._under_way.add(job)
            try:
                begun = await self._begin(job)
                if begun is None:  # done already; but whoever did it may have gone before it was settled
                    await self._later("settle")
                    return
                await self._bring_in(begun)
            except _Unworkable as error:
                await self._fail(job, str(error), tries=1)
            except (*DRIVER_ERRORS, *_BROUGHT, *_MENDED) as error:  # the document has no part in it
                await self._let_go(job)
                raise self._put_off(error) from error
            except BadReply as error:
                await self._fail(job, str(error), tries=None if error.again else 1)
            except TrueweaveError as error:
                await self._fail(job, str(error))
            except Exception as error:  # noqa: BLE001 (a document must not end a worker, and its error is kept)
                await self._fail(job, f"unexpected {type(error).__name__}: {error}. This is a bug: please report it.")
            finally:
                self._under_way.discard(job)

    async def _bring_in(self, begun: Begun) -> None:
        if begun.starts > _STARTS:
            raise TrueweaveError(
                f"{begun.source.uri}: begun {begun.starts - 1} times, and whoever began it died each time. Make it "
                "smaller, or give the worker more memory, and add it again."
            )
        recipe = Recipe.model_validate_json(begun.recipe)
        try:
            rows = await work(begun.source, begun.id, recipe, self._kit.extractor(recipe))
        except (ConfigError, ModelRefused) as error:
            if self._kit.recipe in (None, recipe):
                raise
            raise _Unworkable(str(error)) from error
        await self._store(rows)
        self._tell(Extracted(begun.source.uri, len(rows.chunks), tuple(rows.document.notes)))

    async def _settle(self, _: QueuedJob) -> None:
        if self._settle_waits:
            return  # that one has not begun to look yet, so it will see all that this one would
        self._settle_waits = True
        async with self._settling:
            await self._gather()
            self._settle_waits = False
            self._check_stopping()
            async with self._workspace.transaction() as tx:
                await absorb(tx.connection, tx.workspace, "settle")
            await self._see_to_rest(is_idle=not await self._settle_all(large=False))

    async def _settle_large(self, _: QueuedJob) -> None:
        """Settle documents that take long, one by one, while others are settled beside them."""
        async with self._settling_large:
            self._check_stopping()
            await self._settle_all(large=True)

    async def _settle_all(self, *, large: bool) -> int:
        """Settle what waits, and find the names in it; how many versions of documents that were."""
        settled = await settle(self._workspace, self._kit.embedder, large=large)
        if settled.defect:
            self._tell(WorkFailed("settle", "", str(settled.defect)))
        try:
            await link(self._workspace)
        except (TrueweaveError, *DRIVER_ERRORS):
            raise
        except Exception as error:  # noqa: BLE001 (it must not keep documents from being settled, and is kept)
            await self._mark("link", error)
        if settled.documents:
            await vectors.shelve(self._workspace, settled.vectors)
            self._tell(Settled(settled.documents))
        return settled.documents

    async def _see_to_rest(self, *, is_idle: bool) -> None:
        """Have done what is left: what another settler is at, who may be gone, and descriptions to be summed up."""
        async with self._workspace.transaction() as tx:
            if is_idle and await tx.value("settle.any_due"):
                await enqueue(tx.connection, tx.workspace, "settle", [b""], self._pace.try_again_after)
            if await tx.value("settle.any_large_due", small=ROWS_AT_ONCE):
                await absorb(tx.connection, tx.workspace, "large")
                await enqueue(tx.connection, tx.workspace, "large", [b""])
            if self._kit.summarise and await summaries.any_wanted(tx):
                await enqueue(tx.connection, tx.workspace, "summary", [b""])
            # Settling alone makes no report stale: what is wanted was left by somebody.
            if is_idle and await communities.any_wanted(tx, by_model=self._kit.reporting.by_model):
                await enqueue(tx.connection, tx.workspace, "report", [b""])

    async def _summary(self, _: QueuedJob) -> None:
        if self._kit.summarise:
            self._check_stopping()
            while done := await summarise_some(self._workspace, self._kit.summarise, self._tell):
                self._tell(Summarised(done))

    async def _report(self, _: QueuedJob) -> None:
        async with aclosing(write_reports(self._workspace, self._kit.reporting, self._tell)) as writing:
            async for written in writing:
                self._tell(written)
                self._check_stopping()

    # --- in batches -----------------------------------------------------------------------------------

    async def _begin_all(self, jobs: Sequence[Job]) -> list[Begun | None]:
        return await sources.begin(self._workspace, jobs)

    async def _let_go_all(self, jobs: Sequence[Job]) -> list[None]:
        await self._workspace.insist(lambda: sources.let_go(self._workspace, jobs))
        return [None] * len(jobs)

    async def _store_all(self, rows: Sequence[Contribution]) -> list[None]:
        try:
            stored = [await record.store(self._workspace, rows)]
        except DataError:
            if len(rows) == 1:
                raise
            stored = [await record.store(self._workspace, [one]) for one in rows]  # find the one
        names = list(chain.from_iterable(each.names for each in stored))
        await resolution.find_alike(self._workspace, names)
        await self._later("settle")
        return [None] * len(rows)

    async def _gather(self) -> None:
        """Let more come together while more is coming: settling many at once costs little more than settling one."""
        for _ in range(int(self._pace.gather / _GLANCE)):
            if not self._under_way:
                break
            await asyncio.sleep(_GLANCE)

    async def _later(self, kind: Kind, payload: bytes = b"", after: float = 0) -> None:
        async with self._workspace.transaction() as tx:
            await enqueue(tx.connection, tx.workspace, kind, [payload], after)

    # --- what goes wrong ------------------------------------------------------------------------------

    def _safely(
        self, kind: Kind, act: Callable[[QueuedJob], Awaitable[None]]
    ) -> Callable[[QueuedJob], Awaitable[None]]:
        """The same, but that the job stays in the queue when it has to wait, as one that is held is waited for in vain.

        When it fails by a bug, that is marked, and the job is gone: others go on, and `status` tells of it.
        """

        async def carry_out(job: QueuedJob) -> None:
            acting = asyncio.ensure_future(act(job))
            self._jobs.add(acting)
            acting.add_done_callback(self._jobs.discard)
            try:
                await acting
            except RetryRequested:
                raise
            except asyncio.CancelledError:  # PgQueuer would take it for done with
                raise RetryRequested(reason="the worker stopped") from None
            except (TrueweaveError, *DRIVER_ERRORS) as error:  # what time does not mend is raised by `run`
                raise self._put_off(error) from error
            except Exception as error:
                if kind == "document":  # its documents would be waited for
                    raise self._put_off(error) from error
                await self._mark("settle" if kind == "large" else kind, error)

        return carry_out

    async def _fail(self, job: Job, error: str, tries: int | None = None) -> None:
        """Keep the error with the document; try it again, unless it has failed often enough."""
        set_aside = await sources.fail(self._workspace, job, error, tries or self._pace.tries)
        if set_aside is None:
            return
        self._tell(Failed(job.uri, error, set_aside))
        if not set_aside:
            await self._later("document", sources.packed([job]), self._pace.try_again_after)

    async def _mark(self, kind: WorkKind, error: Exception) -> None:
        """Keep that all work of a kind failed by a bug, and tell of it."""
        self._tell(WorkFailed(kind, "", await failed_work.mark(self._workspace, kind, error)))

    def _wait_for_database(self, error: Error) -> None:
        self._tell(Waiting(describe(error)))
        _log.warning("%s; trying again", describe(error))

    def _check_stopping(self) -> None:
        if self._stopping:
            raise RetryRequested(reason="the worker stops")

    def _put_off(self, error: Exception) -> RetryRequested:
        """Leave the job in the queue. A database that is away is waited for, and so is a budget or a model, where the
        worker is patient; else it stops in good order, and the job is for when the cause is mended."""
        reason = str(error)
        later = RetryRequested(timedelta(seconds=self._pace.try_again_after), reason)
        if isinstance(error, DRIVER_ERRORS):
            problem = lasting(error)
            if problem is None:
                self._wait_for_database(error)
                return later
            error = problem
        if isinstance(error, _BROUGHT) and self._patient:
            self._tell(Waiting(reason))
            return later
        self._reason = self._reason or error
        self.stop()
        return RetryRequested(reason=reason)
