"""AsyncTrueweave: one workspace of an index, with all its parts wired together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

from trueweave.core.errors import InvalidArgument
from trueweave.core.events import Progress, unseen
from trueweave.core.evidence import Evidence
from trueweave.core.jobs import Status
from trueweave.core.model_calls import ModelRole
from trueweave.core.money import Estimate
from trueweave.core.protocols import (
    ChangeReaders,
    Chunker,
    Embedder,
    Extractor,
    LangChainChatModel,
    LangChainEmbeddings,
    StreamingLLM,
)
from trueweave.core.record import EVERY_GROUP, groups_of
from trueweave.core.settings import Settings
from trueweave.engine.access import AsyncAccessGroup
from trueweave.engine.bench import AsyncBenchGroup
from trueweave.engine.budget import AsyncBudgetGroup
from trueweave.engine.certificates import AsyncCertificatesGroup
from trueweave.engine.communities import AsyncCommunitiesGroup
from trueweave.engine.core import OpenWorkspace, found_workspace
from trueweave.engine.database import bundled, opened_database, owner_addresses
from trueweave.engine.graph import AsyncGraphGroup
from trueweave.engine.history import AsyncHistoryGroup
from trueweave.engine.jobs import AsyncJobsGroup
from trueweave.engine.maintenance import AsyncMaintenanceGroup
from trueweave.engine.memory import MemoryCalls
from trueweave.engine.past import past
from trueweave.engine.projections import AsyncProjectionsGroup
from trueweave.engine.rebuilding import rebuilt
from trueweave.engine.records import AsyncRecordsGroup
from trueweave.engine.restricted import refuse_restricted
from trueweave.engine.rules import AsyncRulesGroup
from trueweave.engine.source_runs import SourceRuns
from trueweave.engine.sources import AsyncSourcesGroup
from trueweave.engine.varying import estimate_varied, varied
from trueweave.engine.vectors import AsyncVectorsGroup
from trueweave.engine.watch_runs import WatchRuns
from trueweave.engine.watches import AsyncWatchesGroup
from trueweave.ingest.jobs import WorkerDependencies
from trueweave.ingest.own import MakeChunker, MakeExtractor
from trueweave.models.from_langchain import is_embeddings
from trueweave.models.prompts import PromptSet
from trueweave.store.postgres.cluster.joining import migrate_servers
from trueweave.store.postgres.cluster.moving import OwnerAddress
from trueweave.store.postgres.cluster.servers import HOME
from trueweave.store.postgres.db import Database, Workspace
from trueweave.store.postgres.public_errors import own_errors, translated
from trueweave.store.postgres.record import storage
from trueweave.store.postgres.sight import Sight
from trueweave.store.postgres.view.seen import lookups

if TYPE_CHECKING:
    from trueweave.engine.factory import ModelFactory


@own_errors
@refuse_restricted(
    but=(
        "status",
        "aclose",
        "model_and_prompts",
    )
)
class AsyncTrueweave(MemoryCalls):
    """One workspace, opened with `AsyncTrueweave.open`. Many processes may work in it at the same time.

    The remaining calls are grouped under `graph`, `communities`, `rules`, `access`, `history`, `bench`, `sources`,
    `watches`, `jobs`, `budget`, `projections`, `certificates`, `records`, `vectors` and `maintenance`.
    """

    graph: AsyncGraphGroup
    communities: AsyncCommunitiesGroup
    rules: AsyncRulesGroup
    access: AsyncAccessGroup
    history: AsyncHistoryGroup
    bench: AsyncBenchGroup
    sources: AsyncSourcesGroup
    watches: AsyncWatchesGroup
    jobs: AsyncJobsGroup
    budget: AsyncBudgetGroup
    projections: AsyncProjectionsGroup
    certificates: AsyncCertificatesGroup
    records: AsyncRecordsGroup
    vectors: AsyncVectorsGroup
    maintenance: AsyncMaintenanceGroup

    def __init__(
        self,
        workspace: Workspace,
        embedder: Embedder | LangChainEmbeddings | None = None,
        settings: Settings | None = None,
        llm: StreamingLLM | LangChainChatModel | None = None,
        *,
        own: Mapping[str, Any] | None = None,
        models: ModelFactory | None = None,
        readers: ChangeReaders | None = None,
        extractor: Extractor | MakeExtractor | None = None,
        chunker: Chunker | MakeChunker | None = None,
    ) -> None:
        self._enter(OpenWorkspace(workspace, embedder, settings, llm, own, models, readers, extractor, chunker))

    def _enter(self, core: OpenWorkspace) -> None:
        self._core = core
        self.graph = AsyncGraphGroup(core)
        self.communities = AsyncCommunitiesGroup(core)
        self.rules = AsyncRulesGroup(core)
        self.access = AsyncAccessGroup(core)
        self.history = AsyncHistoryGroup(core)
        self.bench = AsyncBenchGroup(core)
        self._source_runs = SourceRuns(core, self._sync_source)
        self.sources = AsyncSourcesGroup(core, self._source_runs, self.remove)
        self._watch_runs = self.watch_runs(core.workspace.database)
        self.watches = AsyncWatchesGroup(core, self._watch_runs)
        self.jobs = AsyncJobsGroup(core)
        self.budget = AsyncBudgetGroup(core)
        self.projections = AsyncProjectionsGroup(core)
        self.certificates = AsyncCertificatesGroup(core)
        self.records = AsyncRecordsGroup(core, self.retrieve, self._retrieve_as_of)
        self.vectors = AsyncVectorsGroup(core)
        self.maintenance = AsyncMaintenanceGroup(core)

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        url: str | None = None,
        workspace: str | None = None,
        embedder: Embedder | LangChainEmbeddings | None = None,
        *,
        llm: StreamingLLM | LangChainChatModel | None = None,
        settings: Settings | None = None,
        make: bool | None = None,
        readers: ChangeReaders | None = None,
        extractor: Extractor | MakeExtractor | None = None,
        chunker: Chunker | MakeChunker | None = None,
    ) -> AsyncIterator[Self]:
        """Open the workspace of that name, or the one named in the settings. By default, a workspace named in the
        settings is created if it is missing, while one named here must exist, so that a mistyped name raises
        UnknownWorkspace. `make=True` creates either one; `make=False` creates nothing.

        Anything not passed here comes from the settings; settings not passed here are loaded from trueweave.toml and
        the environment. If there is no `url` in either, the bundled PostgreSQL is used: it is created unless `make` is
        False, started and migrated if necessary, and left running. Any other database must already be migrated; if it
        is not, SchemaMismatch names the command to run.

        A chat model of LangChain as `llm` is used for all roles but vision, and its calls, like those of an embedding
        model of LangChain as `embedder`, are paid from the budget, rate-limited and cached.

        `readers` is called with the PostgreSQL readers and the filter of a question, and returns the readers to answer
        it from. `extractor` and `chunker` replace those of the settings: pass an instance, or a class or function that
        makes one from an IngestContext. Other processes do not have them: a document added with one fails there, with
        an error that says so.
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

    def acting_as(self, groups: Sequence[str]) -> AsyncTrueweave:
        """This workspace as a caller in these groups sees it: documents without readers, and those that one of the
        groups reads. The group `*` reads all documents.

        Everything else about it is as in a workspace that has only these documents, but that passages have no scores,
        and their order may depend on all documents. What cannot be answered like that raises NotForRestricted, such as
        community reports, and everything that writes, unless there are no other documents. It is closed with this one.
        """
        if self.workspace.sight:
            raise InvalidArgument("this index acts as groups already. Call acting_as of the index that was opened.")
        try:
            known = groups_of(groups)
        except ValueError as error:
            raise InvalidArgument(str(error)) from error
        if EVERY_GROUP in known:
            return self
        seen = type(self).__new__(type(self))
        seen._enter(self._core.seen(Sight(known)))  # noqa: SLF001 (its own)
        return seen

    @staticmethod
    async def migrate(url: str | None = None, *, settings: Settings | None = None) -> list[str]:
        """Create Trueweave's schema in a database, or bring it up to date. Returns the names of the migrations applied.

        `url` is the direct address of PostgreSQL, with the user who owns the schema or is to own it. It defaults to
        owner_database_url in the settings, then direct_database_url, then database_url, then the bundled PostgreSQL. If
        another process is migrating the same database, this call waits for it. Without a `url`, all servers in the
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
        embedder: Embedder | LangChainEmbeddings | None = None,
        *,
        llm: StreamingLLM | LangChainChatModel | None = None,
        settings: Settings | None = None,
        make: bool = True,
        models: ModelFactory | None = None,
        readers: ChangeReaders | None = None,
        extractor: Extractor | MakeExtractor | None = None,
        chunker: Chunker | MakeChunker | None = None,
    ) -> Self:
        """The workspace of that name in an open database. A workspace without vectors adopts the embedder's space.

        This takes a single statement. Everything else is opened when first needed, and workspaces given the same
        `models` share clients, models in memory and rate limiters. Call `aclose` when done.
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
        if embedder and not is_embeddings(embedder) and not found.has_space:
            await trueweave._core.take_space(embedder)
        return trueweave

    @asynccontextmanager
    async def rebuilt(self, progress: Progress = unseen) -> AsyncIterator[AsyncTrueweave]:
        """A temporary workspace rebuilt from scratch from the visible documents of this one, with its settings and
        rules. It has no models, and is dropped at the end."""
        with translated():
            await self._core.check_unrestricted("rebuilt")
            async with rebuilt(self._core, progress) as beside:
                yield AsyncTrueweave(beside.workspace, settings=beside.settings)

    @asynccontextmanager
    async def as_of(self, at: datetime, progress: Progress = unseen) -> AsyncIterator[AsyncTrueweave]:
        """The index as it was at this time, with today's settings, rules and rights, for all calls that read. The
        workspace must have kept history since then (`history.keep`).

        It is built from the stored versions of documents, in a temporary workspace that is dropped at the end, so it
        is as exact as today's: with its own weights, communities and order of passages. `progress` is called with the
        number of documents just built in. Nothing is extracted again; passages that are no longer in the index are
        embedded again.
        """
        with translated():
            await self._core.check_unrestricted("as_of")
            async with past(self._core, at, progress) as beside:
                made = AsyncTrueweave.__new__(AsyncTrueweave)
                made._enter(beside)  # noqa: SLF001 (its own)
                yield made

    async def _retrieve_as_of(self, at: datetime, *asked: Any, **how: Any) -> Evidence:
        async with self.as_of(at) as past:
            return await past.retrieve(*asked, **how)

    @property
    def workspace(self) -> Workspace:
        """The workspace in its database."""
        return self._core.workspace

    @property
    def database(self) -> Database:
        """The database that the workspace is in."""
        return self.workspace.database

    async def aclose(self) -> None:
        """Close all streams and everything that was opened for models. The database stays open."""
        await self._core.aclose()

    async def worker_dependencies(self) -> WorkerDependencies:
        """What a worker needs for the jobs of this workspace."""
        return await self._core.worker_dependencies()

    @asynccontextmanager
    async def varied(
        self, changes: Mapping[str, Any], progress: Progress = unseen
    ) -> AsyncIterator[tuple[AsyncTrueweave, int]]:
        """For benchmarks: a temporary workspace with the documents of this one, processed with some settings changed,
        and the bytes that its index takes. This workspace pays for its model calls."""
        with translated():
            await self._core.check_unrestricted("varied")
            async with varied(self._core, changes, progress) as beside:
                made = AsyncTrueweave.__new__(AsyncTrueweave)
                made._enter(beside)  # noqa: SLF001 (its own)
                async with beside.workspace.transaction(snapshot=True, unhurried=True) as tx:
                    size = await storage.index_bytes(tx)
                yield made, size

    async def estimate_varied(self, changes: Mapping[str, Any]) -> Estimate:
        """For benchmarks: what processing all documents again with some settings changed would cost."""
        return await estimate_varied(self._core, changes)

    async def model_and_prompts(self, role: ModelRole) -> tuple[StreamingLLM | None, PromptSet]:
        """What a benchmark needs to ask a model itself: the language model of a role, if there is one, paid from the
        budget of the workspace, and the prompts in effect."""
        return await self._core.chat(role), await self._core.prompts()

    @property
    def source_runs(self) -> SourceRuns:
        """What a worker needs to run the sources of this workspace."""
        return self._source_runs

    def watch_runs(self, home: Database) -> WatchRuns:
        """What a worker needs to ask the watches of this workspace; keys of callers of servers are in `home`."""
        return WatchRuns(self._core, home)

    @property
    def settings(self) -> Settings:
        """The settings in effect here: those of the process, overridden by those of the workspace."""
        return self._core.settings

    async def status(self) -> Status:
        """The size of the workspace, and what still waits to be indexed."""
        async with self._core.workspace.transaction(snapshot=True) as tx:
            return await lookups(tx).status()
