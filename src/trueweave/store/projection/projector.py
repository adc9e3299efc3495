"""A projector keeps the copies of all workspaces, or of one, in a store up to date.

Any number of projectors may run, on any machine: a lease ensures that each workspace has one at a time. They need no
dedicated connection, because they read the outbox in short transactions.
"""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from uuid import uuid4

from trueweave.core.errors import StoreError, StoreUnavailable, UnknownWorkspace, WorkspaceMoving
from trueweave.core.events import Listener, Projected, Waiting, ignore
from trueweave.core.protocols import ProjectionTarget
from trueweave.core.supervising import Delays
from trueweave.store.postgres.db import Database, Workspace
from trueweave.store.postgres.failures import DRIVER_ERRORS, describe, lasting, raise_if_cancelled
from trueweave.store.postgres.projection import projections
from trueweave.store.postgres.projection.projecting import ProjectionSource
from trueweave.store.postgres.projection.projections import Lease, Projection
from trueweave.store.projection.copying import REBUILT, Copying

_log = logging.getLogger(__name__)

_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 1.0  # seconds between polls, doubled while nothing changes
_AWAY = 2.0  # seconds before an unavailable store is tried again
_FIRST_HOLD, _LONGEST_HOLD = 2.0, 60.0  # seconds before retrying a workspace that cannot be copied, doubled each time
_CHANGES_EACH = 20  # rounds of changes of one workspace before others get their turn


