"""The schedule of sources: a worker runs those that are due."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from uuid import UUID, uuid4

from trueweave.core.errors import (
    RemovalNotConfirmed,
    SourceBusy,
    TrueweaveError,
    UnknownSource,
    UnknownWorkspace,
    WorkspaceMoving,
)
from trueweave.core.events import Listener, Waiting, ignore
from trueweave.core.supervising import running
from trueweave.engine.source_runs import SourceRuns
from trueweave.store.postgres.db import Database, Workspace
from trueweave.store.postgres.failures import DRIVER_ERRORS, raise_if_cancelled
from trueweave.store.postgres.queue.liveness import Liveness
from trueweave.store.postgres.record import connector_sources
from trueweave.store.postgres.record.connector_sources import SourceClaim

_log = logging.getLogger(__name__)

LOOK_AGAIN = 5.0  # seconds between looks at what is due
_AT_ONCE = 4  # runs of one worker


class SourceScheduler:
    """Runs sources when they are due: those of all workspaces of a database, or `only` those of one. Several schedulers
    share the sources by claims in the database."""

    def __init__(
        self,
        database: Database,
        opened: Callable[[Workspace], AbstractAsyncContextManager[SourceRuns]],
        listener: Listener,
        liveness: Liveness,
        only: Workspace | None = None,
    ) -> None:
        self._database = database
        self._opened = opened
        self._tell = listener
        self._liveness = liveness
        self._only = only
        self._unknown: UUID | None = None  # a claim whose outcome is not known
        self._runs: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run sources during this context. At the end, runs stop and are left to other workers, which resume them."""
        async with running("sources", self._run_for_ever):
            yield

    async def _run_for_ever(self) -> None:
        try:
            while True:
                for workspace, held in await self._claimed():
                    task = asyncio.create_task(self._run(workspace, held))
                    self._runs.add(task)
                    task.add_done_callback(self._runs.discard)
                await asyncio.sleep(LOOK_AGAIN)
        finally:
            for task in (*self._runs,):
                task.cancel()
            await asyncio.gather(*self._runs, return_exceptions=True)

    async def _claimed(self) -> list[tuple[int, SourceClaim]]:
        """Claim what is due, as far as there is room. Nothing while the database is unavailable."""
        free = _AT_ONCE - len(self._runs)
        if free <= 0:
            return []
        try:
            if self._unknown:
                await connector_sources.release_unknown(self._database, self._only, self._unknown)
            self._unknown = claim = uuid4()
            found = await connector_sources.claim_due(self._database, self._only, self._liveness.owner, claim, free)
        except (*DRIVER_ERRORS, WorkspaceMoving) as error:  # the worker beside it reports that
            raise_if_cancelled(error)
            return []
        self._unknown = None
        return found

    async def _run(self, workspace: int, held: SourceClaim) -> None:
        about: dict[str, object] = {"workspace": workspace, "source": held.name}
        try:
            async with self._opened(self._only or Workspace(self._database, workspace)) as runs:
                added = await runs.run(held, ignore, confirmed=False, queue_only=True)
        except (SourceBusy, UnknownSource, UnknownWorkspace) as error:
            _log.info("source %s: %s", held.name, error, extra={"event": "source.ended", **about})
        except (TrueweaveError, *DRIVER_ERRORS) as error:
            raise_if_cancelled(error)
            said = error.fact if isinstance(error, RemovalNotConfirmed) else str(error)
            self._tell(Waiting(f"source {held.name}: {said}"))
            about["error_type"] = type(error).__name__
            extra = {"event": "source.failed", **about}
            _log.warning("source %s was not synchronised: %s", held.name, said, extra=extra)
        else:
            counts = {"new": added.new, "removed": added.removed, "unreadable": added.unreadable}
            said = "source %s synchronised: %d new or changed, %d removed"
            _log.info(said, held.name, added.new, added.removed, extra={"event": "source.synced", **about, **counts})
