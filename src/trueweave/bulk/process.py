"""What a process of the cluster keeps open between tasks: an event loop, the database, models."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar
from uuid import UUID

from pgvector import HalfVector

from trueweave.bulk.shards import Read, RecordShard, Shard, read
from trueweave.bulk.spool import Spool, Worked
from trueweave.core.errors import BadReply, InvalidDocument, PluginFailed
from trueweave.core.events import Refused, Unreadable
from trueweave.core.graph import VectorKind
from trueweave.core.protocols import Chunker, Embedder, Extractor
from trueweave.core.record import Document, Source
from trueweave.core.settings import Settings
from trueweave.graph.contribution import ChunkRow, Contribution, contribution
from trueweave.graph.plan import ChangedText
from trueweave.ingest.jobs import WorkerSettings
from trueweave.ingest.loading import Files
from trueweave.ingest.own import Given
from trueweave.ingest.recipe import Recipe
from trueweave.ingest.stages import work
from trueweave.store.postgres import bulk
from trueweave.store.postgres.connections import Timeouts
from trueweave.store.postgres.db import Database, Workspace
from trueweave.store.postgres.record.sources import source_id
from trueweave.store.postgres.vectors import vectors
from trueweave.store.postgres.vectors.space import Space
from trueweave.store.postgres.vectors.vectors import Vector, half

T = TypeVar("T")

_TEXTS_AT_ONCE = 512
_CONNECTIONS = 2

_process: Process | None = None
_lock = threading.Lock()


class LoadModels(Protocol):
    """What a load needs from the models of a workspace."""

    def extractor(self, recipe: Recipe) -> Extractor:
        """The extractor of a recipe."""
        ...

    def chunker(self, recipe: Recipe) -> Chunker:
        """The chunker of a recipe."""
        ...

    async def describe(self, source: Source) -> Source:
        """The document with descriptions of its pictures."""
        ...

    async def embedder_of_documents(self) -> Embedder | None:
        """The embedding model, if the workspace has one."""
        ...


OpenModels = Callable[[Workspace, Settings, Given], AbstractAsyncContextManager[LoadModels]]


@dataclass(frozen=True)
class Load:
    """A bulk load, as known to every process of the cluster. It is built in the workspace `made`; models are paid from
    the budget of `target`, which also caches their replies. `open_models` is pickled and sent to each process.
    `kinds` are those that are embedded. `readers` are those of documents that do not state theirs."""

    settings: Settings
    given: Given
    database_url: str
    target: int
    made: int
    recipe: str
    spool: Path
    space: Space | None
    open_models: OpenModels
    readers: tuple[str, ...] | None = None
    kinds: tuple[VectorKind, ...] = ()

    def is_same(self, other: Load) -> bool:
        """Whether the other is the same load. `given` may be another object each time."""
        return (self.database_url, self.made) == (other.database_url, other.made)


def process(load: Load) -> Process:
    """The state of this process, opened for a load on first use."""
    global _process
    with _lock:
        if _process is None or not _process.load.is_same(load):
            if _process is not None:
                _process.close()
            _process = Process(load)
    return _process


class Process:
    """One process of the cluster, working on one load."""

    def __init__(self, load: Load) -> None:
        self.load = load
        self.spool = Spool(load.spool)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="bulk", daemon=True)
        self._thread.start()
        self._database: Database | None = None
        self._models: LoadModels | None = None
        self._open = AsyncExitStack()
        self._opening = asyncio.Lock()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """The result of the coroutine, run in the loop of this process."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def close(self) -> None:
        """Close the database and the models."""
        self.run(self._open.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def database(self) -> Database:
        """The database, opened when first needed."""
        async with self._opening:
            if self._database is None:
                settings = self.load.settings
                timeouts = Timeouts(settings.statement_timeout, settings.lock_timeout, settings.idle_timeout)
                self._database = await self._open.enter_async_context(
                    Database(
                        self.load.database_url,
                        direct_url=settings.direct_database_url,
                        timeouts=timeouts,
                        connections=_CONNECTIONS,
                    )
                )
        return self._database

    async def made(self) -> Workspace:
        """The workspace in which the load is built."""
        return Workspace(await self.database(), self.load.made)

    async def models(self) -> LoadModels:
        """The models of the workspace that the load is for."""
        database = await self.database()
        async with self._opening:
            if self._models is None:
                target = Workspace(database, self.load.target)
                opening = self.load.open_models(target, self.load.settings, self.load.given)
                self._models = await self._open.enter_async_context(opening)
        return self._models

    async def work(self, shard: Shard) -> Worked:
        """Process a shard: chunk, extract and embed, and store the rows in the spool. A shard already stored there is
        not processed again. A document that cannot be processed is recorded with the reason; an error that concerns all
        documents is raised."""
        if worked := self.spool.worked(shard.key):
            return worked
        models = await self.models()
        recipe = Recipe.model_validate_json(self.load.recipe)
        extractor, chunker = models.extractor(recipe), models.chunker(recipe)
        places = asyncio.Semaphore(WorkerSettings.documents_at_once)
        failed: list[tuple[str, str]] = []

        async def rows(source: Source) -> Contribution | None:
            async with places:
                try:
                    id_ = source_id(source, recipe.packed())
                    if source.pictures:
                        source = await models.describe(source)
                    return await work(source, id_, recipe, extractor, chunker)
                except (BadReply, InvalidDocument, PluginFailed) as error:
                    failed.append((source.uri, str(error)))
                    return None

        working: list[asyncio.Task[Contribution | None]] = []
        made: dict[str, Contribution] = {}  # of two documents with the same uri, the later one counts
        settings = self.load.settings
        files = Files.of(settings)
        for loaded in await asyncio.to_thread(lambda: list(read(shard, files))):
            one = self._with_readers(loaded)
            if isinstance(one, Refused | Unreadable):
                failed.append((one.place if isinstance(one, Refused) else one.path, one.reason))
            elif isinstance(one, Source):
                working.append(asyncio.create_task(rows(one)))
            else:
                try:
                    made[one.uri] = contribution(one)
                except InvalidDocument as error:
                    failed.append((one.uri, str(error)))
        for found in await asyncio.gather(*working):
            if found:
                made[found.document.uri] = found
        found_vectors = await self._chunk_vectors(chunk for each in made.values() for chunk in each.chunks)
        return await asyncio.to_thread(self.spool.write, shard.key, list(made.values()), found_vectors, failed)

    def _with_readers(self, loaded: Read) -> Read:
        if isinstance(loaded, Source | Document) and loaded.readers is None:
            return replace(loaded, readers=self.load.readers)
        return loaded

    async def copy(self, shard: RecordShard) -> Worked:
        """Store documents that are already in the target, with their vectors. Chunks without a vector are embedded."""
        if worked := self.spool.worked(shard.key):
            return worked
        target = Workspace(await self.database(), self.load.target)
        async with target.transaction(snapshot=True, unhurried=True) as tx:
            rows = await bulk.rows_of(tx, shard.ids)
            chunks = {chunk.id: chunk for one in rows for chunk in one.chunks}
            known = await vectors.of_ids(tx, "chunk", list(chunks)) if self.load.space else {}
        found = [Vector("chunk", id_, chunks[id_].text_hash, values) for id_, values in known.items()]
        found += await self._chunk_vectors(chunk for chunk in chunks.values() if chunk.id not in known)
        return await asyncio.to_thread(self.spool.write, shard.key, rows, found, ())

    async def _chunk_vectors(self, chunks: Iterable[ChunkRow]) -> list[Vector]:
        return await self.embed([ChangedText("chunk", c.id, c.text_hash, c.text) for c in chunks])

    async def embed(self, texts: Sequence[ChangedText]) -> list[Vector]:
        """The vectors of texts; none if the load makes no vectors."""
        embedder = await self._embedder()
        if embedder is None:
            return []
        by_hash: dict[UUID, str] = {text.hash: text.text for text in texts}
        hashes = list(by_hash)
        found: dict[UUID, HalfVector] = {}
        for at in range(0, len(hashes), _TEXTS_AT_ONCE):
            some = hashes[at : at + _TEXTS_AT_ONCE]
            embedded = await embedder.embed([by_hash[hash_] for hash_ in some], "document")
            found |= dict(zip(some, map(half, embedded), strict=True))
        return [Vector(text.kind, text.id, text.hash, found[text.hash]) for text in texts]

    async def _embedder(self) -> Embedder | None:
        if self.load.space is None:
            return None
        embedder = await (await self.models()).embedder_of_documents()
        self.load.space.check(embedder)
        return embedder
