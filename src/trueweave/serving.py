"""Working for all workspaces of a database, in one process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

from trueweave.config import Settings
from trueweave.engine import AsyncTrueweave
from trueweave.errors import TrueweaveError, UnknownWorkspace
from trueweave.events import Listener, Waiting, ignore, in_run
from trueweave.factory import ModelFactory
from trueweave.ingest.jobs import WorkerDependencies, WorkerSettings
from trueweave.ingest.worker import Worker, until_stopped
from trueweave.projection.projector import Projector
from trueweave.store.others import StoreClients
from trueweave.store.postgres import queue
from trueweave.store.postgres.db import Database, Workspace
from trueweave.types import StoreName

_CLEANED_EVERY = 3600.0  # seconds
_PAGE = 100


class Serving:
    """All workspaces of a database, as one process works in them: they share its models and its pool of connections."""

    def __init__(self, database: Database, settings: Settings, models: ModelFactory) -> None:
        self._database = database
        self._settings = settings
        self._models = models

    @asynccontextmanager
    async def opened(self, workspace: Workspace) -> AsyncIterator[AsyncTrueweave]:
        """A workspace with its own settings. UnknownWorkspace if it was dropped."""
        async with workspace.transaction() as tx:
            own = await tx.value("read.settings")
        trueweave = AsyncTrueweave(workspace, settings=self._settings, own=own, models=self._models)
        async with aclosing(trueweave):
            yield trueweave

    @asynccontextmanager
    async def dependencies(self, workspace: Workspace) -> AsyncIterator[WorkerDependencies]:
        """What a worker needs for the jobs of a workspace."""
        async with self.opened(workspace) as trueweave:
            yield await trueweave.worker_dependencies()

    async def clean_up(self, tell: Listener) -> None:
        """Take away what nobody needs any longer, workspace by workspace, and have settled what others had to leave.
        What fails in one keeps no other waiting."""
        after = 0
        while page := await self._page(after):
            for workspace in page:
                try:
                    await self._clean_up(workspace)
                except UnknownWorkspace:
                    continue  # it was dropped meanwhile
                except TrueweaveError as error:
                    tell(Waiting(f"cleaning up failed, and is tried again in an hour: {error}"))
            after = page[-1].id

    async def _page(self, after: int) -> list[Workspace]:
        return await self._database.retry_while_down(lambda: queue.workspaces(self._database, after, _PAGE))

    async def _clean_up(self, workspace: Workspace) -> None:
        async with self.opened(workspace) as trueweave:
            await trueweave.maintenance.clean_up()
            async with workspace.transaction() as tx:
                if await tx.value("source.any_left"):
                    await queue.ask_for(tx, "settle")


async def work_for_all(
    database: Database, settings: Settings, listener: Listener = ignore, stop: asyncio.Event | None = None
) -> None:
    """Carry out the jobs of all workspaces, one of each in turn, until `stop` is set; then end what is begun."""
    async with ModelFactory(database, settings.lease) as models:
        serving = Serving(database, settings, models)
        liveness = await models.liveness()
        with in_run(listener):
            worker = Worker(
                database,
                serving.dependencies,
                listener,
                WorkerSettings.of(settings),
                patient=True,
                limit=settings.jobs_at_once,
                liveness=liveness,
            )
            working = asyncio.create_task(worker.run())
            cleaning = asyncio.create_task(_clean_up_every_hour(serving, listener))
        await until_stopped(worker, working, cleaning, stop)


async def project_for_all(
    database: Database,
    settings: Settings,
    store: StoreName,
    listener: Listener = ignore,
    stop: asyncio.Event | None = None,
) -> None:
    """Keep the copies of all workspaces in a store up to date, until `stop` is set."""
    async with aclosing(StoreClients()) as stores:
        await Projector(database, stores.target(settings, store), listener).run(stop or asyncio.Event())


async def _clean_up_every_hour(serving: Serving, listener: Listener) -> None:
    while True:
        await serving.clean_up(listener)
        await asyncio.sleep(_CLEANED_EVERY)
