"""A copy of a workspace in another store."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from trueweave.core.protocols import ProjectionTarget
from trueweave.extend import Workspace
from trueweave.store.postgres.projection import projections
from trueweave.store.projection.projector import Projector, remove


@asynccontextmanager
async def copied(workspace: Workspace, target: ProjectionTarget) -> AsyncIterator[Callable[[], Awaitable[str]]]:
    """A workspace copied to a store by a projector; what finds the copy. It is dropped at the end."""
    async with workspace.transaction() as tx:
        await projections.enable(tx, target.name)
    await Projector(workspace.database, target, only=workspace).catch_up()
    live, _ = await projections.live(workspace, target.name)
    assert live

    async def copy() -> str:
        return live

    yield copy
    await remove(workspace, target)
