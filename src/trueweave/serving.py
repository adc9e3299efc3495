"""Working for all workspaces of a database, or of several servers, in one process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import aclosing, asynccontextmanager, suppress

from psycopg import Error

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
from trueweave.store.postgres.failures import raise_if_cancelled
from trueweave.store.postgres.moving import settle_copies
from trueweave.store.postgres.servers import HOME, Servers
from trueweave.types import StoreName

_CLEANED_EVERY = 3600.0  # seconds
_SETTLED_EVERY = 30.0
_TRIED_AGAIN_AFTER = 10.0
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
    """Carry out the jobs of all workspaces, one of each in turn, until `stop` is set; then end what is begun. Where the
    database is the home of several servers, this is done on each, and what moves have left is brought to an end."""
    stop = stop or asyncio.Event()
    async with ModelFactory(database, settings.lease) as models:

        async def work_in(one: Database) -> None:
            serving = Serving(one, settings, models)
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
                working = asyncio.create_task(worker.run())
                cleaning = asyncio.create_task(_clean_up_every_hour(serving, listener))
            await until_stopped(worker, working, cleaning, stop)

        async def settle(server: str) -> None:
            assert database.servers, "it is asked for where there are some"
            await _settle_copies_again_and_again(database.servers, server, listener)

        await _on_all(database, work_in, listener, stop, settle)


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

        await _on_all(database, project_in, listener, stop)


async def _on_all(
    database: Database,
    act: Callable[[Database], Coroutine[None, None, None]],
    listener: Listener,
    stop: asyncio.Event,
    beside: Callable[[str], Coroutine[None, None, None]] | None = None,
) -> None:
    """Do this in a database until `stop` is set; where it is the home of several, on each server, and what goes on
    `beside` it. What fails on another server than the home is tried again, and keeps no other from going on."""
    servers = database.servers
    if servers is None:
        await act(database)
        return

    async def on(name: str) -> None:
        while not stop.is_set():
            try:
                await act(await servers.database(name))
            except TrueweaveError as error:
                listener(Waiting(f"server {name}: {error}"))
                with suppress(TimeoutError):
                    async with asyncio.timeout(_TRIED_AGAIN_AFTER):
                        await stop.wait()

    tasks = [asyncio.create_task(act(database)), *(asyncio.create_task(on(name)) for name in servers.names)]
    more = [asyncio.create_task(beside(name)) for name in (HOME, *servers.names)] if beside else []
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in (*tasks, *more):
            task.cancel()
        await asyncio.gather(*tasks, *more, return_exceptions=True)


async def _settle_copies_again_and_again(servers: Servers, server: str, listener: Listener) -> None:
    while True:
        try:
            await settle_copies(servers, server)
            await servers.measure(server)
        except (TrueweaveError, Error) as error:
            raise_if_cancelled(error)
            listener(Waiting(f"server {server}: what moves have left is looked at again later: {error}"))
        await asyncio.sleep(_SETTLED_EVERY)


async def _clean_up_every_hour(serving: Serving, listener: Listener) -> None:
    while True:
        await serving.clean_up(listener)
        await asyncio.sleep(_CLEANED_EVERY)
