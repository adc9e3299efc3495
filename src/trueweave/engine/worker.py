"""Worker and projector processes for all workspaces of a database, or of several servers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from functools import partial

from psycopg import Error

from trueweave.core.errors import TrueweaveError, UnknownWorkspace
from trueweave.core.events import Listener, Waiting, ignore, in_run
from trueweave.core.projections import StoreName
from trueweave.core.settings import Settings
from trueweave.core.supervising import background, running
from trueweave.engine.factory import ModelFactory
from trueweave.engine.scheduling import SourceScheduler
from trueweave.engine.source_runs import SourceRuns
from trueweave.engine.trueweave import AsyncTrueweave
from trueweave.engine.watch_runs import WatchRuns
from trueweave.engine.watch_scheduling import WatchScheduler
from trueweave.ingest.jobs import WorkerDependencies, WorkerSettings
from trueweave.ingest.worker import Worker, run_until
from trueweave.store.others import StoreClients
from trueweave.store.postgres.cluster.moving import settle_copies
from trueweave.store.postgres.cluster.servers import HOME, measure
from trueweave.store.postgres.db import Database, ServerPlacement, Workspace
from trueweave.store.postgres.failures import raise_if_cancelled
from trueweave.store.postgres.queue import queue
from trueweave.store.projection.projector import Projector

_CLEANED_EVERY = 3600.0  # seconds
_SETTLED_EVERY = 30.0
_PAGE = 100


class Serving:
    """All workspaces of a database, served by one process: they share its models and its connection pool. Keys of the
    callers of servers are in the database `home`."""

    def __init__(self, database: Database, settings: Settings, models: ModelFactory, home: Database) -> None:
        self._database = database
        self._home = home
        self._settings = settings
        self._models = models

    @asynccontextmanager
    async def opened(self, workspace: Workspace) -> AsyncIterator[AsyncTrueweave]:
        """A workspace with its own settings. Raises UnknownWorkspace if it was dropped."""
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

    @asynccontextmanager
    async def source_runs(self, workspace: Workspace) -> AsyncIterator[SourceRuns]:
        """The runs over sources of a workspace."""
        async with self.opened(workspace) as trueweave:
            yield trueweave.source_runs

    @asynccontextmanager
    async def watch_runs(self, workspace: Workspace) -> AsyncIterator[WatchRuns]:
        """The runs of the watches of a workspace."""
        async with self.opened(workspace) as trueweave:
            yield trueweave.watch_runs(self._home)

    async def clean_up(self, tell: Listener) -> None:
        """Delete what is no longer needed, workspace by workspace, and queue settling where some is left to do. A
        failure in one workspace does not hold up the others."""
        after = 0
        while page := await self._page(after):
            for workspace in page:
                try:
                    await self._clean_up(workspace)
                except UnknownWorkspace:
                    continue  # dropped meanwhile
                except (TrueweaveError, Error) as error:
                    raise_if_cancelled(error)
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
    """Run jobs of all workspaces, taking turns between them, until `stop` is set, then finish those already begun. If
    the database is the home of several servers, do this on each of them, and finish interrupted moves."""
    stop = stop or asyncio.Event()
    async with ModelFactory(database, settings.lease) as models:

        async def work_in(one: Database) -> None:
            serving = Serving(one, settings, models, database)
            liveness = await models.liveness(one)
            with in_run(listener):
                worker = Worker(
                    one,
                    serving.dependencies,
                    listener,
                    WorkerSettings.of(settings),
                    patient=True,
                    limit=settings.jobs_at_once,
                    liveness=liveness,
                )
                scheduler = SourceScheduler(one, serving.source_runs, listener, liveness)
                watching = WatchScheduler(one, serving.watch_runs, listener, liveness)
                async with (
                    running("cleanup", lambda: _clean_up_every_hour(serving, listener)),
                    scheduler.running(),
                    watching.running(),
                ):
                    await run_until(worker, stop)

        async with AsyncExitStack() as beside:
            if servers := database.servers:
                for name in (HOME, *servers.names):
                    settling = partial(_settle_copies_again_and_again, servers, name, listener)
                    await beside.enter_async_context(running(f"end of moves on {name}", settling))
            await _on_all("worker", database, work_in, listener, stop)


async def project_for_all(
    database: Database,
    settings: Settings,
    store: StoreName,
    listener: Listener = ignore,
    stop: asyncio.Event | None = None,
) -> None:
    """Keep the copies of all workspaces in a store up to date, until `stop` is set."""
    stop = stop or asyncio.Event()
    async with aclosing(StoreClients()) as stores:

        async def project_in(one: Database) -> None:
            await Projector(one, stores.target(settings, store), listener).run(stop)

        await _on_all("projector", database, project_in, listener, stop)


async def _on_all(
    task: str,
    database: Database,
    act: Callable[[Database], Awaitable[None]],
    listener: Listener,
    stop: asyncio.Event,
) -> None:
    """Run `act` on a database until `stop` is set; if it is the home of several servers, on each server. Where it
    fails, it is restarted after a while, and the other servers are not affected."""
    servers = database.servers

    async def on(name: str) -> None:
        try:
            await act(await servers.database(name) if servers and name != HOME else database)
        except (TrueweaveError, Error) as error:
            listener(Waiting(f"server {name}: {error}" if servers else str(error)))
            raise

    names = {HOME: task, **{name: f"{task} on {name}" for name in (servers.names if servers else ())}}
    tasks = [background(title, partial(on, name), stop) for name, title in names.items()]
    try:
        await asyncio.gather(*tasks)
    finally:
        for one in tasks:
            one.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _settle_copies_again_and_again(servers: ServerPlacement, server: str, listener: Listener) -> None:
    while True:
        try:
            await settle_copies(servers, server)
            await measure(servers, server)
        except (TrueweaveError, Error) as error:
            raise_if_cancelled(error)
            listener(Waiting(f"server {server}: what moves have left is looked at again later: {error}"))
        await asyncio.sleep(_SETTLED_EVERY)


async def _clean_up_every_hour(serving: Serving, listener: Listener) -> None:
    while True:
        await serving.clean_up(listener)
        await asyncio.sleep(_CLEANED_EVERY)
