"""Clients of model servers, models in memory and rate limiters, shared by all workspaces of a process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Self, cast

from trueweave.core.model_options import ModelOptions
from trueweave.core.settings import Settings
from trueweave.engine.model_settings import embedding_endpoint, open_embedder, prefixes
from trueweave.ingest.extract.nlp import NlpExtractor
from trueweave.models import opening
from trueweave.models.entailment import OnnxEntailment
from trueweave.models.names import Endpoint
from trueweave.models.openai import OpenAIEmbedder
from trueweave.models.opening import ChatModel, InProcessEmbedder
from trueweave.models.options import NO_OPTIONS, variant
from trueweave.models.rerank import OnnxReranker, RerankServer
from trueweave.store.others import StoreClients
from trueweave.store.postgres.db import Database
from trueweave.store.postgres.queue.liveness import LEASE, Liveness
from trueweave.store.postgres.queue.rate_limit import RateLimits, SharedRateLimiter


class ModelFactory:
    """What a process has once for all its workspaces: clients of model servers and other stores, models in memory, its
    liveness and the rate limiters. Models are opened when first needed."""

    def __init__(self, database: Database, lease: float = LEASE) -> None:
        self.stores = StoreClients()
        self._liveness = Liveness(database, lease)
        self._elsewhere: dict[Database, Liveness] = {}
        self._database = database
        self._lease = lease
        self._opening = asyncio.Lock()
        self._closing = AsyncExitStack()
        self._is_alive = False
        self._chats: dict[tuple[Endpoint, int, float, str], ChatModel] = {}
        self._opened: dict[tuple[object, ...], asyncio.Task[Any]] = {}
        self._pipelines: dict[str, NlpExtractor] = {}
        self._limiters: dict[tuple[str, RateLimits], SharedRateLimiter] = {}

    async def aclose(self) -> None:
        """Close the connections to model servers, and release the lease of the process."""
        for task in self._opened.values():
            task.cancel()
        await asyncio.gather(*self._opened.values(), return_exceptions=True)
        for limiter in self._limiters.values():
            await limiter.aclose()
        await self.stores.aclose()
        await self._closing.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def liveness(self, database: Database | None = None) -> Liveness:
        """The liveness of this process in this `database`, or by default in the home database. The first call registers
        it on all servers under the same number."""
        async with self._opening:
            if not self._is_alive:
                await self._closing.enter_async_context(self._liveness)
                for other in self._database.servers.others if self._database.servers else ():
                    following = Liveness(other, self._lease, follows=self._liveness)
                    self._elsewhere[other] = await self._closing.enter_async_context(following)
                self._is_alive = True
        return self._elsewhere.get(database or self._database, self._liveness)

    def chat(self, where: Endpoint, context: int, deadline: float, options: ModelOptions = NO_OPTIONS) -> ChatModel:
        """The client of a chat model with these options."""
        key = where, context, deadline, variant(options)
        if key not in self._chats:
            self._chats[key] = opening.open_chat(where, context=context, deadline=deadline, options=options)
            self._closing.push_async_callback(self._chats[key].close)
        return self._chats[key]

    async def embedder(self, settings: Settings, model: str) -> OpenAIEmbedder | InProcessEmbedder:
        """An embedding model, whose dimension is known."""
        where = embedding_endpoint(settings, model)
        key = "embedder", where, settings.deadline, prefixes(settings), settings.model_folder
        opened = self._once(key, lambda: open_embedder(settings, model))
        return cast("OpenAIEmbedder | InProcessEmbedder", await opened)

    async def reranker(self, where: Endpoint, deadline: float) -> RerankServer | OnnxReranker:
        """A reranker."""
        opened = self._once(("reranker", where, deadline), lambda: opening.open_reranker(where, deadline=deadline))
        return cast("RerankServer | OnnxReranker", await opened)

    async def entailment(self, name: str) -> OnnxEntailment:
        """A model for natural language inference."""
        opened = self._once(("entailment", name), lambda: opening.open_entailment(name))
        return cast("OnnxEntailment", await opened)

    async def _once(self, key: tuple[object, ...], open_: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        """The model with this key, opened once. If opening it failed, it is opened again."""

        async def opened() -> Any:
            made = await open_()
            if not isinstance(made, InProcessEmbedder | OnnxReranker | OnnxEntailment):
                self._closing.push_async_callback(made.close)
            return made

        found = self._opened.get(key)
        if found is None or (found.done() and (found.cancelled() or found.exception())):
            found = self._opened[key] = asyncio.create_task(opened())
        return await asyncio.shield(found)  # others may be waiting for the same model

    def pipeline(self, name: str) -> NlpExtractor:
        """The extractor with this spaCy pipeline, cached because it takes seconds to load."""
        if name not in self._pipelines:
            self._pipelines[name] = NlpExtractor(name)
        return self._pipelines[name]

    def rate_limiter(self, model: str, limits: RateLimits) -> SharedRateLimiter:
        """The rate limiter of a model."""
        key = model, limits
        if key not in self._limiters:
            self._limiters[key] = SharedRateLimiter(self._database, self._liveness, model, limits)
        return self._limiters[key]


@asynccontextmanager
async def opened_models(database: Database, lease: float) -> AsyncIterator[ModelFactory]:
    """A factory that is closed at the latest with the event loop, as asyncio closes open generators."""
    async with ModelFactory(database, lease) as factory:
        yield factory
