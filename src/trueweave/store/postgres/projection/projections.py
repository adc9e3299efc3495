"""The copies of a workspace in other stores, which of them is live, and which projector works on them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from trueweave.core.errors import StoreError, UnknownWorkspace, WorkspaceMoving
from trueweave.core.projections import ProjectionStatus, StoreName
from trueweave.store.postgres.db import Database, Transaction, Workspace
from trueweave.store.postgres.failures import DRIVER_ERRORS, raise_if_cancelled
from trueweave.store.postgres.queries import QUERIES

SECONDS = 20.0  # after which another projector takes over the work of a dead one


class Projection(NamedTuple):
    """The copies of a workspace in a store: the live one, which answers questions, the one being built, and those still
    to be dropped."""

    store: StoreName
    live: str | None
    building: str | None
    replaced: list[str]
    switched: datetime | None
    problem: str
    owner: UUID | None
    position: int | None
    applied: datetime | None
    behind: int
    oldest: datetime | None

    @property
    def status(self) -> ProjectionStatus:
        """The status shown to users."""
        return ProjectionStatus(
            self.store,
            self.live is not None,
            self.building is not None,
            self.owner is not None,
            self.position or 0,
            self.behind,
            self.oldest,
            self.applied,
            self.switched,
            self.problem,
        )


def consumer(store: str, copy: str) -> str:
    """The name under which a copy is registered as a consumer of the outbox."""
    return f"{store}:{copy}"


async def listed(tx: Transaction, store: str | None = None) -> list[Projection]:
    """The projections of the workspace, or the one into a store."""
    return [Projection(*row) for row in await tx.rows("projection.listed", store=store)]


async def enable(tx: Transaction, store: str) -> None:
    """Request a copy of the workspace in a store; a projector builds it."""
    await tx.run("projection.enable", store=store)


async def begin_building(tx: Transaction, store: str, copy: str) -> str:
    """Start building a copy next to the live one; returns the copy that is already being built, if there is one."""
    await tx.run("projection.begin_building", store=store, copy=copy)
    [found] = await listed(tx, store)
    assert found.building, "it was just set"
    return found.building


async def switch(tx: Transaction, store: str, copy: str) -> None:
    """Make a finished copy the live one, and keep changes for no other."""
    await tx.run("projection.switch", store=store, copy=copy)
    await tx.run("projection.remove_consumers", store=store, keep=consumer(store, copy))


async def forget_replaced(tx: Transaction, store: str, copy: str) -> None:
    """Record that a replaced copy has been dropped."""
    await tx.run("projection.forget_replaced", store=store, copy=copy)


async def copies_of_dropped(database: Database, store: str) -> list[str]:
    """The copies in a store of workspaces that were dropped."""
    async with database.transaction(None) as tx:
        return [copy for (copy,) in await tx.rows("projection.copies_of_dropped", store=store)]


async def forget_dropped(database: Database, store: str, copy: str) -> None:
    """Record that a copy of a dropped workspace has been dropped."""
    async with database.transaction(None) as tx:
        await tx.run("projection.forget_dropped", name=consumer(store, copy))


async def set_problem(tx: Transaction, store: str, problem: str) -> None:
    """Record why a projector cannot continue; empty if it can."""
    await tx.run("projection.set_problem", store=store, problem=problem)


async def remove(tx: Transaction, store: str) -> None:
    """Remove the projection of the workspace into a store. The caller must drop its copies."""
    await tx.run("projection.remove", store=store)
    await tx.run("projection.remove_consumers", store=store, keep="")


async def live(workspace: Workspace, store: str) -> tuple[str | None, int]:
    """The copy that answers questions, and the position of the newest change."""
    rows = await workspace.read(QUERIES["projection.live"].encode(), {"store": store})
    return (rows[0][0], rows[0][1]) if rows else (None, 0)


async def claim(database: Database, store: str, owner: UUID, after: int, only: int | None) -> Workspace | None:
    """Claim a workspace whose copy in a store must be built or updated and that nobody else is working on: the next
    after this id. The claim expires after a while: see `kept`."""
    async with database.transaction(only) as tx:
        found = await tx.value("projection.claim", store=store, owner=owner, seconds=SECONDS, after=after)
    return None if found is None else Workspace(database, found)


class Lease:
    """The right to work on one projection, valid while it is renewed in time."""

    def __init__(self, workspace: Workspace, store: str, owner: UUID) -> None:
        self._workspace = workspace
        self._store = store
        self._owner = owner
        self._until = time.monotonic() + SECONDS

    def check(self) -> None:
        """Raise StoreError if another projector may have taken over by now."""
        if time.monotonic() >= self._until:
            raise StoreError("the lease on this projection has expired, because it was not renewed in time")

    async def renew(self) -> None:
        """Extend the lease by `SECONDS`."""
        sent = time.monotonic()
        async with self._workspace.transaction() as tx:
            if await tx.run("projection.renew", store=self._store, owner=self._owner, seconds=SECONDS):
                self._until = sent + SECONDS

    async def release(self) -> None:
        """Release the lease."""
        async with self._workspace.transaction() as tx:
            await tx.run("projection.release", store=self._store, owner=self._owner)


@asynccontextmanager
async def kept(workspace: Workspace, store: str, owner: UUID) -> AsyncIterator[Lease]:
    """The lease of a claimed projection, renewed in the background and released at the end."""
    lease = Lease(workspace, store, owner)

    async def renew() -> None:
        while True:
            await asyncio.sleep(SECONDS / 4)
            try:
                await lease.renew()
            except UnknownWorkspace:  # it was dropped, and its projection with it
                return
            except (*DRIVER_ERRORS, WorkspaceMoving) as error:  # nobody can take over meanwhile either
                raise_if_cancelled(error)

    renewing = asyncio.create_task(renew())
    try:
        yield lease
    finally:
        renewing.cancel()
        await asyncio.gather(renewing, return_exceptions=True)
        with suppress(*DRIVER_ERRORS, WorkspaceMoving, UnknownWorkspace):  # it expires, or went with the workspace
            await lease.release()
