"""From settings to models and extractors: what is wrapped round what, in one place."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from decimal import Decimal
from functools import partial

from trueweave import models
from trueweave.config import Settings, secret
from trueweave.errors import ConfigError
from trueweave.events import Noted, Waiting, tell
from trueweave.extract.capitals import CapitalsExtractor
from trueweave.extract.llm import LLMExtractor
from trueweave.extract.nlp import NlpExtractor
from trueweave.extract.reports import MAX_TOKENS, ReportWriter
from trueweave.extract.summarise import Summariser
from trueweave.ingest.estimate import Prices
from trueweave.ingest.recipe import Recipe
from trueweave.ingest.summaries import Summarise
from trueweave.ingest.worker import Kit
from trueweave.models.budget import BudgetedEmbedder, BudgetedLLM, BudgetedReranker
from trueweave.models.cache import CachedEmbedder, CachedLLM
from trueweave.models.clean import CleanLLM
from trueweave.models.entailment import OnnxEntailment
from trueweave.models.limits import LimitedEmbedder, LimitedLLM, LimitedReranker
from trueweave.models.names import Endpoint, endpoint, provider_of
from trueweave.models.ollama import CONTEXT
from trueweave.models.onnx import OnnxEmbedder
from trueweave.models.rerank import LLMReranker, OnnxReranker
from trueweave.models.retry import Clock, Patience, Retrying, RetryingEmbedder, RetryingReranker, patiently
from trueweave.protocols import Embedder, Extractor, Reranker, StreamingLLM
from trueweave.store.postgres.db import Database
from trueweave.store.postgres.ledger import Ledger
from trueweave.store.postgres.liveness import Liveness
from trueweave.store.postgres.pace import Limits, SharedPace
from trueweave.store.postgres.replies import Replies
from trueweave.types import Price

FREE = Price(Decimal(0), Decimal(0))


def recipe(settings: Settings) -> Recipe:
    """How documents are worked by these settings. What a parameter does not concern is left out, so that a change of
    it does not make documents new."""
    sizes = {name: getattr(settings, name) for name in ("min_chunk_size", "max_chunk_size", "chunk_overlap")}
    chosen = settings.extractor
    if chosen == "auto":
        chosen = "llm" if settings.model else "capitals"
    if chosen == "nlp":
        return Recipe(extractor=chosen, pipeline=settings.pipeline, **sizes)
    if chosen == "capitals":
        return Recipe(extractor=chosen, **sizes)
    if not settings.model:
        raise ConfigError(
            'the extractor llm needs a model. Set one in trueweave.toml, as in model = "ollama/llama3.1:8b", or choose '
            "another: --extractor capitals works without any model."
        )
    return Recipe(
        extractor=chosen,
        model=settings.model,
        entity_types=settings.entity_types,
        max_gleaning=settings.max_gleaning,
        max_paths_per_chunk=settings.max_paths_per_chunk,
        max_reply_tokens=settings.max_reply_tokens,
        **sizes,
    )


def chat_endpoint(settings: Settings, model: str) -> Endpoint:
    """Where a chat model is, with its key from the usual variable."""
    return _endpoint(model, settings.model_url)


def embedding_endpoint(settings: Settings, model: str) -> Endpoint:
    """Where an embedding model is, with its key from the usual variable."""
    return _endpoint(model, settings.embedding_url)


def reranker_endpoint(settings: Settings, model: str) -> Endpoint:
    """Where a model that reranks is, with its key from the usual variable."""
    return _endpoint(model, settings.reranker_url)


def _endpoint(model: str, url: str | None) -> Endpoint:
    provider = provider_of(model)
    return endpoint(model, url=url, key=secret(provider.key_variable) if provider and provider.key_variable else None)


def price(settings: Settings, model: str) -> Price | None:
    """What a model costs: as the settings say, nothing on one's own machine, and otherwise not known."""
    if said := settings.prices.get(model):
        return Price(*said)
    provider = provider_of(model)
    return FREE if provider and provider.local else None


