"""AsyncTrueweave: one workspace of an index, with everything wired together."""

from __future__ import annotations

import asyncio
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar
from uuid import UUID, uuid4

from psycopg.types.json import Jsonb

from trueweave.config import Settings, workspace_settings
from trueweave.errors import (
    ConfigError,
    InvalidDocument,
    ModelRefused,
    SchemaOutdated,
    SpaceMismatch,
    UnknownCommunity,
    UnknownWorkspace,
)
from trueweave.events import Added, Event, Listener, Refused, Removed, Reported, ignore, in_run
from trueweave.evidence import Answer, Comparison, Evidence, Filter, Query
from trueweave.graph.communities import LeidenSettings
from trueweave.graph.contribution import Contribution, contribution
from trueweave.ingest.communities import regroup
from trueweave.ingest.folders import Folder, gone, matching
from trueweave.ingest.intake import count, incoming, take_back, take_in
from trueweave.ingest.jobs import WorkerDependencies, WorkerSettings
from trueweave.ingest.linking import link
from trueweave.ingest.seen import Seen
from trueweave.ingest.settle import SettleResult, settle
from trueweave.ingest.stages import made_by
from trueweave.ingest.verify import compare_with, moment
from trueweave.ingest.worker import Worker, until_stopped, worker_of
from trueweave.protocols import ChangeReaders, Embedder, Readers, StreamingLLM, Vectors, Verifier
from trueweave.query_context import Method
from trueweave.store.embedded import EmbeddedServer, default_directory
from trueweave.store.postgres import (
    communities,
    digest,
    erasing,
    failed_work,
    ingest_progress,
    ledger,
    outbox,
    read,
    record,
    resolution,
    sources,
    suggestions,
    temporary_workspaces,
    vectors,
)
from trueweave.store.postgres.connections import Timeouts
from trueweave.store.postgres.db import Database, Workspace
from trueweave.store.postgres.ingest_progress import IngestProgress
from trueweave.store.postgres.liveness import Liveness
from trueweave.store.postgres.migrate import migrate
from trueweave.store.postgres.public_errors import own_errors, translated
from trueweave.store.postgres.queue import ask_for
from trueweave.store.postgres.reading import VectorLayoutCache, open_readers
from trueweave.store.postgres.vectors import Space
from trueweave.streams import OpenStreams, Stream
from trueweave.text.loading import Files, is_folder
from trueweave.text.names import storable
from trueweave.text.uris import Naming
from trueweave.types import (
    Budget,
    Change,
    Community,
    CommunityChanges,
    CommunityReport,
    Document,
    DocumentInfo,
    Duplicate,
    EmbeddingEstimate,
    Entity,
    Estimate,
    FailedDocument,
    FailedWork,
    Hierarchy,
    Hit,
    Message,
    NameKey,
    Note,
    OutOfDate,
    Relation,
    ReportEstimate,
    ResolutionSettings,
    RetiredCommunity,
    Rule,
    RuleKind,
    Source,
    Spent,
    SpentOn,
    Status,
    Suggestion,
    Swept,
    SyncPlan,
    VectorKind,
    Verdict,
)

if TYPE_CHECKING:
    from trueweave.answering import Answering
    from trueweave.asking import Asking
    from trueweave.factory import ModelFactory, WorkspaceModels

# `trueweave.factory` and `trueweave.asking` bring the clients of models, which take longer to load than all the rest:
# who only looks at the index does not wait for them.

Progress = Callable[[int], None]
Total = TypeVar("Total", Added, Reported)

_DOCUMENTS_AT_ONCE = 256
_SAID_AT_ONCE = 20_000  # mentions and links
_SUGGESTIONS_AT_ONCE = 1000
_LOOKS, _LOOK_AGAIN = 50, 0.2  # seconds between
_SWEPT_EVERY = 3600.0  # seconds, by each worker


def _unseen(_: int) -> None:
    """Progress that nobody looks at."""


def _bundled(settings: Settings) -> EmbeddedServer:
    return EmbeddedServer(settings.data_directory or default_directory())


@asynccontextmanager
async def opened_database(settings: Settings, url: str | None = None) -> AsyncIterator[Database]:
    """The database of these settings, for all workspaces that a process works in. Without a `url` anywhere it is in the
    bundled PostgreSQL, which is started if need be and left running.

    A schema that is missing or outdated is an error, SchemaOutdated. Only in the bundled PostgreSQL, which belongs to
    one user, it is made and migrated here.
    """
    url = url or settings.database_url
    revive = None
    if url is None:
        revive = _bundled(settings).start
        url = await asyncio.to_thread(revive)
    timeouts = Timeouts(settings.statement_timeout, settings.lock_timeout, settings.idle_timeout)
    database = Database(
        url,
        direct_url=settings.direct_database_url,
        timeouts=timeouts,
        revive=revive,
        slow_after=settings.slow_statement_seconds,
    )
    try:
        await database.open()
    except SchemaOutdated:
        if revive is None:
            raise
        await migrate(url)
        await database.open()
    try:
        yield database
    finally:
        await database.close()


