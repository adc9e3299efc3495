"""The models of one workspace according to its settings, and the extractors that use them."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from decimal import Decimal
from functools import partial

from trueweave.core.errors import ConfigError
from trueweave.core.model_calls import ModelRole
from trueweave.core.model_options import ModelOptions
from trueweave.core.protocols import Chunker, Embedder, Extractor, LangChainEmbeddings, Reranker, StreamingLLM
from trueweave.core.record import Source
from trueweave.core.settings import Settings
from trueweave.engine.factory import ModelFactory
from trueweave.engine.model_settings import (
    FREE,
    chat_endpoint,
    chat_key_variable,
    check_name,
    prefixed,
    price,
    recipe,
    reranker_endpoint,
)
from trueweave.graph.contribution import Made
from trueweave.index.communities.writer import MAX_TOKENS, ReportWriter
from trueweave.ingest.describe import PictureDescriber
from trueweave.ingest.estimate import Prices
from trueweave.ingest.extract.capitals import CapitalsExtractor
from trueweave.ingest.extract.graph_schema import GraphSchema
from trueweave.ingest.extract.llm import PROMPTS, LLMExtractor
from trueweave.ingest.extract.summarise import Summariser
from trueweave.ingest.jobs import WorkerDependencies
from trueweave.ingest.own import Given, IngestContext, Parts
from trueweave.ingest.recipe import Recipe
from trueweave.ingest.stages import made_by
from trueweave.ingest.summaries import Summarise
from trueweave.ingest.trial import TrialLog
from trueweave.models.attempts import CallTerms
from trueweave.models.entailment import OnnxEntailment
from trueweave.models.from_langchain import opened_embeddings
from trueweave.models.missing import UnaskedLLM
from trueweave.models.ollama import CONTEXT
from trueweave.models.opening import InProcessEmbedder
from trueweave.models.options import NO_OPTIONS, variant
from trueweave.models.paid import PaidChat, PaidEmbedder, PaidReranker
from trueweave.models.prompts import BUILT_IN, PromptSet
from trueweave.models.rerank import LLMReranker, OnnxReranker
from trueweave.models.retry import Clock, Contact, Patience, Tries, retry
from trueweave.models.stored_replies import cached_name
from trueweave.store.postgres.db import Workspace
from trueweave.store.postgres.money.ledger import PostgresLedger
from trueweave.store.postgres.money.replies import PostgresReplies
from trueweave.store.postgres.queue.liveness import Liveness
from trueweave.store.postgres.queue.rate_limit import RateLimits, SharedRateLimiter

_CALLS_A_SLOT = 2  # so that the next call is prepared when a slot becomes free


@asynccontextmanager
async def models_of_load(workspace: Workspace, settings: Settings, given: Given) -> AsyncIterator[WorkspaceModels]:
    """The models of a workspace, for a process of a bulk load."""
    folder = settings.prompt_folder
    prompts = await asyncio.to_thread(PromptSet.from_folder, folder) if folder else BUILT_IN
    async with (
        ModelFactory(workspace.database, settings.lease) as factory,
        aclosing(await WorkspaceModels.open(factory, workspace, settings, prompts, given)) as models,
    ):
        yield models


class WorkspaceModels:
    """The models of one workspace, paid from its budget and using its cache, and the extractors that use them. `open`
    makes one from the clients and rate limiters of a factory."""

    def __init__(
        self,
        factory: ModelFactory,
        workspace: Workspace,
        settings: Settings,
        liveness: Liveness,
        prompts: PromptSet = BUILT_IN,
        given: Given = Given(),  # noqa: B008 (immutable)
        *,
        asks: bool = True,
    ) -> None:
        self._asks = asks
        self._factory = factory
        self._workspace = workspace
        self._settings = settings
        self._liveness = liveness
        self._prompts = prompts
        self.given = given
        self._langchain_chat = given.langchain.opened_chat(settings)
        self._ledger = PostgresLedger(workspace, liveness, settings.currency)
        self._patience = Patience(tries=settings.model_tries)
        self._contacts = defaultdict[str, Contact](Contact)
        self._limits = RateLimits(settings.calls_at_once, settings.requests_per_minute, settings.tokens_per_minute)
        self._chats: dict[tuple[str, str], PaidChat] = {}
        self._embedders: dict[str, Embedder] = {}
        self._rerankers: dict[str, Reranker] = {}
        self._extractors: dict[str, Extractor] = {}
        self._replies: dict[str, PostgresReplies] = {}
        self._own_parts: Parts | None = None

    @classmethod
    async def open(
        cls,
        factory: ModelFactory,
        workspace: Workspace,
        settings: Settings,
        prompts: PromptSet = BUILT_IN,
        given: Given = Given(),  # noqa: B008 (immutable)
    ) -> WorkspaceModels:
        """The models of a workspace according to its settings, with these prompts. A `given` extractor or chunker
        replaces that of the settings."""
        return cls(factory, workspace, settings, await factory.liveness(), prompts, given)

    async def aclose(self) -> None:
        """Wait until cancelled calls have released what they held."""
        for close in (*(replies.aclose for replies in self._replies.values()), self._ledger.aclose):
            await close()

    def run_budget(self, price: Decimal | None, tokens: int | None) -> AbstractAsyncContextManager[None]:
        """A budget for spending inside the block, over all workers, in addition to that of the workspace."""
        return self._ledger.run_budget(price, tokens)

    def unasked(self) -> WorkspaceModels:
        """The same for estimates: chat models are not called, so they need no key."""
        return WorkspaceModels(
            self._factory, self._workspace, self._settings, self._liveness, self._prompts, self.given, asks=False
        )

    def paid_chat(self, llm: StreamingLLM, variant: str = "") -> PaidChat:
        """A chat model paid from the budget of this workspace, with its cache and the rate limit of the model."""
        terms = self._terms(llm.model, chat_key_variable(self._settings, llm.model))
        return PaidChat(llm, self._stored(llm.model), terms, variant)

    def paid_embedder(self, embedder: Embedder, name: str) -> PaidEmbedder:
        """An embedding model, likewise paid, cached and rate-limited. `name` is the one its price is listed under."""
        return PaidEmbedder(embedder, self._stored(name), self._terms(name, self._settings.embedding_key_variable))

    def paid_reranker(self, reranker: Reranker, name: str) -> PaidReranker:
        """A reranker, likewise paid and rate-limited, but without a cache."""
        return PaidReranker(reranker, self._terms(name, self._settings.reranker_key_variable))

    def _terms(self, model: str, key_variable: str | None) -> CallTerms:
        return CallTerms(
            self._ledger,
            self._limiter(model, key_variable),
            asyncio.Semaphore(_CALLS_A_SLOT * self._settings.calls_at_once),
            price(self._settings, model),
            self._settings.currency,
            self._patience,
            contact=self._contacts[model],
            traces_content=self._settings.trace_content,
        )

    def chat(self, model: str, options: ModelOptions = NO_OPTIONS) -> PaidChat:
        """The chat model of that name, with these options."""
        key = model, self._variant(model, options)
        if key not in self._chats:
            self._chats[key] = self.paid_chat(self._open_chat(model, options), key[1])
        return self._chats[key]

    def _variant(self, model: str, options: ModelOptions) -> str:
        own = self._langchain_chat
        if own is None or own.model != model:
            return variant(options)
        if options:
            raise ConfigError(
                f"model_options sets {', '.join(options)} for {model}, which is a model of LangChain. Set it where "
                "that model is made, and remove it from model_options."
            )
        return own.variant

    def chat_for(self, role: ModelRole) -> PaidChat | None:
        """The chat model of the settings for a role; None if they name none."""
        model = self._settings.model_for(role)
        return self.chat(model, self._settings.options_for(role)) if model else None

    def _open_chat(self, model: str, options: ModelOptions) -> StreamingLLM:
        if self._langchain_chat and self._langchain_chat.model == model:
            return self._langchain_chat
        if not self._asks:
            check_name(self._settings, model)
            return UnaskedLLM(model)
        context = self._settings.context_length or CONTEXT
        return self._factory.chat(chat_endpoint(self._settings, model), context, self._settings.deadline, options)

    async def embedder(self, model: str) -> Embedder:
        """The embedding model of that name. A local model is used directly: it has no price, rate limit or cache."""
        # Its dimension is found by calling it, which may fail like any other call.
        open_ = partial(self._open_embedder, model)
        return await retry(open_, Tries(model, self._patience, Clock(), self._contacts[model]))

    async def _open_embedder(self, model: str) -> Embedder:
        if model not in self._embedders:
            own = self.given.langchain
            if own.embeddings and model == own.embedding_name:
                self._embedders[model] = await self.paid_embeddings(own.embeddings)
                return self._embedders[model]
            bare = await self._factory.embedder(self._settings, model)
            is_local = isinstance(bare, InProcessEmbedder)
            made = bare if is_local else prefixed(self._settings, self.paid_embedder(bare, model))
            self._embedders.setdefault(model, made)
        return self._embedders[model]

    async def paid_embeddings(self, embeddings: LangChainEmbeddings) -> Embedder:
        """An embedding model of LangChain, paid, cached and rate-limited, with the prefixes of the settings."""
        bare = await opened_embeddings(embeddings, self._settings)
        return prefixed(self._settings, self.paid_embedder(bare, bare.model))

    async def reranker(self, name: str) -> Reranker:
        """The reranker of that name: `llm` is the configured language model, other names are those of models."""
        if name not in self._rerankers:
            made = self._asked_to_rerank() if name == "llm" else await self._open_reranker(name)
            self._rerankers.setdefault(name, made)
        return self._rerankers[name]

    def _asked_to_rerank(self) -> LLMReranker:
        llm = self.chat_for("keywords")
        if llm is None:
            raise ConfigError(
                'the reranker llm needs a model. Set one in trueweave.toml, as in model = "ollama/llama3.1:8b", or '
                "name a model that reranks."
            )
        return LLMReranker(llm, forget=llm.forget, prompts=self._prompts)

    async def _open_reranker(self, name: str) -> Reranker:
        bare = await self._factory.reranker(reranker_endpoint(self._settings, name), self._settings.deadline)
        if isinstance(bare, OnnxReranker):
            return bare
        return self.paid_reranker(bare, name)

    async def entailment(self, name: str) -> OnnxEntailment:
        """The model for natural language inference of that name, loaded once."""
        return await self._factory.entailment(name)

    def recipe(self) -> Recipe:
        """How documents are processed here."""
        return self._parts.fingerprinted(recipe(self.given.overriding(self._settings), self._prompts))

    @property
    def _parts(self) -> Parts:
        """The user's own extractors and chunkers, made when first needed."""
        if self._own_parts is None:
            self._own_parts = self._parts_with(self.chat_for("extract"))
        return self._own_parts

    def _parts_with(self, llm: StreamingLLM | None) -> Parts:
        return Parts(self.given, IngestContext(self._settings, llm, self.embedder_of_documents))

    async def embedder_of_documents(self) -> Embedder | None:
        """The embedder for documents: the one passed in, or the model named in the settings, if any."""
        if self.given.embedder:
            return self.given.embedder
        name = self._settings.embedding_model
        return await self.embedder(name) if name else None

    def chunker(self, recipe: Recipe) -> Chunker:
        """The chunker that a recipe names."""
        return self._parts.chunker(recipe)

    def made(self, recipe: Recipe) -> Made:
        """How a recipe makes documents. Raises an error if something it needs is missing."""
        return made_by(recipe, self.extractor(recipe), self.chunker(recipe))

    def extractor(self, recipe: Recipe) -> Extractor:
        """The extractor that a recipe names. Equal recipes share one, as some take seconds to load."""
        if recipe.packed() not in self._extractors:
            self._extractors[recipe.packed()] = self._make_extractor(recipe)
        return self._extractors[recipe.packed()]

    def trial_extractor(self, recipe: Recipe, log: TrialLog) -> Extractor:
        """The extractor that a recipe names, made anew so that the log records what it asks and what it leaves out. An
        extractor that was passed in as an instance is used as it is."""
        return self._make_extractor(recipe, log)

    def _make_extractor(self, recipe: Recipe, log: TrialLog | None = None) -> Extractor:
        if recipe.extractor == "capitals":
            return CapitalsExtractor()
        if recipe.extractor == "nlp":
            return self._factory.pipeline(recipe.pipeline)
        if recipe.extractor != "llm":
            own = self.chat_for("extract") if log else None
            return (self._parts_with(log.listening(own)) if log and own else self._parts).extractor(recipe)
        self._check_prompts(recipe)
        llm = self.chat(recipe.model, recipe.model_options)
        return LLMExtractor(
            log.listening(llm) if log else llm,
            GraphSchema.of(
                recipe.entity_types, recipe.relation_types, recipe.relation_patterns, strict=recipe.strict_schema
            ),
            max_gleaning=recipe.max_gleaning,
            max_paths_per_chunk=recipe.max_paths_per_chunk,
            max_tokens=recipe.max_reply_tokens,
            forget=llm.forget,
            prompts=self._prompts,
            left_out=log.left_out.append if log else None,
            unit_size=recipe.extraction_chunk_size,
        )

    def _check_prompts(self, recipe: Recipe) -> None:
        """Raise ConfigError if a document was added with prompts other than those of this process."""
        here = self._prompts.versions(*PROMPTS)
        if other := sorted(name for name, _ in here.items() ^ recipe.prompts.items()):
            names = ", ".join(dict.fromkeys(other))
            raise ConfigError(
                f"it was added with another prompt {names} than this process has. Set prompt_folder to the same folder "
                "for all who work in this workspace, and add it again."
            )

    def prices(self, recipe: Recipe) -> Prices:
        """What an estimate for a recipe is based on."""
        embedding = self._settings.embedding_model or ""
        vision = self._settings.model_for("vision") or ""
        asked = self.extractor(recipe) if recipe.extractor == "llm" else None
        return Prices(
            asked if isinstance(asked, LLMExtractor) else None,
            price(self._settings, recipe.model) if recipe.model else FREE,
            embedding,
            price(self._settings, embedding) if embedding else FREE,
            vision,
            price(self._settings, vision) if vision else FREE,
            self._prompts,
            cached_name(recipe.model, self._variant(recipe.model, recipe.model_options)),
            cached_name(vision, variant(self._settings.options_for("vision"))),
        )

    def dependencies(self, embedder: Embedder | None, llm: StreamingLLM | None) -> WorkerDependencies:
        """What a worker needs. Reports are written by `llm`, or by the model in the settings if it is None."""
        chosen = self.given.overriding(self._settings).extractor
        own = None if chosen == "llm" and not self._settings.model_for("extract") else self.recipe()
        return WorkerDependencies(
            self.extractor,
            embedder,
            self._summarise(),
            self._report_writer(llm),
            own,
            self._settings.tries,
            self._settings.try_again_after,
            self.chunker,
            self.describe,
        )

    async def describe(self, source: Source) -> Source:
        """The document with descriptions of its pictures, by the model that it was submitted with."""
        for model in {picture.model for picture in source.pictures}:
            llm = self.chat(model, self._settings.options_for("vision"))
            return await PictureDescriber(llm, self._prompts).describe(source)
        return source

    def _summarise(self) -> Summarise | None:
        chosen, llm = self.given.overriding(self._settings).extractor, self.chat_for("extract")
        if llm is None or chosen not in ("auto", "llm"):
            return None
        return Summariser(llm, prompts=self._prompts).summarise

    def _report_writer(self, given: StreamingLLM | None) -> ReportWriter | None:
        llm = self.paid_chat(given) if given else self.chat_for("report")
        if llm is None:
            return None
        most = min(MAX_TOKENS, self._settings.max_reply_tokens)
        return ReportWriter(
            llm,
            budget=self._settings.report_tokens,
            max_tokens=most,
            forget=llm.forget,
            prompts=self._prompts,
            cached_as=llm.cached_as,
        )

    def _limiter(self, model: str, key_variable: str | None) -> SharedRateLimiter:
        """The rate limiter of a model; a separate one if the model has its own key."""
        return self._factory.rate_limiter(f"{model}@{key_variable}" if key_variable else model, self._limits)

    def _stored(self, model: str) -> PostgresReplies:
        if model not in self._replies:
            self._replies[model] = PostgresReplies(self._workspace, self._liveness, model)
        return self._replies[model]