class Workshop:
    """The models of one workspace, each cached, retried, paced and paid for; and extractors made with them."""

    def __init__(self, settings: Settings, database: Database, workspace: int, liveness: Liveness) -> None:
        self._settings = settings
        self._database = database
        self._workspace = workspace
        self._liveness = liveness
        self._ledger = Ledger(database, workspace, liveness, settings.currency)
        self._patience = Patience(tries=settings.model_tries)
        self._chats: dict[str, CachedLLM] = {}
        self._opening = asyncio.Lock()
        self._embedders: dict[str, Embedder] = {}
        self._rerankers: dict[str, Reranker] = {}
        self._entailment: dict[str, OnnxEntailment] = {}
        self._extractors: dict[str, Extractor] = {}
        self._closing: list[Callable[[], Awaitable[None]]] = []

    async def aclose(self) -> None:
        """Give the connections to model servers back, and what was begun for calls that nobody waits for any longer."""
        for close in (*self._closing, self._ledger.aclose):
            await close()

    def wrap(self, llm: StreamingLLM) -> CachedLLM:
        """A chat model that is asked the same once, patiently, at the agreed pace, and is paid for."""
        paid = BudgetedLLM(CleanLLM(llm), self._ledger, price(self._settings, llm.model), doubted=_noting)
        patient = Retrying(LimitedLLM(paid, self._pace(llm.model)), self._patience, waiting=_waiting)
        return CachedLLM(patient, self._replies(llm.model))

    def wrap_embedder(self, embedder: Embedder, name: str) -> Embedder:
        """An embedding model in the same way. `name` is what its price is listed under."""
        paid = BudgetedEmbedder(embedder, self._ledger, price(self._settings, name))
        patient = RetryingEmbedder(LimitedEmbedder(paid, self._pace(name)), self._patience, waiting=_waiting)
        return CachedEmbedder(patient, self._replies(name))

    def chat(self, model: str) -> CachedLLM:
        """The chat model of that name."""
        if model not in self._chats:
            where = chat_endpoint(self._settings, model)
            context = self._settings.context_length or CONTEXT
            bare = models.open_chat(where, context=context, deadline=self._settings.deadline)
            self._closing.append(bare.close)
            self._chats[model] = self.wrap(bare)
        return self._chats[model]

    async def embedder(self, model: str) -> Embedder:
        """The embedding model of that name. One in this very process needs nothing round it: there is nothing to pay,
        to wait for or to keep."""
        # Its dimension is found out by asking, which may fail like any other call.
        return await patiently(partial(self._open_embedder, model), self._patience, Clock(), _waiting)

    async def _open_embedder(self, model: str) -> Embedder:
        async with self._opening:  # several who ask at once share one
            if model not in self._embedders:
                where = embedding_endpoint(self._settings, model)
                bare = await models.open_embedder(where, deadline=self._settings.deadline)
                if not isinstance(bare, OnnxEmbedder):
                    self._closing.append(bare.close)
                self._embedders[model] = bare if isinstance(bare, OnnxEmbedder) else self.wrap_embedder(bare, model)
        return self._embedders[model]

    async def reranker(self, name: str) -> Reranker:
        """What reranks by that name: `llm` is the language model that is set, other names are those of models."""
        async with self._opening:
            if name not in self._rerankers:
                self._rerankers[name] = self._asked_to_rerank() if name == "llm" else await self._open_reranker(name)
        return self._rerankers[name]

    def _asked_to_rerank(self) -> LLMReranker:
        if not self._settings.model:
            raise ConfigError(
                'the reranker llm needs a model. Set one in trueweave.toml, as in model = "ollama/llama3.1:8b", or '
                "name a model that reranks."
            )
        llm = self.chat(self._settings.model)
        return LLMReranker(llm, forget=llm.forget)

    async def _open_reranker(self, name: str) -> Reranker:
        bare = await models.open_reranker(reranker_endpoint(self._settings, name), deadline=self._settings.deadline)
        if isinstance(bare, OnnxReranker):
            return bare
        self._closing.append(bare.close)
        paid = BudgetedReranker(bare, self._ledger, price(self._settings, name))
        return RetryingReranker(LimitedReranker(paid, self._pace(name)), self._patience, waiting=_waiting)

    async def entailment(self, name: str) -> OnnxEntailment:
        """The model for natural language inference of that name, loaded once."""
        async with self._opening:
            if name not in self._entailment:
                self._entailment[name] = await models.open_entailment(name)
        return self._entailment[name]

    def extractor(self, recipe: Recipe) -> Extractor:
        """The extractor that a recipe names: one for equal recipes, as some take seconds to load."""
        if recipe.packed() not in self._extractors:
            self._extractors[recipe.packed()] = self._make_extractor(recipe)
        return self._extractors[recipe.packed()]

    def _make_extractor(self, recipe: Recipe) -> Extractor:
        if recipe.extractor == "capitals":
            return CapitalsExtractor()
        if recipe.extractor == "nlp":
            return NlpExtractor(recipe.pipeline)
        llm = self.chat(recipe.model)
        return LLMExtractor(
            llm,
            recipe.entity_types,
            max_gleaning=recipe.max_gleaning,
            max_paths_per_chunk=recipe.max_paths_per_chunk,
            max_tokens=recipe.max_reply_tokens,
            forget=llm.forget,
        )

    def prices(self, recipe: Recipe) -> Prices:
        """What an estimate by a recipe rests on."""
        embedding = self._settings.embedding_model or ""
        asked = self.extractor(recipe) if recipe.extractor == "llm" else None
        return Prices(
            asked if isinstance(asked, LLMExtractor) else None,
            price(self._settings, recipe.model) if recipe.model else FREE,
            embedding,
            price(self._settings, embedding) if embedding else FREE,
        )

    def kit(self, embedder: Embedder | None, llm: StreamingLLM | None) -> Kit:
        """What a worker works with. Reports are written by this model, or by that of the settings without one."""
        own = None if self._settings.extractor == "llm" and not self._settings.model else recipe(self._settings)
        return Kit(self.extractor, embedder, self._summarise(), self._report_writer(llm), own)

    def _summarise(self) -> Summarise | None:
        if not self._settings.model or self._settings.extractor not in ("auto", "llm"):
            return None
        return Summariser(self.chat(self._settings.model)).summarise

    def _report_writer(self, given: StreamingLLM | None) -> ReportWriter | None:
        if given is None and not self._settings.model:
            return None
        llm = self.wrap(given) if given else self.chat(self._settings.model or "")
        most = min(MAX_TOKENS, self._settings.max_reply_tokens)
        return ReportWriter(llm, budget=self._settings.report_tokens, max_tokens=most, forget=llm.forget)

    def _pace(self, model: str) -> SharedPace:
        agreed = Limits(
            self._settings.calls_at_once, self._settings.requests_per_minute, self._settings.tokens_per_minute
        )
        return SharedPace(self._database, self._workspace, self._liveness, model, agreed)

    def _replies(self, model: str) -> Replies:
        replies = Replies(self._database, self._workspace, self._liveness, model)
        self._closing.append(replies.aclose)
        return replies


def _waiting(reason: str) -> None:
    tell(Waiting(reason))


def _noting(what: str) -> None:
    tell(Noted(what))


@asynccontextmanager
async def opened(settings: Settings, database: Database, workspace: int) -> AsyncIterator[Workshop]:
    """A workshop, for as long as this process works in it."""
    async with (
        Liveness(database, settings.lease) as liveness,
        aclosing(Workshop(settings, database, workspace, liveness)) as workshop,
    ):
        yield workshop
