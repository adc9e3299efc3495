"""Runs over sources: one process at a time runs a source, and records what the run came to."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol, TypeVar

from trueweave.core.errors import (
    DatabaseUnavailable,
    RemovalNotConfirmed,
    SourceBusy,
    TrueweaveError,
    UnknownSource,
    UnknownWorkspace,
    WorkspaceLoading,
)
from trueweave.core.events import Added, CountingListener, Listener
from trueweave.core.sources import DocumentSource, RunOutcome
from trueweave.engine.core import OpenWorkspace
from trueweave.engine.source_permissions import check_allowed
from trueweave.store.postgres.db import Transaction
from trueweave.store.postgres.failures import DRIVER_ERRORS, raise_if_cancelled
from trueweave.store.postgres.record import connector_sources
from trueweave.store.postgres.record.connector_sources import SourceClaim

T = TypeVar("T")

_LOOK_AGAIN = 1.0  # seconds between looks at whether the source is to be removed
_PUT_OFF = (*DRIVER_ERRORS, DatabaseUnavailable, WorkspaceLoading, UnknownWorkspace)  # not the fault of the source
_PUT_OFF_SECONDS = 60.0


class SyncAddress(Protocol):
    """Synchronises an address, and counts what was done."""

    def __call__(
        self, source: DocumentSource, listener: Listener, *, confirmed: bool, queue_only: bool
    ) -> Coroutine[Any, Any, Added]: ...


class SourceRuns:
    """The runs over sources of one workspace."""

    def __init__(self, core: OpenWorkspace, sync_address: SyncAddress) -> None:
        self._core = core
        self._sync_address = sync_address

    async def claim(self, name: str) -> SourceClaim:
        """Claim a source for this process. SourceBusy if another process runs it."""
        owner = (await self._core.liveness()).owner
        async with self._core.workspace.transaction() as tx:
            return await connector_sources.claim(tx, name, owner)

    async def run(self, held: SourceClaim, listener: Listener, *, confirmed: bool, queue_only: bool) -> Added:
        """Synchronise a source that this process has claimed, record the result, and release the claim. With
        `queue_only`, new documents are left to workers."""
        counted = CountingListener(listener, Added())
        try:
            async with self._core.workspace.transaction() as tx:
                source = await connector_sources.get(tx, held.name)
                is_confirmed = confirmed or await connector_sources.is_confirmed(tx, held.name)
                workspace = await tx.value("read.name")
            if source.restricted:
                check_allowed(self._core.settings, workspace, source.address, source.secrets)
            syncing = self._sync_address(source, counted, confirmed=is_confirmed, queue_only=queue_only)
            added = await self._while_current(held, syncing)
        except RemovalNotConfirmed as error:
            fact = f"{error.fact} Check the address; to remove them, run `trueweave sources sync {held.name} --yes`."
            await self._finish(held, "stopped", counted.total, fact)
            raise
        except (SourceBusy, UnknownSource, asyncio.CancelledError):
            await self._release(held)
            raise
        except _PUT_OFF as error:
            raise_if_cancelled(error)
            await self._release(held, _PUT_OFF_SECONDS)
            raise
        except TrueweaveError as error:
            await self._finish(held, "failed", counted.total, str(error))
            raise
        except Exception as error:
            bug = f"unexpected {type(error).__name__}. This is a bug: please report it."
            await self._finish(held, "failed", counted.total, bug)
            raise
        await self._finish(held, "done", added)
        return added

    async def _while_current(self, held: SourceClaim, syncing: Coroutine[Any, Any, Added]) -> Added:
        """Synchronise for as long as the claim is valid and nobody removes the source."""
        work = asyncio.create_task(syncing)
        watch = asyncio.create_task(self._until_lost(held))
        try:
            await asyncio.wait((work, watch), return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return work.result()
            watch.result()
        finally:
            for task in (work, watch):
                task.cancel()
            await asyncio.gather(work, watch, return_exceptions=True)
        raise AssertionError("the watch ends with an error")

    async def _until_lost(self, held: SourceClaim) -> None:
        async def look(tx: Transaction) -> bool:
            return await connector_sources.is_current(tx, held)

        while await self._retried(look):  # noqa: ASYNC110 (it is changed in the database)
            await asyncio.sleep(_LOOK_AGAIN)
        async with self._core.workspace.transaction() as tx:
            source = await connector_sources.get(tx, held.name)
        if source.is_being_removed:
            raise UnknownSource(f"the source {held.name} was removed during the run, which has stopped.")
        raise SourceBusy(f"another process has taken over the run of the source {held.name}.")

    async def _finish(self, held: SourceClaim, outcome: RunOutcome, added: Added, problem: str = "") -> None:
        run = {
            "outcome": outcome,
            "documents": added.new + added.unchanged,
            "new": added.new,
            "removed": added.removed,
            "unreadable": added.unreadable + added.refused,
            "problem": problem,
        }
        await self._retried(lambda tx: connector_sources.finish(tx, held, run))

    async def _release(self, held: SourceClaim, after: float = 0) -> None:
        await self._retried(lambda tx: connector_sources.release(tx, held, after))

    async def _retried(self, act: Callable[[Transaction], Awaitable[T]]) -> T:
        """Run this in a transaction, and wait while the database is unavailable."""

        async def attempt() -> T:
            async with self._core.workspace.transaction() as tx:
                return await act(tx)

        return await self._core.workspace.retry_while_down(attempt)