class Projector:
    """Works for one store, and for all workspaces that have a copy there, or for `only` one."""

    def __init__(
        self,
        database: Database,
        target: ProjectionTarget,
        listener: Listener = ignore,
        *,
        only: Workspace | None = None,
    ) -> None:
        self._database = database
        self._target = target
        self._tell = listener
        self._only = only
        self._owner = uuid4()
        self._after = 0
        self._holds = Delays(_FIRST_HOLD, _LONGEST_HOLD)
        self._held: dict[int | str, float] = {}  # workspaces and copies that failed, and when to retry each

    async def run(self, stop: asyncio.Event) -> None:
        """Work until `stop` is set, then finish what was started. Waits for databases and stores that are
        unavailable."""
        pause = _FIRST_PAUSE
        while not stop.is_set():
            worked = await self._step()
            pause = _FIRST_PAUSE if worked else min(2 * pause, _LONGEST_PAUSE)
            if not worked:
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await stop.wait()

    async def catch_up(self) -> None:
        """Work until everything is copied, by this projector or another. Raises StoreUnavailable if the store is
        unavailable."""
        workspace = self._only
        assert workspace is not None, "it is only known of one workspace when nothing is left"
        while True:
            claimed = await self._claim()
            if claimed:
                await self._work(claimed)
                continue
            state = await _state(workspace, self._target.name)
            if state is None or _is_done(state):
                return
            await asyncio.sleep(_FIRST_PAUSE)

    async def _step(self) -> bool:
        """Work on one workspace that needs it; returns whether there was one."""
        try:
            await self._drop_copies()
            claimed = await self._claim_next()
            if claimed is None:
                return False
            await self._work_patiently(claimed)
        except DRIVER_ERRORS as error:
            raise_if_cancelled(error)
            if problem := lasting(await self._database.cause(error)):
                raise problem from error
            await self._wait(describe(error))
        except StoreUnavailable as error:
            await self._wait(str(error))
        return True

    async def _work_patiently(self, workspace: Workspace) -> None:
        """Bring the copy of a workspace up to date. If that fails for a reason that affects no other workspace, retry
        this one later."""
        try:
            await self._work(workspace)
        except StoreUnavailable:
            raise
        except Exception as error:  # it is reported, and must not block other workspaces
            raise_if_cancelled(error)
            if isinstance(error, DRIVER_ERRORS) and not lasting(await self._database.cause(error)):
                raise
            self._tell(Waiting(f"{self._target.name}: a workspace cannot be copied: {error}"))
            self._hold(workspace.id, f"workspace {workspace.id} cannot be copied", error)
        else:
            self._holds.succeeded(workspace.id)
            self._held.pop(workspace.id, None)

    def _hold(self, what: int | str, problem: str, error: Exception) -> None:
        delay = self._holds.failed(what)
        self._held[what] = time.monotonic() + delay
        about = {"store": self._target.name, "error_type": type(error).__name__, "wait_seconds": delay}
        _log.warning(
            "%s: %s (%s); trying again in %g s",
            self._target.name,
            problem,
            type(error).__name__,
            delay,
            extra={"event": "projector.held", **about},
        )

    def _is_held(self, what: int | str) -> bool:
        return self._held.get(what, 0) > time.monotonic()

    async def _claim_next(self) -> Workspace | None:
        """The next workspace that needs work and is not held back after a failure."""
        skipped: set[int] = set()
        while claimed := await self._claim():
            self._after = claimed.id
            if not self._is_held(claimed.id):
                return claimed
            with suppress(UnknownWorkspace, WorkspaceMoving):
                await Lease(claimed, self._target.name, self._owner).release()
            if claimed.id in skipped:
                return None
            skipped.add(claimed.id)
        return None

    async def _claim(self) -> Workspace | None:
        database = await self._only.placed() if self._only else self._database
        only = self._only.id if self._only else None
        return await projections.claim(database, self._target.name, self._owner, self._after, only)

    async def _wait(self, reason: str) -> None:
        self._tell(Waiting(reason))
        _log.warning("%s; trying again", reason, extra={"event": "projector.retry", "store": self._target.name})
        await asyncio.sleep(_AWAY)

    async def _work(self, workspace: Workspace) -> None:
        """Bring the copy of a workspace up to date. Errors of the store are recorded, for `status` to show."""
        store = self._target.name
        with suppress(UnknownWorkspace):  # it was dropped meanwhile
            async with projections.kept(workspace, store, self._owner) as lease:
                try:
                    await self._bring(workspace, lease)
                except StoreError as error:
                    await _note(workspace, store, str(error))
                    raise
                await _note(workspace, store, "")

    async def _bring(self, workspace: Workspace, lease: Lease) -> None:
        store = self._target.name
        state = await _state(workspace, store)
        if state is None:
            return
        for copy in state.replaced:
            await self._target.drop(copy)
            async with workspace.transaction() as tx:
                await projections.forget_replaced(tx, store, copy)
        if state.live and not state.building:
            try:
                copying = self._copying(workspace, state.live, lease)
                for _ in range(_CHANGES_EACH):
                    if not await copying.follow():
                        break
                return
            except REBUILT as error:
                self._tell(Waiting(f"{store}: {error}; the copy is built anew"))
        async with workspace.transaction() as tx:
            copy = await projections.begin_building(tx, store, uuid4().hex[:16])
        copying = self._copying(workspace, copy, lease)
        await copying.build()
        while await copying.follow():
            pass
        async with workspace.transaction() as tx:
            await projections.switch(tx, store, copy)

    def _copying(self, workspace: Workspace, copy: str, lease: Lease) -> Copying:
        store = self._target.name
        source = ProjectionSource(workspace, projections.consumer(store, copy))
        return Copying(source, self._target, copy, lease.check, lambda n: self._tell(Projected(store, workspace.id, n)))

    async def _drop_copies(self) -> None:
        """Drop copies of dropped workspaces."""
        for copy in await projections.copies_of_dropped(self._database, self._target.name):
            if self._is_held(copy):
                continue
            try:
                await self._target.drop(copy)
            except StoreUnavailable:
                raise
            except StoreError as error:  # it stays on the list
                self._hold(copy, "the copy of a dropped workspace cannot be dropped", error)
                continue
            await projections.forget_dropped(self._database, self._target.name, copy)


def _is_done(state: Projection) -> bool:
    return state.live is not None and not state.building and not state.replaced and not state.behind


async def _state(workspace: Workspace, store: str) -> Projection | None:
    async with workspace.transaction() as tx:
        found = await projections.listed(tx, store)
    return found[0] if found else None


async def _note(workspace: Workspace, store: str, problem: str) -> None:
    async with workspace.transaction() as tx:
        await projections.set_problem(tx, store, problem)


async def remove(workspace: Workspace, target: ProjectionTarget) -> bool:
    """Drop the copies of a workspace in a store, and stop keeping changes for it; returns whether there was a
    projection."""
    state = await _state(workspace, target.name)
    if state is None:
        return False
    for copy in (*state.replaced, state.building, state.live):
        if copy:
            await target.drop(copy)
    async with workspace.transaction() as tx:
        await projections.remove(tx, target.name)
    return True
