"""The jobs of a worker for one workspace: documents, settling, summaries and reports.

Every job is idempotent: replies are cached by content, a document enters the record in the transaction that deletes its
source, and settling twice does nothing. So a worker may be killed at any moment, and the process that takes over its
jobs loses only the calls in progress.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Self

from opentelemetry.trace import SpanKind
from psycopg import DataError

from trueweave.core.errors import (
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
from trueweave.core.events import Extracted, Failed, Indexed, Listener, Summarised, WorkFailed
from trueweave.core.jobs import WorkKind
from trueweave.core.protocols import Chunker, Embedder, Extractor
from trueweave.core.record import Source
from trueweave.core.settings import Settings
from trueweave.core.telemetry.spans import Attributes, carried_from, span
from trueweave.graph.contribution import Contribution
from trueweave.index.communities.reports import Reporting, write_reports
from trueweave.index.communities.writer import ReportWriter
from trueweave.index.linking import link
from trueweave.index.settle import DOCUMENTS_AT_ONCE, ROWS_AT_ONCE, settle
from trueweave.ingest.recipe import Recipe
from trueweave.ingest.stages import work
from trueweave.ingest.summaries import Summarise, summarise_some
from trueweave.store.postgres.batcher import Batcher
from trueweave.store.postgres.db import Transaction, Workspace
from trueweave.store.postgres.failures import DRIVER_ERRORS
from trueweave.store.postgres.queue import failed_work, leases
from trueweave.store.postgres.queue.queue import Kind, absorb, ask_for, enqueue, is_asked_for
from trueweave.store.postgres.record import record, resolution, sources
from trueweave.store.postgres.record.sources import Begun, Job
from trueweave.store.postgres.vectors import own_tables, vectors
from trueweave.store.postgres.view import communities, summaries
from trueweave.text.chunking import StructureChunker

_log = logging.getLogger(__name__)

_GLANCE = 0.02  # seconds
_DESCRIBED_AT_ONCE = 4  # documents whose pictures are in memory
_STARTS = 25  # a document that was started this often and never finished kills its workers
WAITED_FOR = (BudgetReached, ModelUnavailable, DatabaseUnavailable)  # may succeed while a worker waits
_OF_THE_SETTINGS = (ModelRefused, ConfigError, SpaceMismatch, DatabaseError)  # a person has to change something


class _Unworkable(Exception):
    """A document that was submitted with other settings cannot be processed with those of this run."""


class Postponed(Exception):
    """The job goes back to the queue, and is due again after `seconds`."""

    def __init__(self, reason: str, delay: float = 0) -> None:
        super().__init__(reason)
        self.delay = delay


@dataclass(frozen=True)
class WorkerSettings:
    """Settings of a worker. Times are in seconds."""

    documents_at_once: int = 128
    jobs_at_once: int = 24
    tries: int = 3
    gather: float = 1.0
    try_again_after: float = 5.0
    look_again: float = 0.1
    idle: float = 1.0  # between polls of an empty queue
    hold: float = 60.0  # maximum delay before a worker for all workspaces retries jobs of a workspace that keep failing

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """The worker settings from the general settings."""
        return cls(
            jobs_at_once=settings.jobs_of_a_worker, tries=settings.tries, try_again_after=settings.try_again_after
        )

    patience: float = 600.0  # with an unavailable database, once all documents are submitted


def _by_structure(_: Recipe) -> Chunker:
    return StructureChunker()


async def _without_pictures(source: Source) -> Source:
    raise ConfigError(f"{source.uri} has pictures to describe, and this worker has no models. Use another worker.")


@dataclass(frozen=True)
class WorkerDependencies:
    """The dependencies of a worker in a workspace: extractors and chunkers by recipe, the embedder, a summariser and a
    report writer, if any; a describer of pictures; and the recipe of its own settings. Errors with that recipe stop the
    worker, errors with other recipes mark documents as failed; without a recipe, all errors stop it.
    """

    extractor: Callable[[Recipe], Extractor]
    embedder: Embedder | None = None
    summarise: Summarise | None = None
    writer: ReportWriter | None = None
    recipe: Recipe | None = None
    tries: int | None = None
    try_again_after: float | None = None
    chunker: Callable[[Recipe], Chunker] = _by_structure
    describe: Callable[[Source], Awaitable[Source]] = _without_pictures

    @property
    def reporting(self) -> Reporting:
        """The tools for reports."""
        return Reporting(self.writer, self.embedder)


@dataclass(frozen=True)
class WorkerControls:
    """The connection from the jobs of a workspace to their worker."""

    tell: Listener
    pace: WorkerSettings
    places: asyncio.Semaphore  # for documents of all workspaces
    stopping: asyncio.Event
    wake: Callable[[], None]  # there is a new job in the queue


class WorkspaceJobs:
    """The jobs of one workspace, carried out by a worker. `postponed` decides what to do about a failed job."""

    def __init__(
        self,
        workspace: Workspace,
        dependencies: WorkerDependencies,
        controls: WorkerControls,
        postponed: Callable[[Exception], Postponed],
    ) -> None:
        self._workspace = workspace
        self._postponed = postponed
        self._kit = dependencies
        self._controls = controls
        self._tell = controls.tell
        self._pace = controls.pace
        self._under_way: set[Job] = set()
        self._settling = 0
        self._gathered = 0  # documents stored since a settler started to wait for more
        self._describing = asyncio.Semaphore(_DESCRIBED_AT_ONCE)
        self._begin = Batcher(self._begin_all)
        self._let_go = Batcher(self._let_go_all)
        self._store = Batcher(self._store_all, most=64)
        self._acts: dict[Kind, Callable[[bytes], Awaitable[None]]] = {
            "document": self._documents,
            "settle": self._settle,
            "large": self._settle_large,
            "summary": self._summary,
            "report": self._report,
        }

    async def prepare(self) -> None:
        """Queue the work that others had to leave."""
        async with self._workspace.transaction() as tx:
            await tx.run("failed.forget_whole")
            await ask_for(tx, "settle")

    @property
    def is_busy(self) -> bool:
        """Whether documents are being processed or settled here."""
        return bool(self._under_way or self._settling)

    async def is_done(self) -> bool:
        """Whether all work is done, here and in other workers."""
        async with self._workspace.transaction() as tx:
            return not (
                await tx.value("source.any_left")
                or await self._is_due(tx, "summary")
                or await is_asked_for(tx, "report")
            )

    async def carry_out(self, kind: Kind, payload: bytes) -> None:
        """Run a job. Postponed if it has to wait. If it fails because of a bug, it is marked as failed: others
        continue, and `status` shows it."""
        try:
            await self._acts[kind](payload)
        except Postponed:
            raise
        except (TrueweaveError, *DRIVER_ERRORS) as error:
            raise self._postponed(error) from error
        except Exception as error:
            if kind == "document":  # others would wait for its documents
                raise self._postponed(error) from error
            await self._mark("settle" if kind == "large" else kind, error)

    async def _documents(self, payload: bytes) -> None:
        """Process a batch of documents. If one must wait, the job runs again for all; finished documents are not
        repeated."""
        outcomes = await asyncio.gather(
            *(self._document(job) for job in sources.unpacked(payload)), return_exceptions=True
        )
        errors = [outcome for outcome in outcomes if outcome is not None]
        if errors:
            raise max(errors, key=lambda error: not isinstance(error, Postponed))

    async def _document(self, job: Job) -> None:
        async with self._controls.places:
            self._check_stopping()
            if job in self._under_way:
                raise Postponed("another job is for the same document", self._try_again_after)
            self._under_way.add(job)
            try:
                begun = await self._begin(job)
                if begun is None:  # already done; but that worker may have died before settling it
                    await self._ask_for("settle")
                    return
                about: Attributes = {"trueweave.workspace": self._workspace.id, "trueweave.document.uri": job.uri}
                parent = carried_from({"traceparent": begun.trace or ""})
                with span("ingest document", about, kind=SpanKind.CONSUMER, parent=parent):
                    await self._bring_in(begun)
            except _Unworkable as error:
                await self._fail(job, str(error), tries=1)
            except (*DRIVER_ERRORS, *WAITED_FOR, *_OF_THE_SETTINGS) as error:  # not the fault of the document
                await self._let_go(job)
                raise self._postponed(error) from error
            except BadReply as error:
                await self._fail(job, str(error), tries=None if error.again else 1)
            except TrueweaveError as error:
                await self._fail(job, str(error))
            except Exception as error:  # noqa: BLE001 (a document must not stop a worker, and its error is stored)
                await self._fail(job, f"unexpected {type(error).__name__}: {error}. This is a bug: please report it.")
            finally:
                self._under_way.discard(job)

    async def _bring_in(self, begun: Begun) -> None:
        if begun.starts > _STARTS:
            raise TrueweaveError(
                f"{begun.source.uri}: started {begun.starts - 1} times, and the worker died each time. Split the "
                "document, or give the worker more memory, and add it again."
            )
        recipe = Recipe.model_validate_json(begun.recipe)
        source = await self._described(begun) if begun.has_pictures else begun.source
        try:
            extractor, chunker = self._kit.extractor(recipe), self._kit.chunker(recipe)
            rows = await work(source, begun.id, recipe, extractor, chunker)
        except (ConfigError, ModelRefused) as error:
            if self._kit.recipe in (None, recipe):
                raise
            raise _Unworkable(str(error)) from error
        with span("store"):
            await self._store(rows)
        self._tell(Extracted(begun.source.uri, len(rows.chunks), tuple(rows.document.notes)))

    async def _described(self, begun: Begun) -> Source:
        """The document with descriptions of its pictures. A refusal fails the document and not the worker: another
        picture may be accepted."""
        async with self._describing:
            pictures = await sources.pictures(self._workspace, Job(begun.source.uri, begun.id))
            try:
                return await self._kit.describe(replace(begun.source, pictures=pictures))
            except (ConfigError, ModelRefused) as error:
                raise _Unworkable(f"its pictures cannot be described: {error}") from error

    async def _settle(self, _: bytes) -> None:
        self._settling += 1
        try:
            await self._gather()
            self._check_stopping()
            async with self._workspace.transaction() as tx:
                await absorb(tx, "settle")  # this run covers those jobs
            await self._settle_all(large=False)
            await self._ask_again("settle", "large", "summary")
        finally:
            self._settling -= 1

    async def _settle_large(self, _: bytes) -> None:
        """Settle large documents one by one, while others are settled concurrently."""
        self._settling += 1
        try:
            self._check_stopping()
            await self._settle_all(large=True)
            await self._ask_again("large")
        finally:
            self._settling -= 1

    async def _settle_all(self, *, large: bool) -> None:
        """Settle the documents that no other settler has leased, and link the names in them. Postponed if the worker is
        stopped first."""
        is_stopping = self._controls.stopping.is_set
        with span("settle", {"trueweave.workspace": self._workspace.id}) as settling:
            settled = await settle(
                self._workspace, self._kit.embedder, large=large, is_stopping=is_stopping, gather=self._gather
            )
            settling.set_attribute("trueweave.documents", settled.documents)
        if settled.defect:
            self._tell(WorkFailed("settle", "", str(settled.defect)))
        try:
            try:
                await link(self._workspace, is_stopping=is_stopping)
            except (TrueweaveError, *DRIVER_ERRORS):
                raise
            except Exception as error:  # noqa: BLE001 (it must not block settling, and is stored)
                await self._mark("link", error)
            self._check_stopping()
            await self._unless_stopped(vectors.move_to_own_table(self._workspace, settled.vectors))
        finally:
            if settled.documents:
                self._tell(Indexed(settled.documents))

    async def _unless_stopped(self, work: Coroutine[Any, Any, None]) -> None:
        """Run long work that makes no model calls and can be repeated. Postponed if the worker is stopped meanwhile."""
        working = asyncio.create_task(work)
        stopping = asyncio.create_task(self._controls.stopping.wait())
        try:
            await asyncio.wait((working, stopping), return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
            working.cancel()
            await asyncio.wait((working, stopping))
        if working.cancelled():
            raise Postponed("the worker stops")
        working.result()

    async def _ask_again(self, kind: Kind, *others: Kind) -> None:
        """Queue a job for each of these kinds that still has work. Remaining work of `kind` is leased to another
        process, so its job is due when the lease may have expired; jobs of `others` are due now."""
        async with self._workspace.transaction() as tx:
            if await self._is_due(tx, kind):
                await ask_for(tx, kind, min(self._try_again_after, leases.SECONDS))
            for other in others:
                if await self._is_due(tx, other):
                    await ask_for(tx, other)
        self._controls.wake()

    async def _is_due(self, tx: Transaction, kind: Kind) -> bool:
        if kind == "settle":
            return bool(await tx.value("settle.any_due")) or await own_tables.any_unfinished(tx)
        if kind == "large":
            return bool(await tx.value("settle.any_large_due", small=ROWS_AT_ONCE))
        if kind == "summary":
            return self._kit.summarise is not None and await summaries.any_due(tx)
        return await communities.any_report_due(tx, by_model=self._kit.reporting.by_model)

    async def _summary(self, _: bytes) -> None:
        if self._kit.summarise:
            self._check_stopping()
            while done := await summarise_some(self._workspace, self._kit.summarise, self._tell):
                self._tell(Summarised(done))
                self._check_stopping()
            await self._ask_again("summary")

    async def _report(self, _: bytes) -> None:
        async with aclosing(write_reports(self._workspace, self._kit.reporting, self._tell)) as writing:
            async for written in writing:
                self._tell(written)
                self._check_stopping()
        await self._ask_again("report")

    # --- in batches -----------------------------------------------------------------------------------

    async def _begin_all(self, jobs: Sequence[Job]) -> list[Begun | None]:
        return await sources.begin(self._workspace, jobs)

    async def _let_go_all(self, jobs: Sequence[Job]) -> list[None]:
        await self._workspace.retry_while_down(lambda: sources.release(self._workspace, jobs))
        return [None] * len(jobs)

    async def _store_all(self, rows: Sequence[Contribution]) -> list[None]:
        try:
            stored = [await record.store(self._workspace, rows)]
        except DataError:
            if len(rows) == 1:
                raise
            stored = [await record.store(self._workspace, [one]) for one in rows]  # find the one
        self._gathered += len(rows)
        names = list(chain.from_iterable(each.names for each in stored))
        await resolution.find_alike(self._workspace, names)
        await self._ask_for("settle")
        return [None] * len(rows)

    async def _gather(self) -> None:
        """Wait for more documents while they keep coming: settling many together costs little more than settling
        one."""
        self._gathered = 0
        with suppress(TimeoutError):
            async with asyncio.timeout(self._pace.gather):
                while self._under_way and self._gathered < DOCUMENTS_AT_ONCE:  # noqa: ASYNC110 (changed in many places)
                    await asyncio.sleep(_GLANCE)

    async def _ask_for(self, kind: Kind) -> None:
        async with self._workspace.transaction() as tx:
            await ask_for(tx, kind)
        self._controls.wake()

    # --- what goes wrong ------------------------------------------------------------------------------

    @property
    def _try_again_after(self) -> float:
        return self._kit.try_again_after or self._pace.try_again_after

    async def _fail(self, job: Job, error: str, tries: int | None = None) -> None:
        """Store the error with the document; retry it, unless it has failed too often."""
        most = tries or self._kit.tries or self._pace.tries
        has_failed = await sources.fail(self._workspace, job, error, most)
        if has_failed is None:
            return
        self._tell(Failed(job.uri, error, has_failed))
        # Without the error's text, which may quote the document.
        _log.warning(
            "document %s failed%s",
            job.uri,
            "" if has_failed else ", and will be retried",
            extra={"event": "document.failed", "workspace": self._workspace.id, "uri": job.uri, "final": has_failed},
        )
        if not has_failed:
            async with self._workspace.transaction() as tx:
                await enqueue(tx, "document", [sources.packed([job])], self._try_again_after)

    async def _mark(self, kind: WorkKind, error: Exception) -> None:
        """Record that work of a kind failed because of a bug, and report it."""
        self._tell(WorkFailed(kind, "", await failed_work.mark(self._workspace, kind, error)))
        about = {"workspace": self._workspace.id, "kind": kind, "error_type": type(error).__name__}
        _log.error("job failed because of a bug: %s", kind, extra={"event": "job.failed", **about})
        _log.debug("traceback of the failed job", exc_info=error, extra={"event": "job.failed.traceback", **about})

    def _check_stopping(self) -> None:
        if self._controls.stopping.is_set():
            raise Postponed("the worker stops")
