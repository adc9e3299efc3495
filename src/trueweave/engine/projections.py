"""Copies of the workspace in other stores."""

from __future__ import annotations

import asyncio
from uuid import uuid4

from trueweave.core.errors import ProjectionMissing
from trueweave.core.events import Listener, ignore
from trueweave.core.projections import ProjectionDifference, ProjectionStatus, StoreName
from trueweave.engine.core import OpenWorkspace
from trueweave.engine.restricted import refuse_restricted
from trueweave.store.postgres.locks import refuse_during_load
from trueweave.store.postgres.projection import projections
from trueweave.store.postgres.projection.projecting import ProjectionSource
from trueweave.store.postgres.public_errors import own_errors
from trueweave.store.projection import compare, projector
from trueweave.store.projection.projector import Projector


@own_errors
@refuse_restricted("projections")
class AsyncProjectionsGroup:
    """Copies of a workspace in Neo4j and Chroma: `trueweave.projections`."""

    def __init__(self, core: OpenWorkspace) -> None:
        self._core = core

    async def status(self) -> list[ProjectionStatus]:
        """The stores that have a copy of this workspace, or are to have one, and the progress of each."""
        async with self._core.workspace.transaction() as tx:
            return [one.status for one in await projections.listed(tx)]

    async def start(self, store: StoreName, stop: asyncio.Event | None = None, listener: Listener = ignore) -> None:
        """Enable a copy of this workspace in a store, and keep it up to date until `stop` is set."""
        await self.enable(store)
        await self._projector(store, listener).run(stop or asyncio.Event())

    async def catch_up(self, store: StoreName, listener: Listener = ignore) -> None:
        """Enable a copy of this workspace in a store, and bring it up to date, whichever projector does the work."""
        await self.enable(store)
        await self._projector(store, listener).catch_up()

    async def rebuild(self, store: StoreName, listener: Listener = ignore) -> None:
        """Build a new copy alongside the one that answers questions, and switch to it when it is complete."""
        await self.enable(store)
        async with self._core.workspace.transaction() as tx:
            await projections.begin_building(tx, store, uuid4().hex[:16])
        await self._projector(store, listener).catch_up()

    async def verify(self, store: StoreName, limit: int = 20) -> list[ProjectionDifference]:
        """Compare the whole copy in a store with the record. Returns the first differences. Nothing is changed; the
        workspace should not change while this runs."""
        copy, _ = await projections.live(self._core.workspace, store)
        if copy is None:
            raise ProjectionMissing(f"{store} has no complete copy of this workspace. Run `project start {store}`.")
        source = ProjectionSource(self._core.workspace, projections.consumer(store, copy))
        found: list[ProjectionDifference] = []
        async for one in compare.differences(source, self._core.target(store), copy):
            found.append(one)
            if len(found) == limit:
                break
        return found

    async def remove(self, store: StoreName) -> bool:
        """Drop the copy of this workspace in a store. Returns whether there was one."""
        return await projector.remove(self._core.workspace, self._core.target(store))

    async def enable(self, store: StoreName) -> None:
        """Enable a copy of this workspace in a store; a projector builds it."""
        self._core.target(store)  # raises if the store has no address, before anything is written
        async with self._core.workspace.transaction() as tx:
            await refuse_during_load(tx, "copying it to another store")
            await projections.enable(tx, store)

    def _projector(self, store: StoreName, listener: Listener) -> Projector:
        workspace = self._core.workspace
        return Projector(workspace.database, self._core.target(store), listener, only=workspace)
