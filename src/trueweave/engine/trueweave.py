"""AsyncTrueweave: one workspace of an index, with everything wired together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any, Self

from trueweave.core.events import Progress, unseen
from trueweave.core.jobs import Status
from trueweave.core.protocols import ChangeReaders, Chunker, Embedder, Extractor, StreamingLLM
from trueweave.core.settings import Settings
from trueweave.engine.budget import AsyncBudgetGroup
from trueweave.engine.communities import AsyncCommunitiesGroup
from trueweave.engine.core import OpenWorkspace, found_workspace
from trueweave.engine.database import bundled, opened_database, owner_addresses
from trueweave.engine.documents import DocumentCalls
from trueweave.engine.graph import AsyncGraphGroup
from trueweave.engine.jobs import AsyncJobsGroup
from trueweave.engine.maintenance import AsyncMaintenanceGroup
from trueweave.engine.projections import AsyncProjectionsGroup
from trueweave.engine.questions import QuestionCalls
from trueweave.engine.rebuilding import rebuilt
from trueweave.engine.rules import AsyncRulesGroup
from trueweave.ingest.jobs import WorkerDependencies
from trueweave.ingest.own import MakeChunker, MakeExtractor
from trueweave.store.postgres.cluster.joining import migrate_servers
from trueweave.store.postgres.cluster.moving import OwnerAddress
from trueweave.store.postgres.cluster.servers import HOME
from trueweave.store.postgres.db import Database, Workspace
from trueweave.store.postgres.public_errors import own_errors, translated
from trueweave.store.postgres.view import read

if TYPE_CHECKING:
    from trueweave.engine.factory import ModelFactory


@own_errors
class AsyncTrueweave(DocumentCalls, QuestionCalls):
    """One workspace. Made by `AsyncTrueweave.open`. Many processes may work in it at the same time.

    `graph`, `communities`, `rules`, `jobs`, `budget`, `projections` and `maintenance` have what is about these.
    """

    graph: AsyncGraphGroup
    communities: AsyncCommunitiesGroup
    rules: AsyncRulesGroup
    jobs: AsyncJobsGroup
    budget: AsyncBudgetGroup
    projections: AsyncProjectionsGroup
    maintenance: AsyncMaintenanceGroup

    def __init__(
        self,
        workspace: Workspace,
        embedder: Embedder | None = None,
        settings: Settings | None = None,
        llm: StreamingLLM | None = None,
        *,
        own: Mapping[str, Any] | None = None,
        models: ModelFactory | None = None,
        readers: ChangeReaders | None = None,
        extractor: Extractor | MakeExtractor | None = None,
        chunker: Chunker | MakeChunker | None = None,
    ) -> None:
        self._core = core = OpenWorkspace(workspace, embedder, settings, llm, own, models, readers, extractor, chunker)
        self.graph = AsyncGraphGroup(core)
        self.communities = AsyncCommunitiesGroup(core)
        self.rules = AsyncRulesGroup(core)
        self.jobs = AsyncJobsGroup(core)
        self.budget = AsyncBudgetGroup(core)
        self.projections = AsyncProjectionsGroup(core)
        self.maintenance = AsyncMaintenanceGroup(core)

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        url: str | None = None,
        workspace: str | None = None,
        embedder: Embedder | None = None,
        *,
        llm: StreamingLLM | None = None,
        settings: Settings | None = None,
        make: bool | None = None,
        readers: ChangeReaders | None = None,
        extractor: Extractor | MakeExtractor | None = None,
        chunker: Chunker | MakeChunker | None = None,
    ) -> AsyncIterator[Self]:
        """The workspace of that name, or of the settings. The one of the settings is made when it is new. One that is
        named here must be there, so that a mistyped name is UnknownWorkspace. `make` says otherwise: True makes either,
        False makes nothing.

        What is not given here is as the settings say, which are those of trueweave.toml and the environment unless
        given too. Without a `url` anywhere it is in the bundled PostgreSQL, which is made unless `make` is False,
        started and migrated if need be, and left running. Any other database must have been migrated: SchemaMismatch
        says what to run.
        `readers` takes PostgreSQL's readers and the filter of a question, and gives those to answer it from.
        `extractor` and `chunker` take the place of those of the settings: as they are, or a class or function that
        makes one from an IngestContext. Other processes do not have them: a document that was added with one fails
        there, with an error that says so.
        """
        settings = settings or Settings.load(database_url=url, workspace=workspace)
        async with opened_database(settings, url, make=make is not False) as database:
            name = workspace or settings.workspace
            trueweave = await cls.enter(
                database,
                name,
                embedder,
                llm=llm,
                settings=settings,
                make=workspace is None if make is None else make,
                readers=readers,
                extractor=extractor,
                chunker=chunker,
            )
            async with aclosing(trueweave):
                yield trueweave

    @staticmethod
    async def migrate(url: str | None = None, *, settings: Settings | None = None) -> list[str]:
        """Make Trueweave's schema in a database, or bring it up to date; the names of the migrations that were applied.

        `url` is the address of PostgreSQL itself with the user who owns the schema, or is to own it. Without it, it is
        that of owner_database_url in the settings, else direct_database_url, else database_url, else the bundled
        PostgreSQL. If another process migrates the same database, it is waited for. Without a `url` all servers of the
        settings are migrated, and new ones are joined.
        """
        settings = settings or Settings.load()
        owner = url or settings.owner_address
        if owner is None:
            owner = await asyncio.to_thread(bundled(settings).start)
        servers = {HOME: OwnerAddress(owner, owner == settings.direct_database_url)}
        if url is None:
            servers |= owner_addresses(settings)
        applied = await migrate_servers(servers)
        return sorted({name for names in applied.values() for name in names})

    @classmethod
    async def enter(
        cls,
        database: Database,
        workspace: str,
        embedder: Embedder | None = None,
        *,
        llm: StreamingLLM | None = None,
        settings: Settings | None = None,
        make: bool = True,
        models: ModelFactory | None = None,
        readers: ChangeReaders | None = None,
        extractor: Extractor | MakeExtractor | None = None,
        chunker: Chunker | MakeChunker | None = None,
    ) -> Self:
        """The workspace of that name in an open database. A workspace without vectors takes the embedder's space.

        This is one statement. Nothing is opened until it is needed, and workspaces that are given the same `models`
        share their clients, models in memory and rate limiters. Call `aclose` at the end.
        """
        settings = settings or Settings.load()
        found = await found_workspace(database, workspace, make=make, resolution=settings.resolution)
        trueweave = cls(
            found.workspace,
            embedder,
            settings,
            llm,
            own=found.settings,
            models=models,
            readers=readers,
            extractor=extractor,
            chunker=chunker,
        )
        trueweave._core.has_space = found.has_space
        if embedder and not found.has_space:
            await trueweave._core.take_space(embedder)
        return trueweave

    @asynccontextmanager
    async def rebuilt(self, progress: Progress = unseen) -> AsyncIterator[AsyncTrueweave]:
        """A temporary workspace built from scratch from the documents that this one shows, with its settings and rules.
        It has no models, and is dropped at the end."""
        with translated():
            async with rebuilt(self._core, progress) as beside:
                yield AsyncTrueweave(beside.workspace, settings=beside.settings)

    @property
    def workspace(self) -> Workspace:
        """The workspace in its database."""
        return self._core.workspace

    @property
    def database(self) -> Database:
        """The database that the workspace is in."""
        return self.workspace.database

    async def aclose(self) -> None:
        """Let go of what was opened to work with models, and end all streams. The database stays open."""
        await self._core.aclose()

    async def worker_dependencies(self) -> WorkerDependencies:
        """What a worker needs for the jobs of this workspace."""
        return await self._core.worker_dependencies()

    @property
    def settings(self) -> Settings:
        """The settings in force here: those of the workspace over those of the process."""
        return self._core.settings

    async def status(self) -> Status:
        """How large the workspace is, and what still waits to be settled."""
        async with self._core.workspace.transaction() as tx:
            return await read.status(tx)
