"""An open workspace with its settings and models, shared by the engine and its groups."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any

from psycopg.types.json import Jsonb

from trueweave.core.errors import ConfigError, ModelFilesMissing, UnknownWorkspace
from trueweave.core.events import Listener, Progress, in_run, unseen
from trueweave.core.evidence import Filter
from trueweave.core.graph import GraphVectors
from trueweave.core.model_calls import ModelRole
from trueweave.core.protocols import (
    ChangeReaders,
    Chunker,
    Embedder,
    Extractor,
    LangChainChatModel,
    LangChainEmbeddings,
    ProjectionTarget,
    Readers,
    StreamingLLM,
)
from trueweave.core.record import EVERY_GROUP, Resolution
from trueweave.core.settings import Settings, workspace_settings
from trueweave.core.streams import OpenStreams
from trueweave.index.linking import link
from trueweave.index.settle import SettleResult, settle
from trueweave.ingest.jobs import WorkerDependencies, WorkerSettings
from trueweave.ingest.loading import Files
from trueweave.ingest.own import Given, MakeChunker, MakeExtractor
from trueweave.ingest.seen import Seen
from trueweave.ingest.worker import Worker, worker_of
from trueweave.models.from_langchain import LangChainModels, is_chat_model, is_embeddings
from trueweave.models.prompts import BUILT_IN, PromptSet
from trueweave.store.others import StoreClients
from trueweave.store.postgres.db import Database, OpenedWorkspace, Workspace
from trueweave.store.postgres.queue.liveness import Liveness
from trueweave.store.postgres.reading import VectorLayoutCache, open_readers
from trueweave.store.postgres.search.document_filter import compiled
from trueweave.store.postgres.sight import Sight
from trueweave.store.postgres.vectors import vectors
from trueweave.store.postgres.vectors.space import Space

if TYPE_CHECKING:
    from trueweave.engine.factory import ModelFactory
    from trueweave.engine.workspace_models import WorkspaceModels

# `factory`, `workspace_models` and `asking` import the model clients, which take longer to load than everything else.
# They are imported where they are used, so that commands which only read the index start faster.


class OpenWorkspace:
    """One workspace and the models used in it. Everything is opened when first needed."""

    def __init__(
        self,
        workspace: Workspace,
        embedder: Embedder | LangChainEmbeddings | None = None,
        settings: Settings | None = None,
        llm: StreamingLLM | LangChainChatModel | None = None,
        own: Mapping[str, Any] | None = None,
        models: ModelFactory | None = None,
        readers: ChangeReaders | None = None,
        extractor: Extractor | MakeExtractor | None = None,
        chunker: Chunker | MakeChunker | None = None,
        payer: Workspace | None = None,
    ) -> None:
        self._workspace = workspace
        self._payer = payer
        self._langchain = LangChainModels.among(llm, embedder)
        self.llm = None if is_chat_model(llm) else llm
        self.own = dict(own or {})
        self.streams = OpenStreams()
        self.has_space = False  # whether the workspace is known to have an embedding space
        self._of_process = self._langchain.over(settings or Settings.load())
        self.settings = self._of_process.over(self.own)
        self._change_readers = readers
        self._stores = models.stores if models else StoreClients()
        self._stores_are_own = models is None
        self._where = VectorLayoutCache(workspace)
        self._embedder = None if embedder is None or is_embeddings(embedder) else with_roles(embedder)
        self._embedder_is_of_settings = False
        self._extractor = extractor
        self._chunker = chunker
        self._factory = self._given_factory = models
        self._models: WorkspaceModels | None = None
        self._prompts: PromptSet | None = None
        self._closing = AsyncExitStack()
        self._opening = asyncio.Lock()

    @property
    def workspace(self) -> Workspace:
        """The workspace in its database: the new index, once it was noticed that a bulk load has replaced the old
        one."""
        self._follow()
        return self._workspace

    def _follow(self) -> None:
        """Switch to the new index if a bulk load has replaced this one, and discard everything made for the old one."""
        latest = self._workspace.latest
        if latest != self._workspace:
            self._workspace, self._where = latest, VectorLayoutCache(latest)
            self._forget_models()

    def _forget_models(self) -> None:
        """Discard the models, so that they are made anew when next needed. The workspace closes the old ones at the
        end."""
        self._models = None
        if self._embedder_is_of_settings:
            self._embedder = None

    async def aclose(self) -> None:
        """Close all streams and everything that was opened for models. The database stays open."""
        try:
            await self.streams.aclose()
        finally:
            if self._stores_are_own:
                await self._stores.aclose()
            await self._closing.aclose()
            self._models = None
            self._factory = self._given_factory

    async def models(self) -> WorkspaceModels:
        """The models and extractors of this workspace."""
        from trueweave.engine.factory import opened_models
        from trueweave.engine.workspace_models import WorkspaceModels

        async with self._opening:  # concurrent callers share one
            if self._factory is None:
                opening = opened_models(self.workspace.database, self.settings.lease)
                self._factory = await self._closing.enter_async_context(opening)
            self._follow()
            while self._models is None:
                workspace = self.workspace
                embedder = None if self._embedder_is_of_settings else self._embedder
                given = Given(embedder, self._extractor, self._chunker, self._langchain)
                payer = self._payer or workspace
                made = await WorkspaceModels.open(self._factory, payer, self.settings, await self.prompts(), given)
                await self._closing.enter_async_context(aclosing(made))
                if workspace == self.workspace:  # not replaced meanwhile by a bulk load
                    self._models = made
        return self._models

    async def prompts(self) -> PromptSet:
        """The prompts used in this workspace, read when first needed."""
        if self._prompts is None:
            folder = self.settings.prompt_folder
            self._prompts = await asyncio.to_thread(PromptSet.from_folder, folder) if folder else BUILT_IN
        return self._prompts

    async def embedding(self) -> Embedder | None:
        """The embedder for adding documents. A workspace without vectors adopts its space."""
        embedder = await self.embedder()
        if embedder and not self.has_space:
            await self.take_space(embedder)
        return embedder

    async def embedder(self) -> Embedder | None:
        """The embedder, opened when first needed; None if neither the caller nor the settings name one."""
        self._follow()
        while self._embedder is None and (name := self.settings.embedding_model):
            models = await self.models()
            embedder = await models.embedder(name)
            if models is self._models:  # not replaced meanwhile by a bulk load
                self._embedder, self._embedder_is_of_settings = embedder, True
        return self._embedder

    async def _embedding_if_there(self) -> Embedder | None:
        """The embedder for work on documents that are there. A workspace without vectors stays without them as long as
        the files of the model are missing: they are needed to add documents, which says so."""
        try:
            return await self.embedding()
        except ModelFilesMissing:
            if await self._space():
                raise
            return None

    async def _space(self) -> Space | None:
        async def look() -> Space | None:
            async with self.workspace.transaction() as tx:
                return await vectors.space(tx)

        return await self.workspace.retry_while_down(look)

    async def take_space(self, embedder: Embedder) -> None:
        """Give the workspace the space of this embedder, unless it already has one."""
        if await self._space() is None:
            await self.change_space(embedder)
        self.has_space = True

    async def chat(self, role: ModelRole) -> StreamingLLM | None:
        """The language model passed by the caller, or the one set for this role."""
        if self.llm is None and self.settings.model_for(role):
            return (await self.models()).chat_for(role)
        return self.llm

    def files(self, seen: Seen) -> Files:
        """The reader of files, which also gives them their uris. It notes in `seen` which were read to the end."""
        return Files.of(self.settings, whole=seen.whole)

    def open_readers(self, filter: Filter) -> Readers:
        """Readers of the primary with this filter, for lookups that run alongside other statements on the primary."""
        return self._changed(open_readers(self._layouts, filter), filter)

    def open_question(self, filter: Filter) -> Readers:
        """Readers for a question with this filter: those of a standby, if one may answer it. Other stores may be ahead
        of standbys, so when one is used, only the primary is read with it."""
        is_alone = self.settings.graph == self.settings.vectors == "postgresql"
        return self._changed(open_readers(self._layouts, filter, standbys=is_alone), filter)

    @property
    def _layouts(self) -> VectorLayoutCache:
        self._follow()
        return self._where

    def _changed(self, own: Readers, filter: Filter) -> Readers:
        if self.workspace.sight:  # other stores do not know who reads
            return own
        readers = self._stores.readers(self.settings, self.workspace, own)
        return self._change_readers(readers, filter) if self._change_readers else readers

    def target(self, store: str) -> ProjectionTarget:
        """A store besides PostgreSQL that the settings name, in the form a projector uses."""
        return self._stores.target(self.settings, store)

    async def worker(self, dependencies: WorkerDependencies, listener: Listener, *, patient: bool = False) -> Worker:
        """A worker for the jobs of this workspace."""
        how, liveness = WorkerSettings.of(self.settings), await self.liveness()
        return worker_of(self.workspace, dependencies, listener, how, patient=patient, liveness=liveness)

    async def worker_dependencies(self, *, adds: bool = True) -> WorkerDependencies:
        """What a worker needs for the jobs of this workspace; if it does not add documents, a workspace without vectors
        may lack the files of its embedding model."""
        models = await self.models()
        return models.dependencies(await (self.embedding() if adds else self._embedding_if_there()), self.llm)

    async def liveness(self) -> Liveness:
        """The lease that shows other processes that this one is alive."""
        await self.models()
        assert self._factory, "models were made by one"
        return await self._factory.liveness()

    async def work_off(self, listener: Listener) -> None:
        """Run a worker until the queue is empty."""
        no_more = asyncio.Event()
        no_more.set()
        with in_run(listener, is_watched=True):
            worker = await self.worker(await self.worker_dependencies(adds=False), listener)
            working = asyncio.create_task(worker.run_until_done(no_more))
        try:
            await asyncio.wait((working,))
            await working
        finally:
            worker.abandon()
            await asyncio.gather(working, return_exceptions=True)

    async def settle(self) -> int:
        """Bring the view up to date with the record. Returns the number of document versions settled."""
        settled = await settle(self.workspace, await self._embedding_if_there())
        await self.finish_settling(settled)
        return settled.documents

    @property
    def _given_models(self) -> tuple[Embedder | LangChainEmbeddings | None, StreamingLLM | LangChainChatModel | None]:
        """The embedder and the language model that the caller passed in."""
        embedder = None if self._embedder_is_of_settings else self._embedder
        return self._langchain.embeddings or embedder, self._langchain.chat or self.llm

    async def settle_in(self, workspace: Workspace) -> None:
        """Settle what is waiting in another workspace, with the models and settings of this one."""
        embedder, llm = self._given_models
        given = self._extractor, self._chunker
        other = OpenWorkspace(workspace, embedder, self._of_process, llm, self.own, self._factory, None, *given)
        async with aclosing(other):
            await other.settle()

    @asynccontextmanager
    async def with_settings(self, changes: Mapping[str, Any]) -> AsyncIterator[OpenWorkspace]:
        """The same workspace with some of its settings changed, for one use; ConfigError if they cannot be."""
        if not changes:
            yield self
            return
        await self.models()
        own = {**self.own, **workspace_settings(changes)}
        embedder, llm = self._given_models
        given = self._extractor, self._chunker
        other = OpenWorkspace(self.workspace, embedder, self._of_process, llm, own, self._factory, None, *given)
        async with aclosing(other):
            yield other

    @asynccontextmanager
    async def beside(self, workspace: Workspace, changes: Mapping[str, Any]) -> AsyncIterator[OpenWorkspace]:
        """Another workspace with the models and settings of this one, some of them changed. This one pays for its model
        calls and has their replies; ConfigError for settings that cannot be changed."""
        own = {**self.own, **workspace_settings(changes)}
        await self.models()
        embedder, llm = self._given_models
        given = self._extractor, self._chunker
        other = OpenWorkspace(
            workspace, embedder, self._of_process, llm, own, self._factory, None, *given, payer=self.workspace
        )
        async with aclosing(other):
            yield other

    async def check_unrestricted(self, call: str) -> None:
        """Raise NotForRestricted if somebody who may not read all documents makes this call."""

    def under(self, filter: Filter | None) -> OpenWorkspace:
        """This workspace as far as documents pass a filter."""
        return self.seen((self.workspace.sight or Sight((EVERY_GROUP,))).narrowed(compiled(filter))) if filter else self

    def seen(self, sight: Sight) -> OpenWorkspace:
        """This workspace as far as a caller sees it, with the same models. It is closed with this one."""
        seen = _SeenWorkspace(self.workspace.seen(sight), settings=self._of_process, llm=self.llm, own=self.own)
        seen.share(self, self._langchain, self._stores)
        return seen

    async def finish_settling(self, settled: SettleResult) -> None:
        """Run the steps that follow settling: link texts to names, and move large vector tables. If there was a failure
        caused by a bug, raise the first one afterwards."""
        await link(self.workspace)
        await vectors.move_to_own_table(self.workspace, settled.vectors)
        if settled.defect:
            raise settled.defect

    async def change_space(self, embedder: Embedder | LangChainEmbeddings, progress: Progress = unseen) -> None:
        """Embed everything with another model alongside the old vectors, then switch in one step."""
        if is_embeddings(embedder):
            embedder = await (await self.models()).paid_embeddings(embedder)
        graph: GraphVectors = "kept" if self.settings.graph_vectors else "none"
        held_up = await vectors.change_space(self.workspace, with_roles(embedder), progress, graph=graph)
        self._embedder = embedder
        if held_up:
            await self.settle()

    async def change_settings(self, changes: Mapping[str, Any], unset: Collection[str] = ()) -> Settings:
        """Set settings of this workspace for everyone who uses it, and unset others. Returns the settings now in effect
        here. Other processes see the change when they next open the workspace."""
        self.own = await change_settings(self.workspace, changes, unset)
        self.settings = self._of_process.over(self.own)
        self._forget_models()
        return self.settings


class _SeenWorkspace(OpenWorkspace):
    """An open workspace as far as a caller sees it. Models, and what they cost, are those of the whole workspace."""

    _whole: OpenWorkspace

    def share(self, whole: OpenWorkspace, langchain: LangChainModels, stores: StoreClients) -> None:
        """Use what is open for the whole workspace."""
        self._whole, self._langchain, self._stores, self._stores_are_own = whole, langchain, stores, False
        self.settings, self.streams = whole.settings, whole.streams

    async def models(self) -> WorkspaceModels:
        return await self._whole.models()

    async def prompts(self) -> PromptSet:
        return await self._whole.prompts()

    async def embedder(self) -> Embedder | None:
        return await self._whole.embedder()

    async def embedding(self) -> Embedder | None:
        return await self._whole.embedding()

    async def chat(self, role: ModelRole) -> StreamingLLM | None:
        return await self._whole.chat(role)

    async def liveness(self) -> Liveness:
        return await self._whole.liveness()

    async def check_unrestricted(self, call: str) -> None:
        await self.workspace.check_unrestricted(f"`{call}`")

    async def aclose(self) -> None:
        """Does nothing: it is closed with the whole workspace."""


def with_roles(embedder: Embedder) -> Embedder:
    """Return this embedder; ConfigError if `embed` does not take the role of the texts, as in older versions."""
    try:
        inspect.signature(embedder.embed).bind([], "query")
    except TypeError as error:
        raise ConfigError(
            f"the embedder {embedder.model} cannot tell queries from documents: {type(embedder).__name__}.embed is to "
            'take the texts and their role, "query" or "document". One that makes no difference may ignore the role.'
        ) from error
    return embedder


async def found_workspace(
    database: Database, name: str, *, make: bool = False, resolution: Resolution = "exact"
) -> OpenedWorkspace:
    """The workspace of that name with what is needed to open it. With `make`, it is created if missing."""
    found = await database.open_workspace(name, make=make, resolution=resolution)
    if found is None:
        raise UnknownWorkspace(
            f"there is no workspace {name!r}. Run `trueweave init --workspace {name}` to make it; in Python, open it "
            "with make=True."
        )
    return found


async def change_settings(workspace: Workspace, changes: Mapping[str, Any], unset: Collection[str]) -> dict[str, Any]:
    """Set settings of a workspace and unset others. Returns the settings that the workspace now has.

    The workspace need not be open: a workspace with a setting unknown to this version of Trueweave cannot be opened.
    """
    workspace_settings(changes)
    async with workspace.transaction() as tx:
        own: dict[str, Any] = await tx.value("read.change_settings", changes=Jsonb(dict(changes)), unset=list(unset))
    return own