@own_errors
class AsyncTrueweave:
    """One workspace. Made by `AsyncTrueweave.open`. Many processes may work in it at the same time."""

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
    ) -> None:
        self.workspace = workspace
        self._change_readers = readers
        self._where = VectorLayoutCache(workspace)
        self._embedder = embedder
        self._embedder_is_of_settings = False
        self._has_space = False  # whether the workspace is known to have an embedding space
        self._llm = llm
        self._of_process = settings or Settings.load()
        self._own = dict(own or {})
        self._settings = self._of_process.over(self._own)
        self._factory = self._given_factory = models
        self._models: WorkspaceModels | None = None
        self._streams = OpenStreams()
        self._closing = AsyncExitStack()
        self._opening = asyncio.Lock()

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
        make: bool = True,
        readers: ChangeReaders | None = None,
    ) -> AsyncIterator[Self]:
        """The workspace of that name, made when it is new unless `make` is False.

        What is not given here is as the settings say, which are those of trueweave.toml and the environment unless
        given too. Without a `url` anywhere it is in the bundled PostgreSQL, which is started and migrated if need be
        and left running. Any other database must have been migrated: SchemaMismatch says what to run.
        `readers` takes PostgreSQL's readers and the filter of a question, and gives those to answer it from.
        """
        settings = settings or Settings.load(database_url=url, workspace=workspace)
        async with opened_database(settings, url) as database:
            name = workspace or settings.workspace
            trueweave = await cls.enter(
                database, name, embedder, llm=llm, settings=settings, make=make, readers=readers
            )
            async with aclosing(trueweave):
                yield trueweave

    @staticmethod
    async def migrate(url: str | None = None, *, settings: Settings | None = None) -> list[str]:
        """Make Trueweave's schema in a database, or bring it up to date; the names of the migrations that were applied.

        `url` is the address of PostgreSQL itself with the user who owns the schema, or is to own it. Without it, it is
        that of owner_database_url in the settings, else direct_database_url, else database_url, else the bundled
        PostgreSQL. If another process migrates the same database, it is waited for.
        """
        settings = settings or Settings.load()
        owner = url or settings.owner_address
        if owner is None:
            owner = await asyncio.to_thread(_bundled(settings).start)
        return await migrate(owner, said_to_be_direct=owner == settings.direct_database_url)

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
    ) -> Self:
        """The workspace of that name in an open database. A workspace without vectors takes the embedder's space.

        This is one statement. Nothing is opened until it is needed, and workspaces that are given the same `models`
        share their clients, models in memory and rate limiters. Call `aclose` at the end.
        """
        settings = settings or Settings.load()
        found = await database.open_workspace(workspace, make=make, resolution=settings.resolution)
        if found is None:
            raise UnknownWorkspace(
                f"there is no workspace {workspace!r}. Run `trueweave init --workspace {workspace}` to make it."
            )
        trueweave = cls(found.workspace, embedder, settings, llm, own=found.settings, models=models, readers=readers)
        trueweave._has_space = found.has_space
        if embedder and not found.has_space:
            await trueweave._take_space(embedder)
        return trueweave

    @property
    def database(self) -> Database:
        """The database that the workspace is in."""
        return self.workspace.database

    async def aclose(self) -> None:
        """Let go of what was opened to work with models, and end all streams. The database stays open."""
        try:
            await self._streams.aclose()
        finally:
            await self._closing.aclose()
            self._models = None
            self._factory = self._given_factory

    async def _work_with(self) -> WorkspaceModels:
        """The models and extractors of this workspace."""
        from trueweave import factory

        async with self._opening:  # two who ask at once share one
            if self._factory is None:
                opening = factory.opened_models(self.database, self._settings.lease)
                self._factory = await self._closing.enter_async_context(opening)
            if self._models is None:
                made = await self._factory.models(self.workspace, self._settings)
                self._models = await self._closing.enter_async_context(aclosing(made))
        return self._models

    async def _embedding(self) -> Embedder | None:
        """The embedder to add documents with: a workspace without vectors takes its space."""
        embedder = await self._opened_embedder()
        if embedder and not self._has_space:
            await self._take_space(embedder)
        return embedder

    async def _opened_embedder(self) -> Embedder | None:
        """The embedder, opened when it is first needed; None where neither caller nor settings name one."""
        if self._embedder is None and (name := self._settings.embedding_model):
            self._embedder = await (await self._work_with()).embedder(name)
            self._embedder_is_of_settings = True
        return self._embedder

    async def _take_space(self, embedder: Embedder) -> None:
        async def look() -> Space | None:
            async with self.workspace.transaction() as tx:
                return await vectors.space(tx)

        if await self.workspace.retry_while_down(look) is None:
            await self.change_space(embedder)
        self._has_space = True

    # --- documents ------------------------------------------------------------------------------------

    async def add(
        self, *what: str | Path | Source, listener: Listener = ignore, prune: bool = False, refresh: bool = False
    ) -> Added:
        """Add files, whole folders and texts: each becomes a document, worked as the settings say, and settled.

        What is there unchanged is left alone, so a run that was interrupted, or stopped by an error such as
        BudgetReached, is simply run again. Other workers of this workspace help. Where a setting or a model's refusal
        stops it, what nobody has begun is taken out of the queue again. With `prune`, documents whose files are gone
        from these folders are removed at the end. With `refresh`, unchanged documents are worked again where an earlier
        version of the extractor or of its prompts made them.
        """
        return await self._add(what, listener, self._folders(what) if prune else [], refresh=refresh)

    async def plan_sync(self, *folders: str | Path, listener: Listener = ignore) -> SyncPlan:
        """What `sync` would do. Nothing is changed, and no model is asked."""
        from trueweave import factory

        wanted, recipe = self._folders(folders), factory.recipe(self._settings)
        with Seen() as seen:
            files = self._files(seen)
            counts = await count(self.workspace, incoming(folders, files, seen), recipe, listener)
            left = await gone(self.workspace, wanted, files.naming, seen)
        return SyncPlan(*counts, tuple(left))

    async def sync(self, *folders: str | Path, plan: SyncPlan | None = None, listener: Listener = ignore) -> Added:
        """Bring the index up to date with folders: add what is new or changed, remove what is gone from them.

        With a `plan`, nothing is removed that it does not name.
        """
        return await self._add(folders, listener, self._folders(folders), plan)

    async def matching(self, *what: str | Path) -> dict[str, list[str]]:
        """The uris of the documents that each of these stands for: a file with its rows, a folder, a pattern or a
        uri."""
        naming = Naming(self._settings.project_folder)
        return await matching(self.workspace, [str(one) for one in what], naming)

    def _folders(self, what: Sequence[str | Path | Source]) -> list[Folder]:
        """The folders among these. None at all is an error, as nobody could tell what is gone."""
        naming = Naming(self._settings.project_folder)
        paths = [one for one in what if not isinstance(one, Source) and is_folder(one)]
        if not paths:
            raise ConfigError(
                f"there is no folder {', '.join(map(str, what))}, so nothing can be told to be gone from it. Name a "
                "folder; `trueweave remove` removes documents by name."
            )
        return [Folder(naming.within(naming.uri(path))) for path in paths]

    async def _add(
        self,
        what: Sequence[str | Path | Source],
        listener: Listener,
        prune: Sequence[Folder],
        plan: SyncPlan | None = None,
        *,
        refresh: bool = False,
    ) -> Added:
        from trueweave import factory

        counted = _Counted(listener, Added())
        recipe = factory.recipe(self._settings)
        with in_run(counted), Seen() as seen:
            kit = await self.worker_dependencies()
            made = made_by(recipe, kit.extractor(recipe).fingerprint)  # what it lacks is an error, before all else
            worker = await self._worker(kit, counted)
            files = self._files(seen)
            coming = incoming(what, files, seen)
            taking = take_in(self.workspace, coming, recipe, counted, seen, made.id if refresh else None)
            try:
                await self._work_while(worker, taking)
            except (ConfigError, ModelRefused, SpaceMismatch):
                await take_back(self.workspace, seen)
                raise
            if prune:
                left = await gone(self.workspace, prune, files.naming, seen)
                agreed = left if plan is None else sorted({*left} & {*plan.gone})
                await self.remove(agreed)
                counted(Removed(tuple(agreed)))
        return counted.total

    async def _work_while(self, worker: Worker, coming: Coroutine[None, None, None]) -> None:
        """Work until all that comes has come and nothing is left."""
        no_more = asyncio.Event()
        working = asyncio.create_task(worker.run_until_done(no_more))
        taking = asyncio.create_task(coming)
        try:
            await asyncio.wait((taking, working), return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                await taking
            no_more.set()
            await working
        finally:
            worker.abandon()
            taking.cancel()
            await asyncio.gather(taking, working, return_exceptions=True)

    async def estimate(
        self, *what: str | Path | Source, listener: Listener = ignore, refresh: bool = False
    ) -> Estimate:
        """What adding these would take, in documents, chunks, tokens and money. Nothing is sent to any model."""
        from trueweave import factory
        from trueweave.ingest.estimate import estimate

        recipe = factory.recipe(self._settings)
        models = await self._work_with()
        made = made_by(recipe, models.extractor(recipe).fingerprint).id if refresh else None
        with Seen() as seen:
            coming, prices = incoming(what, self._files(seen), seen), models.prices(recipe)
            return await estimate(self.workspace, coming, recipe, prices, listener, made)

    async def work(self, listener: Listener = ignore, stop: asyncio.Event | None = None) -> None:
        """Take jobs of this workspace from the queue until `stop` is set; then end what is begun."""
        with in_run(listener):
            worker = await self._worker(await self.worker_dependencies(), listener, patient=True)
            working = asyncio.create_task(worker.run())
        sweeping = asyncio.create_task(self._sweep_again_and_again())
        await until_stopped(worker, working, sweeping, stop)

    async def _worker(self, dependencies: WorkerDependencies, listener: Listener, *, patient: bool = False) -> Worker:
        how, liveness = WorkerSettings.of(self._settings), await self._liveness()
        return worker_of(self.workspace, dependencies, listener, how, patient=patient, liveness=liveness)

    async def worker_dependencies(self) -> WorkerDependencies:
        """What a worker needs for the jobs of this workspace."""
        models = await self._work_with()
        return models.dependencies(await self._embedding(), self._llm)

    async def _liveness(self) -> Liveness:
        await self._work_with()
        assert self._factory, "models were made by one"
        return await self._factory.liveness()

    def _files(self, seen: Seen) -> Files:
        """What reads files, and names them."""
        naming = Naming(self._settings.project_folder)
        return Files(naming, follow_links=self._settings.follow_links, whole=seen.whole)

    async def add_documents(
        self,
        documents: Iterable[Document],
        progress: Progress = _unseen,
        refused: Callable[[Refused], None] | None = None,
    ) -> int:
        """Store documents whose entities and relations are given, and settle them; how many were new or changed.

        A document whose uri is already there replaces the one of that uri. Documents are read as they are stored, so
        there may be more of them than fit in memory. `progress` is told how many more are done. One that cannot be
        stored is an error that names it, or `refused` is told of it and the others go on.
        """
        with Seen() as seen:
            return await self._add_documents(_usable(documents, seen, refused), progress)

    async def _add_documents(self, source: Iterator[Contribution], progress: Progress) -> int:
        embedder = await self._embedding()
        stored = await asyncio.to_thread(_some, source)
        new, total = await self._store(stored), SettleResult()
        while stored:
            # The next batch is stored while this one is being settled.
            settling = asyncio.create_task(settle(self.workspace, embedder))
            try:
                following = await asyncio.to_thread(_some, source)
                new += await self._store(following)
            finally:
                total = total.plus(await settling)
            progress(len(stored))
            stored = following
        await link(self.workspace)
        await vectors.move_to_own_table(self.workspace, total.vectors)
        if total.defect:
            raise total.defect
        return new

    async def _store(self, documents: Sequence[Contribution]) -> int:
        """Store documents, and let their new names look for others alike, which settling would wait for."""
        if not documents:
            return 0
        stored = await record.store(self.workspace, documents)
        await resolution.find_alike(self.workspace, stored.names)
        return stored.documents

    async def remove(self, uris: Sequence[str]) -> int:
        """Remove these documents, all in one pass, and settle; how many there were.

        Their text is erased everywhere: also from what models replied about it, and from reports that may quote it,
        which are to be written again.
        """
        removed = await record.withdraw(self.workspace, uris)
        await self.settle()
        await self._erase()
        return removed

    async def _erase(self) -> None:
        """Erase what removed documents have left. What another settler is still at is waited for; if that takes long,
        it is left to workers and to `sweep`."""
        for _ in range(_LOOKS):
            await erasing.erase(self.workspace)
            async with self.workspace.transaction() as tx:
                if not await erasing.any_left(tx):
                    return
            await asyncio.sleep(_LOOK_AGAIN)
            await self.settle()

    async def settle(self) -> int:
        """Bring the view up to date with all that is stored; how many versions of documents were settled."""
        settled = await settle(self.workspace, await self._embedding())
        await link(self.workspace)
        await vectors.move_to_own_table(self.workspace, settled.vectors)
        if settled.defect:
            raise settled.defect
        return settled.documents

    def documents(self) -> Stream[Document]:
        """All documents as they were stored, in no particular order."""
        return self._streams.hand_out(self._documents())

    async def _documents(self) -> AsyncGenerator[Document, None]:
        with translated():
            async for page in record.read(self.workspace):
                for document in page:
                    yield document

    # --- questions ------------------------------------------------------------------------------------

    async def ask(
        self,
        question: str,
        method: str | Method | None = None,
        *,
        filter: Filter | None = None,
        history: Sequence[Message] = (),
        use_cot: bool = False,
        numerical_answer: bool = False,
        extractive: bool = False,
        repair: bool | None = None,
        verifiers: Sequence[str | Verifier] | None = None,
        context_only: bool = False,
        rerank: bool = False,
        listener: Listener = ignore,
    ) -> Answer:
        """The answer to a question from what a method finds, every citation checked.

        `method` is a name, or a method with parameters of its own; `filter` says which documents may speak, `history`
        what was said before. With `use_cot` the model thinks first, and its reasoning is kept apart; with
        `numerical_answer` it gives a number and its unit alone, with `extractive` quotes alone; with `context_only` it
        is not asked. `verifiers` check the answer in their order, by name ("rules", "llm", "onnx/FOLDER") or as they
        are, and `repair` gives the model the sentences that they do not vouch for once more; both are as the settings
        say unless given. The listener hears what is waited for.
        """
        from trueweave.asking import whole

        answering = partial(
            self._answering,
            use_cot=use_cot,
            numerical_answer=numerical_answer,
            extractive=extractive,
            repair=repair,
            verifiers=verifiers,
        )
        with in_run(listener, is_question=True):
            return await whole(
                self._stream(question, method, filter, history, answering, rerank=rerank, context_only=context_only)
            )

    def stream(
        self,
        question: str,
        method: str | Method | None = None,
        *,
        filter: Filter | None = None,
        history: Sequence[Message] = (),
        use_cot: bool = False,
        numerical_answer: bool = False,
        extractive: bool = False,
        repair: bool | None = None,
        verifiers: Sequence[str | Verifier] | None = None,
        rerank: bool = False,
        listener: Listener = ignore,
    ) -> Stream[str | Answer]:
        """The answer in pieces as the model writes them, and at the end the whole of it, checked: see `ask`.

        Who leaves early may close the stream, or let go of it: the model is hung up on either way.
        """
        answering = partial(
            self._answering,
            use_cot=use_cot,
            numerical_answer=numerical_answer,
            extractive=extractive,
            repair=repair,
            verifiers=verifiers,
        )
        pieces = self._stream(question, method, filter, history, answering, rerank=rerank, context_only=False)
        return self._streams.hand_out(pieces, listener)

    async def _stream(
        self,
        question: str,
        method: str | Method | None,
        filter: Filter | None,
        history: Sequence[Message],
        answering: Callable[[], Awaitable[Answering]],
        *,
        rerank: bool,
        context_only: bool,
    ) -> AsyncGenerator[str | Answer, None]:
        with translated():
            asking, query, chosen = await self._prepare_question(question, method, filter, rerank=rerank)
            stream = asking.stream(query, chosen, await answering(), history, context_only=context_only)
            async with aclosing(stream) as pieces:
                async for piece in pieces:
                    yield piece

    async def retrieve(
        self,
        question: str,
        method: str | Method | None = None,
        *,
        filter: Filter | None = None,
        rerank: bool = False,
        listener: Listener = ignore,
    ) -> Evidence:
        """What a method finds for a question, and how, without an answer."""
        with in_run(listener, is_question=True):
            asking, query, chosen = await self._prepare_question(question, method, filter, rerank=rerank)
            return await asking.retrieve(query, chosen)

    async def compare(
        self,
        question: str,
        methods: Sequence[str | Method] = (),
        *,
        filter: Filter | None = None,
        answers: bool = False,
        listener: Listener = ignore,
    ) -> Comparison:
        """What these methods find for a question, side by side; all methods there are, when none are given."""
        from trueweave.asking import chosen
        from trueweave.methods import registry

        wanted = [chosen(method) for method in methods or registry.names()]
        query = Query(storable(question), filter or Filter())
        with in_run(listener, is_question=True):
            asking = await self._asking()
            return await asking.compare(query, wanted, await self._answering() if answers else None)

    @property
    def method(self) -> str:
        """The method that answers where none is named: as the settings say, or else whichever fits the documents, or by
        words alone where nothing is embedded."""
        is_embedded = self._embedder is not None or self._settings.embedding_model
        return self._settings.method or ("auto" if is_embedded else "keyword")

    async def _answering(
        self,
        *,
        use_cot: bool = False,
        numerical_answer: bool = False,
        extractive: bool = False,
        repair: bool | None = None,
        verifiers: Sequence[str | Verifier] | None = None,
    ) -> Answering:
        from trueweave.answering import Answering

        settings = self._settings
        chosen = settings.verifiers if verifiers is None else verifiers
        return Answering(
            use_cot,
            numerical_answer,
            extractive,
            settings.repair if repair is None else repair,
            settings.max_context_tokens,
            settings.max_answer_tokens,
            tuple([await self._verifier(one) if isinstance(one, str) else one for one in chosen]),
        )

    async def _verifier(self, name: str) -> Verifier:
        from trueweave.answering.verify import EntailmentVerifier, JudgeVerifier, RulesVerifier

        if name == "rules":
            return RulesVerifier()
        if name != "llm":
            return EntailmentVerifier(await (await self._work_with()).entailment(name))
        llm = await self._chat()
        if llm is None:
            raise ConfigError(
                'the verifier llm needs a model. Set one in trueweave.toml, as in model = "ollama/llama3.1:8b", or '
                "choose another: rules needs no model."
            )
        return JudgeVerifier(llm)

    async def _prepare_question(
        self, question: str, method: str | Method | None, filter: Filter | None, *, rerank: bool
    ) -> tuple[Asking, Query, Method]:
        """A question as it is put: to whom, what, and by which method."""
        from trueweave.asking import chosen

        query = Query(storable(question), filter or Filter())
        return await self._asking(), query, chosen(method or self.method, rerank=rerank)

    async def _asking(self) -> Asking:
        from trueweave.asking import Asking, Models

        # Not `_embedding`: a question is no reason to embed everything.
        embedder, llm, reranker = await self._opened_embedder(), await self._chat(), None
        if self._settings.reranker:
            reranker = await (await self._work_with()).reranker(self._settings.reranker)
        return Asking(self._open_readers, Models(embedder, llm, reranker))

    async def _chat(self) -> StreamingLLM | None:
        """The language model that was given, or the one of the settings."""
        if self._llm is None and self._settings.model:
            return (await self._work_with()).chat(self._settings.model)
        return self._llm

    # --- communities ----------------------------------------------------------------------------------

    async def find_communities(self) -> CommunityChanges:
        """Find the communities of the graph as it is settled now; what that changed.

        Nothing is done where the graph is as it was. No model is asked: `write_reports` does that.
        """
        return await regroup(self.workspace, self._how_grouped())

    async def estimate_reports(self) -> ReportEstimate:
        """What `write_reports` would take. Nothing is sent to any model."""
        from trueweave import factory
        from trueweave.ingest.reports import estimate

        kit = await self.worker_dependencies()
        price = factory.price(self._settings, kit.writer.model) if kit.writer else factory.FREE
        return await estimate(self.workspace, kit.reporting, price)

    async def write_reports(self, listener: Listener = ignore) -> Reported:
        """Write about all communities that have no report, or a stale one; how many that were.

        Without a language model, names and sentences are picked out of the documents. Like `add` it may be stopped at
        any moment and run again, and other workers of this workspace go on with it.
        """
        async with self.workspace.transaction() as tx:
            await communities.request_reports(tx)
            await failed_work.forget(tx, "report")
            await ask_for(tx, "report")
        counted = _Counted(listener, Reported())
        await self._work_off(counted)
        return counted.total

    async def _work_off(self, listener: Listener) -> None:
        """Work until nothing waits any longer."""
        no_more = asyncio.Event()
        no_more.set()
        with in_run(listener):
            worker = await self._worker(await self.worker_dependencies(), listener)
            working = asyncio.create_task(worker.run_until_done(no_more))
        try:
            await asyncio.wait((working,))
            await working
        finally:
            worker.abandon()
            await asyncio.gather(working, return_exceptions=True)

    async def hierarchy(self) -> Hierarchy | None:
        """The communities as a whole, level by level; None where none were looked for yet."""
        async with self.workspace.transaction() as tx:
            return await communities.hierarchy(tx)

    async def communities(
        self, level: int | None = None, *, within: UUID | None = None, since: datetime | None = None, limit: int = 50
    ) -> list[Community]:
        """Communities, the largest first: of a level, right within another, or changed since then."""
        async with self.workspace.transaction() as tx:
            return await communities.listed(tx, level=level, within=within, since=since, limit=limit)

    async def retired_communities(self, since: datetime, limit: int = 50) -> list[RetiredCommunity]:
        """Communities that are no more since then, the latest first."""
        async with self.workspace.transaction() as tx:
            return await communities.retired(tx, since, limit)

    async def community(self, id: UUID | str) -> Community:
        """The community of this id, or of the one id that begins like this."""
        async with self.workspace.transaction() as tx:
            found = await communities.beginning(tx, str(id).lower())
            if len(found) != 1:
                problem = "no community" if not found else "more than one community"
                raise UnknownCommunity(
                    f"there is {problem} whose id begins with {id}. `trueweave communities` lists them."
                )
            [one] = await communities.listed(tx, id_=found[0], limit=1)
            return one

    async def report(self, community: UUID) -> CommunityReport | None:
        """What is written about a community, if anything is."""
        async with self.workspace.transaction() as tx:
            return await communities.report(tx, community)

    async def members(self, community: UUID, limit: int = 50) -> list[Entity]:
        """The entities in a community, those with most relations first."""
        async with self.workspace.transaction() as tx:
            return await communities.members(tx, community, limit)

    async def export_graph(self, path: str | Path) -> None:
        """Write the graph with its communities to a file, as its name ends: in .graphml, or in .json with reports."""
        from trueweave.exporting import form

        file = Path(path)
        written = form(file)
        partial = file.with_name(f"{file.name}.part")  # what was there stays until all is written
        with await asyncio.to_thread(partial.open, "w", encoding="utf-8") as opened:
            async with aclosing(written(self.workspace)) as pieces:
                async for piece in pieces:
                    opened.write(piece)
        await asyncio.to_thread(partial.replace, file)

    def _how_grouped(self) -> LeidenSettings:
        return LeidenSettings(most=self._settings.max_community_size)

    # --- people's rules and settings ------------------------------------------------------------------

    async def merge(self, *names: NameKey, id: UUID | None = None) -> Rule:
        """Let these names be one entity from now on, whatever documents come."""
        return await self._add_rule("merge", names, id=id)

    async def split(self, *names: NameKey, id: UUID | None = None) -> Rule:
        """Let these names be an entity of their own, apart from all that they are alike to."""
        return await self._add_rule("split", names, id=id)

    async def rename(self, name: NameKey, label: str, id: UUID | None = None) -> Rule:
        """Let the entity of this name be called `label`."""
        return await self._add_rule("rename", (name,), label, id)

    async def _add_rule(
        self, kind: RuleKind, names: Sequence[NameKey], label: str = "", id: UUID | None = None
    ) -> Rule:
        rule = await resolution.add_rule(self.workspace, kind, names, label, id)
        await self.settle()
        return rule

    async def undo(self, rule: UUID) -> None:
        """Take a rule back."""
        await resolution.undo_rule(self.workspace, rule)
        await self.settle()

    async def rules(self) -> list[Rule]:
        """All rules, in the order in which they were laid down."""
        async with self.workspace.transaction() as tx:
            return await resolution.rules(tx)

    async def suggestions(
        self, threshold: int | None = None, *, limit: int = 20, rejected: bool = False
    ) -> list[Suggestion]:
        """Names that may be one thing, with passages of both: pairs more alike than the threshold (that of the
        resolution, if none is given) which are two entities and on which nobody has decided, the most alike first; or
        else those that were `rejected`."""
        return await suggestions.suggest(self.workspace, threshold, limit, rejected=rejected)

    async def accept(self, *which: UUID | str | int) -> list[Rule]:
        """Merge the names of these suggestions, given by id (or how it begins) or by number in the last list."""
        rules = await suggestions.accept(self.workspace, list(map(str, which)))
        await self.settle()
        return rules

    async def accept_above(self, threshold: int) -> list[Rule]:
        """Merge all names that are more alike than this and would be suggested."""
        accepted: list[Rule] = []
        while found := await self.suggestions(threshold, limit=_SUGGESTIONS_AT_ONCE):
            accepted += await self.accept(*(one.id for one in found))
        return accepted

    async def reject(self, *which: UUID | str | int) -> list[tuple[NameKey, NameKey]]:
        """Suggest none of these pairs of names again."""
        return await suggestions.reject(self.workspace, list(map(str, which)))

    async def mentioned(self, names: Sequence[NameKey]) -> dict[NameKey, tuple[NameKey, ...]]:
        """For each of these names those that some document mentions now, written just so; without a type, of any."""
        async with self.workspace.transaction() as tx:
            return await resolution.mentioned(tx, names)

    async def resolution(self) -> ResolutionSettings:
        """What makes two names one entity here."""
        async with self.workspace.transaction() as tx:
            return await resolution.settings(tx)

    async def change_resolution(self, to: ResolutionSettings) -> None:
        """Resolve all names by other settings."""
        await resolution.change_settings(self.workspace, to)
        await self.settle()

    async def estimate_reembed(self, model: str) -> EmbeddingEstimate:
        """What `reembed` would take. The model is asked for its dimensions, and no text is sent to it."""
        from trueweave import factory
        from trueweave.ingest.estimate import estimate_embedding

        embedder = await (await self._work_with()).embedder(model)
        price = factory.price(self._settings, model)
        return await estimate_embedding(self.workspace, embedder, price)

    async def reembed(self, model: str, progress: Progress = _unseen) -> None:
        """Embed everything with the model of that name, paid from the budget, then switch to it at once.

        Like `add` it may be stopped at any moment and run again: what is embedded is kept. Questions are answered by
        the old vectors until then, and those are dropped afterwards. `progress` is told how many more texts are done.
        """
        embedder = await (await self._work_with()).embedder(model)
        await self.change_space(embedder, progress)
        self._settings = self._settings.model_copy(update={"embedding_model": model})
        if "embedding_model" in self._own:
            await self.change_settings({"embedding_model": model})

    async def change_space(self, embedder: Embedder, progress: Progress = _unseen) -> None:
        """Embed everything with another model beside the old vectors, then switch to it at once."""
        held_up = await vectors.change_space(self.workspace, embedder, progress)
        self._embedder = embedder
        if held_up:
            await self.settle()

    @property
    def settings(self) -> Settings:
        """The settings in force here: those of the workspace over those of the process."""
        return self._settings

    @property
    def own_settings(self) -> dict[str, Any]:
        """The settings that this workspace has of its own, as they were when it was opened or last changed here."""
        return dict(self._own)

    async def change_settings(self, changes: Mapping[str, Any], unset: Collection[str] = ()) -> Settings:
        """Give this workspace settings of its own, for all who work in it, and take others back; those in force here
        now. Other processes see them when they next open the workspace."""
        workspace_settings(changes)
        async with self.workspace.transaction() as tx:
            self._own = await tx.value("read.change_settings", changes=Jsonb(dict(changes)), unset=list(unset))
        if self._settings.embedding_model and self._embedder_is_of_settings:
            self._embedder = None
        self._settings = self._of_process.over(self._own)
        self._models = None  # others are made by the new settings; these are closed with the workspace
        return self._settings

    # --- money ----------------------------------------------------------------------------------------

    async def budget(self) -> Budget:
        """What this workspace may spend on models, and has spent."""
        async with self.workspace.transaction() as tx:
            return await ledger.budget(tx)

    async def allow(self, *, price: Decimal | None = None, tokens: int | None = None) -> Budget:
        """Let this workspace spend so much more, in money or in tokens, over all workers; without either, no cap."""
        async with self.workspace.transaction() as tx:
            return await ledger.allow(tx, price, tokens)

    async def receipt(self, since: datetime | None = None) -> list[Spent]:
        """What was spent since then, by stage and model."""
        async with self.workspace.transaction() as tx:
            return await ledger.receipt(tx, since)

    async def receipt_by_document(self, since: datetime | None = None, limit: int = 20) -> list[SpentOn]:
        """What was spent since then on the costliest documents, by model."""
        async with self.workspace.transaction() as tx:
            return await ledger.receipt_by_document(tx, since, limit)

    # --- how it goes ----------------------------------------------------------------------------------

    async def clock(self) -> datetime:
        """The time by the database's clock, by which `ingest_progress` and receipts count."""
        async with self.workspace.transaction() as tx:
            return await ingest_progress.clock(tx)

    async def ingest_progress(self, since: datetime | None = None) -> IngestProgress:
        """How many documents came in since then, whoever worked them, and how many wait. A database that is away is
        waited for."""

        async def look() -> IngestProgress:
            async with self.workspace.transaction() as tx:
                return await ingest_progress.ingest_progress(tx, since)

        return await self.workspace.retry_while_down(look)

    async def duplicates(self, since: datetime) -> list[Duplicate]:
        """The documents that came in since then and have the very text of one that was there before."""
        async with self.workspace.transaction() as tx:
            return await ingest_progress.duplicates(tx, since)

    async def notes(self, since: datetime, named: int = 3) -> list[Note]:
        """What was odd about the documents that came in since then, with the names of the first so many."""
        async with self.workspace.transaction() as tx:
            return await ingest_progress.notes(tx, since, named)

    # --- reading --------------------------------------------------------------------------------------

    async def status(self) -> Status:
        """How large the workspace is, and what still waits to be settled."""
        async with self.workspace.transaction() as tx:
            return await read.status(tx)

    async def list_documents(self, limit: int = 50, *, noted: bool = False) -> list[DocumentInfo]:
        """The documents that are there, by name; only those with a note, if that is wanted."""
        async with self.workspace.transaction() as tx:
            return await read.documents(tx, limit, noted=noted)

    async def out_of_date(self) -> list[OutOfDate]:
        """Documents that were worked by other settings than those of now, or by another version of the extractor; none
        where the settings name no extractor that could be used here."""
        from trueweave import factory
        from trueweave.ingest.outdated import outdated

        async with self.workspace.transaction() as tx:
            made = await record.made_by(tx)
        if not made:
            return []
        try:
            recipe = factory.recipe(self._settings)
            fingerprint = (await self._work_with()).extractor(recipe).fingerprint
        except ConfigError:  # there is nothing to compare with; whoever adds is told what is missing
            return []
        return outdated(made, recipe, fingerprint)

    async def failed_documents(self, limit: int = 20) -> list[FailedDocument]:
        """Documents that failed for good, with their errors. Adding one again tries it again."""
        async with self.workspace.transaction() as tx:
            return await sources.failed_documents(tx, limit)

    async def failed_work(self, limit: int = 20) -> list[FailedWork]:
        """Work that failed by a bug of Trueweave, the latest first. `retry` tries it again."""
        async with self.workspace.transaction() as tx:
            return await failed_work.listed(tx, limit)

    async def retry(self, listener: Listener = ignore) -> int:
        """Try again what failed: failed documents, and work that failed by a bug; how much that was."""
        async with self.workspace.transaction() as tx:
            failed = await failed_work.forget(tx) + await sources.retry(tx)
            await ask_for(tx, "settle")
        await self._work_off(listener)
        return failed

    async def entities(self, limit: int = 50) -> list[Entity]:
        """The most mentioned entities."""
        async with self.workspace.transaction() as tx:
            return await read.entities(tx, limit)

    async def relations(self, *entities: UUID, limit: int = 50) -> list[Relation]:
        """The relations from and to these entities, the heaviest first."""
        async with self.workspace.transaction() as tx:
            return await read.relations_of(tx, entities, limit)

    async def neighbours(self, *entities: UUID, hops: int = 1, limit: int = 50) -> list[Entity]:
        """The entities around these, over so many relations: nearer ones first, then those more heavily related."""
        readers = self._open_readers(Filter())
        relations = await readers.record.relations(await readers.graph.neighbourhood(entities, hops))
        ends = dict.fromkeys(end for r in relations for end in (r.source, r.target))
        return await readers.record.entities([end for end in ends if end not in entities][:limit])

    def _open_readers(self, filter: Filter) -> Readers:
        readers = open_readers(self._where, filter)
        return self._change_readers(readers, filter) if self._change_readers else readers

    async def nearest(self, kind: VectorKind, vector: Vectors, limit: int = 10) -> list[Hit]:
        """The chunks, entities or relations nearest to a vector, nearest first."""
        return await vectors.nearest(self.workspace, kind, vector, limit)

    async def changes(self, after: int = 0, limit: int = 1000) -> list[Change]:
        """What changed after a position of the outbox, in order, for a projection to follow."""
        async with self.workspace.transaction() as tx:
            return await outbox.changes(tx, after, limit)

    # --- keeping house --------------------------------------------------------------------------------

    async def digest(self) -> str:
        """A hash of all that readers can see: equal digests, equal indexes, whatever the ids inside."""
        return await digest.digest(self.workspace)

    async def state(self) -> str:
        """A key that changes whenever documents, rules or vectors do. Unlike a digest it is quick, and says nothing of
        another database."""
        async with self.workspace.transaction() as tx:
            return str(await tx.value("read.state"))

    async def verify(self, progress: Progress = _unseen) -> Verdict:
        """Build the index anew beside this one, from the documents that it shows, and compare.

        Nothing in this workspace is changed, and no model is asked: what the vectors stand for is compared by the
        hashes of their texts. What waits to be settled is counted, not settled.
        """
        await temporary_workspaces.drop_expired(self.database)
        before = await moment(self.workspace)
        async with self.rebuilt(progress) as beside:
            return await compare_with(self.workspace, beside.workspace, before)

    @asynccontextmanager
    async def rebuilt(self, progress: Progress = _unseen) -> AsyncIterator[AsyncTrueweave]:
        """A workspace built from scratch from the documents that this one shows, its settings and rules; gone at the
        end. It has no models."""
        without = self._settings.model_copy(update={"model": None, "embedding_model": None, "reranker": None})
        with translated():
            async with temporary_workspaces.temporary_workspace(self.database, f"rebuild-{uuid4()}") as made:
                beside = AsyncTrueweave(made, settings=without)
                await beside.change_resolution(await self.resolution())
                for rule in await self.rules():
                    await resolution.add_rule(made, rule.kind, rule.names, rule.label)
                async for documents in record.read(self.workspace, visible=True):
                    await beside.add_documents(documents, progress)
                if found := await self.hierarchy():
                    await regroup(made, LeidenSettings(found.most, found.resolution, found.seed))
                yield beside

    async def sweep(self) -> Swept:
        """Take away what nobody needs any longer: names that no document mentions, what has been kept for as long as
        the settings say, and what removed documents and killed processes left. Workers do all but the names."""
        names = await resolution.sweep(self.workspace)
        return replace(await self.clean_up(), names=names)

    async def clean_up(self) -> Swept:
        """What workers do every hour: all that `sweep` does, but for the names. A database that is away is waited
        for."""
        return await self.workspace.retry_while_down(self._clean_up)

    async def _clean_up(self) -> Swept:
        days = self._settings.reply_days, self._settings.log_days, self._settings.spend_days
        kept = erasing.Retention(*(timedelta(days=number) for number in days))
        documents = await erasing.erase(self.workspace)
        forgotten = await erasing.forget_old(self.workspace, kept)
        spaces = await vectors.clear_other_spaces(self.workspace)
        return Swept(0, *forgotten, documents, spaces, await temporary_workspaces.drop_expired(self.database))

    async def _sweep_again_and_again(self) -> None:
        while True:
            await self.clean_up()
            await asyncio.sleep(_SWEPT_EVERY)

    async def drop(self) -> int:
        """Take the workspace away, with all that is in it; how many documents there were.

        Whoever is adding documents is waited for where a transaction is under way, and gets UnknownWorkspace after it.
        """
        return await read.drop_workspace(self.workspace)


class _Counted(Generic[Total]):
    """A listener that keeps count, and passes everything on."""

    def __init__(self, listener: Listener, total: Total) -> None:
        self._listener = listener
        self.total: Total = total

    def __call__(self, event: Event) -> None:
        self.total = self.total.after(event)
        self._listener(event)


def _usable(
    documents: Iterable[Document], seen: Seen, refused: Callable[[Refused], None] | None
) -> Iterator[Contribution]:
    """The documents that can be stored, as rows of the record. Two that were read from different places and have the
    same uri are a mistake; a caller's own may come again, and the last counts."""
    for document in documents:
        try:
            if document.origin and (clash := seen.clash(document.uri, document.origin)):
                raise InvalidDocument(clash.reason)
            made = contribution(document)
        except InvalidDocument as error:
            if refused is None:
                raise
            refused(Refused(document.origin or document.uri, str(error)))
        else:
            yield made


def _some(documents: Iterator[Contribution]) -> list[Contribution]:
    """The next documents, as many as are well stored together: neither too many, nor with too much to say."""
    some: list[Contribution] = []
    said = 0
    for document in documents:
        some.append(document)
        said += document.document.size
        if len(some) >= _DOCUMENTS_AT_ONCE or said >= _SAID_AT_ONCE:
            break
    return some
