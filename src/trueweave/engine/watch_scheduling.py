"""Workers ask watches again when the index has changed."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from uuid import UUID, uuid4

from trueweave.core.errors import TrueweaveError, UnknownWorkspace
from trueweave.core.events import Listener, Waiting
from trueweave.core.supervising import running
from trueweave.engine.watch_runs import WatchRuns
from trueweave.store.postgres.db import Database, Workspace
from trueweave.store.postgres.failures import DRIVER_ERRORS, raise_if_cancelled
from trueweave.store.postgres.queue.liveness import Liveness
from trueweave.store.postgres.record import watches
from trueweave.store.postgres.record.watches import PATIENCE, WatchClaim

_log = logging.getLogger(__name__)

LOOK_AGAIN = 5.0  # seconds between looks at the workspaces that have watches
_SHARE = 10  # after each look, wait this many times as long as it took
_AT_ONCE = 4  # workspaces whose watches one worker asks
_PAGE = 100


class WatchScheduler:
    """Asks the watches of all workspaces of a database, or `only` those of one, when their index has changed. Several
    schedulers share the watches by claims in the database."""

    def __init__(
        self,
        database: Database,
        opened: Callable[[Workspace], AbstractAsyncContextManager[WatchRuns]],
        listener: Listener,
        liveness: Liveness,
        only: Workspace | None = None,
    ) -> None:
        self._database = database
        self._opened = opened
        self._tell = listener
        self._liveness = liveness
        self._only = only
        self._places = asyncio.Semaphore(_AT_ONCE)
        self._busy: dict[int, asyncio.Task[None]] = {}
        self._claims: dict[int, UUID] = {}  # under which something may still be claimed, by workspace

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Ask watches during this context. At the end, questions under way are left to other workers."""
        async with running("watches", self._run_for_ever):
            yield

    async def _run_for_ever(self) -> None:
        try:
            while True:
                began = time.monotonic()
                await self._look()
                await asyncio.sleep(max(LOOK_AGAIN, _SHARE * (time.monotonic() - began)))
        finally:
            for task in (*self._busy.values(),):
                task.cancel()
            await asyncio.gather(*self._busy.values(), return_exceptions=True)

    async def _look(self) -> None:
        """Begin with each workspace that has watches, and in which this process is not asking already. Nothing while
        the database is unavailable: the worker beside it reports that."""
        after = 0
        while True:
            try:
                page = [self._only] if self._only else await watches.workspaces(self._database, after, _PAGE)
            except DRIVER_ERRORS as error:
                raise_if_cancelled(error)
                return
            for workspace in page:
                if workspace.id not in self._busy:
                    self._begin(workspace)
            if self._only or not page:
                return
            after = page[-1].id

    def _begin(self, workspace: Workspace) -> None:
        self._busy[workspace.id] = task = asyncio.create_task(self._work_in(workspace))
        task.add_done_callback(partial(self._has_ended, workspace.id))

    def _has_ended(self, workspace: int, task: asyncio.Task[None]) -> None:
        del self._busy[workspace]
        if not task.cancelled() and (error := task.exception()):
            about = {"workspace": workspace, "error_type": type(error).__name__}
            _log.error("a watch failed because of a bug", exc_info=error, extra={"event": "watch.failed", **about})

    async def _work_in(self, workspace: Workspace) -> None:
        try:
            async with self._places:
                held = await self._claim(workspace)
                if held:
                    async with self._opened(workspace) as runs:
                        for one in held:
                            await runs.run(one)
            del self._claims[workspace.id]
        except UnknownWorkspace:
            self._claims.pop(workspace.id, None)  # dropped meanwhile
        except (TrueweaveError, *DRIVER_ERRORS) as error:
            raise_if_cancelled(error)
            self._tell(Waiting(f"watches: {error}"))
            about = {"workspace": workspace.id, "error_type": type(error).__name__}
            _log.warning("watches were not asked: %s", error, extra={"event": "watches.failed", **about})

    async def _claim(self, workspace: Workspace) -> list[WatchClaim]:
        """Claim watches of a workspace, after releasing what a failure may have left claimed."""
        async with workspace.transaction() as tx:
            if left := self._claims.get(workspace.id):
                await watches.release_all(tx, left)
        self._claims[workspace.id] = claim = uuid4()
        async with workspace.transaction() as tx:
            return await watches.claim_due(tx, self._liveness.owner, claim, PATIENCE)
