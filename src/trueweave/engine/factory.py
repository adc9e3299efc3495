"""From settings to models and extractors: what is wrapped round what, in one place."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing, asynccontextmanager
from decimal import Decimal
from functools import partial
from typing import Any, Self, cast

from trueweave.core.errors import ConfigError
from trueweave.core.money import Price
from trueweave.core.protocols import Chunker, Embedder, Extractor, Reranker, StreamingLLM
from trueweave.core.settings import Settings, secret
from trueweave.graph.contribution import Made
from trueweave.index.communities.writer import MAX_TOKENS, ReportWriter
from trueweave.ingest.estimate import Prices
from trueweave.ingest.extract.capitals import CapitalsExtractor
from trueweave.ingest.extract.graph_schema import GraphSchema
from trueweave.ingest.extract.llm import PROMPTS, LLMExtractor
from trueweave.ingest.extract.nlp import NlpExtractor
from trueweave.ingest.extract.summarise import Summariser
from trueweave.ingest.jobs import WorkerDependencies
from trueweave.ingest.own import Given, IngestContext, Parts
from trueweave.ingest.recipe import Recipe
from trueweave.ingest.stages import made_by
from trueweave.ingest.summaries import Summarise
from trueweave.ingest.trial import TrialLog
from trueweave.models import names, opening, prices
from trueweave.models.attempts import CallTerms
from trueweave.models.entailment import OnnxEntailment
from trueweave.models.missing import UnaskedLLM
from trueweave.models.names import Endpoint, endpoint, provider_name, provider_of
from trueweave.models.ollama import CONTEXT
from trueweave.models.onnx import OnnxEmbedder
from trueweave.models.openai import OpenAIEmbedder
from trueweave.models.opening import ChatModel
from trueweave.models.paid import PaidChat, PaidEmbedder, PaidReranker
from trueweave.models.prefixes import PrefixedEmbedder, Prefixes
from trueweave.models.prompts import BUILT_IN, PromptSet
from trueweave.models.rerank import LLMReranker, OnnxReranker, RerankServer
from trueweave.models.retry import Clock, Contact, Patience, Tries, retry
from trueweave.store.others import StoreClients
from trueweave.store.postgres.db import Database, Workspace
from trueweave.store.postgres.money.ledger import PostgresLedger
from trueweave.store.postgres.money.replies import PostgresReplies
from trueweave.store.postgres.queue.liveness import LEASE, Liveness
from trueweave.store.postgres.queue.rate_limit import RateLimits, SharedRateLimiter

FREE = Price(Decimal(0), Decimal(0))
_CALLS_A_SLOT = 2  # so that one is ready to be made when another ends


def recipe(settings: Settings, prompts: PromptSet = BUILT_IN) -> Recipe:
    """How documents are worked by these settings and prompts. What a parameter does not concern is left out, so that a
    change of it does not make documents new."""
    named = ("min_chunk_size", "max_chunk_size", "chunk_overlap", "chunker")
    sizes: dict[str, Any] = {name: getattr(settings, name) for name in named}
    if settings.chunker == "semantic":
        sizes["break_percentile"] = settings.break_percentile
    chosen = settings.extractor
    if chosen == "auto":
        chosen = "llm" if settings.model_for("extract") else "capitals"
    if chosen == "nlp":
        return Recipe(extractor=chosen, pipeline=settings.pipeline, **sizes)
    if chosen != "llm":
        return Recipe(extractor=chosen, **sizes)
    model = settings.model_for("extract")
    if not model:
        raise ConfigError(
            'the extractor llm needs a model. Set one in trueweave.toml, as in model = "ollama/llama3.1:8b", or choose '
            "another: --extractor capitals works without any model."
        )
    return Recipe(
        extractor=chosen,
        model=model,
        entity_types=settings.entity_types,
        max_gleaning=settings.max_gleaning,
        max_paths_per_chunk=settings.max_paths_per_chunk,
        max_reply_tokens=settings.max_reply_tokens,
        prompts=prompts.versions(*PROMPTS),
        relation_types=settings.relation_types,
        relation_patterns=settings.relation_patterns,
        strict_schema=settings.strict_schema,
        **sizes,
    )


def chat_endpoint(settings: Settings, model: str) -> Endpoint:
    """Where a chat model is, with its key from the environment."""
    return _endpoint(model, _chat_url(settings, model), chat_key_variable(settings, model))


def _chat_url(settings: Settings, model: str) -> str | None:
    return _of_model(settings, model, settings.model_urls, settings.model_url)


def check_name(settings: Settings, model: str) -> None:
    """Raise ConfigError for a model of a provider that is not known, as a mistyped one is. No key is needed."""
    is_embedding = model == settings.embedding_model
    names.check_name(model, settings.embedding_url if is_embedding else _chat_url(settings, model))


def chat_key_variable(settings: Settings, model: str) -> str | None:
    """The variable that the settings say holds a chat model's key; None where they say nothing of it."""
    return _of_model(settings, model, settings.model_key_variables, settings.model_key_variable)


def _of_model(settings: Settings, model: str, named: Mapping[str, str], common: str | None) -> str | None:
    """What is named for a chat model or its provider, or else what is set for `model` where that has the same
    provider: nobody else is sent its key, or asked at its address."""
    provider, own = provider_name(model), provider_name(settings.model or model)
    return named.get(model) or named.get(provider) or (common if provider == own else None)


def embedding_endpoint(settings: Settings, model: str) -> Endpoint:
    """Where an embedding model is, with its key from the environment."""
    return _endpoint(model, settings.embedding_url, settings.embedding_key_variable)


def prefixes(settings: Settings) -> Prefixes | None:
    """What the settings say is put before texts that are embedded; None where they say nothing."""
    said = settings.embedding_query_prefix, settings.embedding_document_prefix
    return None if said == (None, None) else Prefixes(said[0] or "", said[1] or "")


async def open_embedder(settings: Settings, model: str) -> OpenAIEmbedder | OnnxEmbedder:
    """The embedding model of that name by the settings, as it is on its server or this machine."""
    return await opening.open_embedder(
        embedding_endpoint(settings, model),
        deadline=settings.deadline,
        prefixes=prefixes(settings),
        folder=settings.model_folder,
    )


def prefixed(settings: Settings, embedder: Embedder) -> Embedder:
    """A model on a server with the prefixes of the settings; one on this machine puts them before its texts itself."""
    said = prefixes(settings)
    if said is None or isinstance(embedder, OnnxEmbedder):
        return embedder
    return PrefixedEmbedder(embedder, said)


def reranker_endpoint(settings: Settings, model: str) -> Endpoint:
    """Where a model that reranks is, with its key from the environment."""
    return _endpoint(model, settings.reranker_url, settings.reranker_key_variable)


def _endpoint(model: str, url: str | None, key_variable: str | None) -> Endpoint:
    provider = provider_of(model)
    variable = key_variable or (provider.key_variable if provider else "")
    key = secret(variable) if variable else None
    if key_variable and not key:
        raise ConfigError(f"{model} needs a key, which the settings say is in {key_variable}. Set that variable to it.")
    return endpoint(model, url=url, key=key)


def price(settings: Settings, model: str) -> Price | None:
    """What a model costs: as the settings say, nothing on one's own machine, else as the list says that comes with
    Trueweave, where prices are in its currency; and otherwise not known."""
    if said := settings.prices.get(model):
        return Price(*said)
    provider = provider_of(model)
    if provider and provider.local:
        return FREE
    return prices.listed(model) if settings.currency == prices.CURRENCY else None


class ModelFactory:
    """What a process has once, however many workspaces it works in: clients of model servers and other stores, models
    in memory, its liveness and the rate limiters. Models are opened when they are first needed, and shared by all who
    need them."""

    def __init__(self, database: Database, lease: float = LEASE) -> None:
        self.stores = StoreClients()
        self._liveness = Liveness(database, lease)
        self._elsewhere: dict[Database, Liveness] = {}
        self._database = database
        self._lease = lease
        self._opening = asyncio.Lock()
        self._closing = AsyncExitStack()
        self._is_alive = False
        self._chats: dict[tuple[Endpoint, int, float], ChatModel] = {}
        self._opened: dict[tuple[object, ...], asyncio.Task[Any]] = {}
        self._pipelines: dict[str, NlpExtractor] = {}
        self._limiters: dict[tuple[str, RateLimits], SharedRateLimiter] = {}

    async def aclose(self) -> None:
        """Give the connections to model servers back, and the process's lease."""
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
        """This process as others see it, registered when it is first asked for, on all servers under the same number;
        as those see it who work in another `database` than the home."""
        async with self._opening:
            if not self._is_alive:
                await self._closing.enter_async_context(self._liveness)
                for other in self._database.servers.others if self._database.servers else ():
                    following = Liveness(other, self._lease, follows=self._liveness)
                    self._elsewhere[other] = await self._closing.enter_async_context(following)
                self._is_alive = True
        return self._elsewhere.get(database or self._database, self._liveness)

    async def models(
        self,
        workspace: Workspace,
        settings: Settings,
        prompts: PromptSet = BUILT_IN,
        given: Given = Given(),  # noqa: B008 (immutable)
    ) -> WorkspaceModels:
        """The models of a workspace by its settings, which are asked with these prompts; and extractors and chunkers,
        where one that was `given` takes the place of that of the settings."""
        return WorkspaceModels(self, workspace, settings, await self.liveness(), prompts, given)

    def chat(self, where: Endpoint, context: int, deadline: float) -> ChatModel:
        """The client of a chat model."""
        key = where, context, deadline
        if key not in self._chats:
            self._chats[key] = opening.open_chat(where, context=context, deadline=deadline)
            self._closing.push_async_callback(self._chats[key].close)
        return self._chats[key]

    async def embedder(self, settings: Settings, model: str) -> OpenAIEmbedder | OnnxEmbedder:
        """An embedding model, its dimension known."""
        where = embedding_endpoint(settings, model)
        key = "embedder", where, settings.deadline, prefixes(settings), settings.model_folder
        opened = self._once(key, lambda: open_embedder(settings, model))
        return cast("OpenAIEmbedder | OnnxEmbedder", await opened)

    async def reranker(self, where: Endpoint, deadline: float) -> RerankServer | OnnxReranker:
        """A model that reranks."""
        opened = self._once(("reranker", where, deadline), lambda: opening.open_reranker(where, deadline=deadline))
        return cast("RerankServer | OnnxReranker", await opened)

    async def entailment(self, name: str) -> OnnxEntailment:
        """A model for natural language inference."""
        opened = self._once(("entailment", name), lambda: opening.open_entailment(name))
        return cast("OnnxEntailment", await opened)

    async def _once(self, key: tuple[object, ...], open_: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        """What was opened under this key, or is being opened. One that could not be opened is tried again."""

        async def opened() -> Any:
            made = await open_()
            if not isinstance(made, OnnxEmbedder | OnnxReranker | OnnxEntailment):
                self._closing.push_async_callback(made.close)
            return made

        found = self._opened.get(key)
        if found is None or (found.done() and (found.cancelled() or found.exception())):
            found = self._opened[key] = asyncio.create_task(opened())
        return await asyncio.shield(found)  # others may wait for the same

    def pipeline(self, name: str) -> NlpExtractor:
        """The extractor with a spaCy pipeline, which takes seconds to load."""
        if name not in self._pipelines:
            self._pipelines[name] = NlpExtractor(name)
        return self._pipelines[name]

    def rate_limiter(self, model: str, limits: RateLimits) -> SharedRateLimiter:
        """What bounds the calls to a model."""
        key = model, limits
        if key not in self._limiters:
            self._limiters[key] = SharedRateLimiter(self._database, self._liveness, model, limits)
        return self._limiters[key]


@asynccontextmanager
async def opened_models(database: Database, lease: float) -> AsyncIterator[ModelFactory]:
    """What a process needs to work with models. An event loop that ends closes it, where nobody else does."""
    async with ModelFactory(database, lease) as factory:
        yield factory


@asynccontextmanager
async def models_of_load(workspace: Workspace, settings: Settings, given: Given) -> AsyncIterator[WorkspaceModels]:
    """The models of a workspace, for a process of a bulk load."""
    folder = settings.prompt_folder
    prompts = await asyncio.to_thread(PromptSet.from_folder, folder) if folder else BUILT_IN
    async with (
        ModelFactory(workspace.database, settings.lease) as factory,
        aclosing(await factory.models(workspace, settings, prompts, given)) as models,
    ):
        yield models


class WorkspaceModels:
    """The models of one workspace by its settings: paid from its budget, its replies kept; and extractors made with
    them. Made by `ModelFactory.models`, whose clients and limiters it shares."""

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
        self._ledger = PostgresLedger(workspace, liveness, settings.currency)
        self._patience = Patience(tries=settings.model_tries)
        self._contacts = defaultdict[str, Contact](Contact)
        self._limits = RateLimits(settings.calls_at_once, settings.requests_per_minute, settings.tokens_per_minute)
        self._chats: dict[str, PaidChat] = {}
        self._embedders: dict[str, Embedder] = {}
        self._rerankers: dict[str, Reranker] = {}
        self._extractors: dict[str, Extractor] = {}
        self._replies: dict[str, PostgresReplies] = {}
        self._own_parts: Parts | None = None

    async def aclose(self) -> None:
        """Wait for what was begun for calls that nobody waits for any longer."""
        for close in (*(replies.aclose for replies in self._replies.values()), self._ledger.aclose):
            await close()

    def run_budget(self, price: Decimal | None, tokens: int | None) -> AbstractAsyncContextManager[None]:
        """A budget for what is spent inside, over all workers, besides that of the workspace."""
        return self._ledger.run_budget(price, tokens)

    def unasked(self) -> WorkspaceModels:
        """The same for who only counts: no chat model is asked, so none needs a key."""
        return WorkspaceModels(
            self._factory, self._workspace, self._settings, self._liveness, self._prompts, self.given, asks=False
        )

    def paid_chat(self, llm: StreamingLLM) -> PaidChat:
        """A chat model that is paid from the budget of this workspace, with its cache and the rate limit of the
        model."""
        terms = self._terms(llm.model, chat_key_variable(self._settings, llm.model))
        return PaidChat(llm, self._stored(llm.model), terms)

    def paid_embedder(self, embedder: Embedder, name: str) -> PaidEmbedder:
        """An embedding model in the same way. `name` is what its price is listed under."""
        return PaidEmbedder(embedder, self._stored(name), self._terms(name, self._settings.embedding_key_variable))

    def paid_reranker(self, reranker: Reranker, name: str) -> PaidReranker:
        """A reranker in the same way, without a cache."""
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
        )

    def chat(self, model: str) -> PaidChat:
        """The chat model of that name."""
        if model not in self._chats:
            self._chats[model] = self.paid_chat(self._open_chat(model))
        return self._chats[model]

    def _open_chat(self, model: str) -> StreamingLLM:
        if not self._asks:
            check_name(self._settings, model)
            return UnaskedLLM(model)
        context = self._settings.context_length or CONTEXT
        return self._factory.chat(chat_endpoint(self._settings, model), context, self._settings.deadline)

    async def embedder(self, model: str) -> Embedder:
        """The embedding model of that name. One in this process is used as it is: nothing has to be paid, limited or
        cached."""
        # Its dimension is found out by asking, which may fail like any other call.
        open_ = partial(self._open_embedder, model)
        return await retry(open_, Tries(model, self._patience, Clock(), self._contacts[model]))

    async def _open_embedder(self, model: str) -> Embedder:
        if model not in self._embedders:
            bare = await self._factory.embedder(self._settings, model)
            is_local = isinstance(bare, OnnxEmbedder)
            made = bare if is_local else prefixed(self._settings, self.paid_embedder(bare, model))
            self._embedders.setdefault(model, made)
        return self._embedders[model]

    async def reranker(self, name: str) -> Reranker:
        """What reranks by that name: `llm` is the language model that is set, other names are those of models."""
        if name not in self._rerankers:
            made = self._asked_to_rerank() if name == "llm" else await self._open_reranker(name)
            self._rerankers.setdefault(name, made)
        return self._rerankers[name]

    def _asked_to_rerank(self) -> LLMReranker:
        model = self._settings.model_for("keywords")
        if not model:
            raise ConfigError(
                'the reranker llm needs a model. Set one in trueweave.toml, as in model = "ollama/llama3.1:8b", or '
                "name a model that reranks."
            )
        llm = self.chat(model)
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
        """How documents are worked here."""
        return self._parts.fingerprinted(recipe(self.given.outweighing(self._settings), self._prompts))

    @property
    def _parts(self) -> Parts:
        """Extractors and chunkers of a user's own, made when they are first needed."""
        if self._own_parts is None:
            model = self._settings.model_for("extract")
            llm = self.chat(model) if model else None
            self._own_parts = self._parts_with(llm)
        return self._own_parts

    def _parts_with(self, llm: StreamingLLM | None) -> Parts:
        return Parts(self.given, IngestContext(self._settings, llm, self.embedder_of_documents))

    async def embedder_of_documents(self) -> Embedder | None:
        """What documents are embedded with: what was given, or the model that the settings name, if any."""
        if self.given.embedder:
            return self.given.embedder
        name = self._settings.embedding_model
        return await self.embedder(name) if name else None

    def chunker(self, recipe: Recipe) -> Chunker:
        """The chunker that a recipe names."""
        return self._parts.chunker(recipe)

    def made(self, recipe: Recipe) -> Made:
        """How a document is made by a recipe. What it lacks is an error."""
        return made_by(recipe, self.extractor(recipe), self.chunker(recipe))

    def extractor(self, recipe: Recipe) -> Extractor:
        """The extractor that a recipe names: one for equal recipes, as some take seconds to load."""
        if recipe.packed() not in self._extractors:
            self._extractors[recipe.packed()] = self._make_extractor(recipe)
        return self._extractors[recipe.packed()]

    def trial_extractor(self, recipe: Recipe, log: TrialLog) -> Extractor:
        """The extractor that a recipe names, made anew so that the log hears what it asks and what it leaves out. One
        that was given ready made is used as it is."""
        return self._make_extractor(recipe, log)

    def _make_extractor(self, recipe: Recipe, log: TrialLog | None = None) -> Extractor:
        if recipe.extractor == "capitals":
            return CapitalsExtractor()
        if recipe.extractor == "nlp":
            return self._factory.pipeline(recipe.pipeline)
        if recipe.extractor != "llm":
            own = self._settings.model_for("extract") if log else None
            return (self._parts_with(log.listening(self.chat(own))) if log and own else self._parts).extractor(recipe)
        self._check_prompts(recipe)
        llm = self.chat(recipe.model)
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
        )

    def _check_prompts(self, recipe: Recipe) -> None:
        """Raise ConfigError where a document is to be asked about with other prompts than there are here."""
        here = self._prompts.versions(*PROMPTS)
        if other := sorted(name for name, _ in here.items() ^ recipe.prompts.items()):
            names = ", ".join(dict.fromkeys(other))
            raise ConfigError(
                f"it was added with another prompt {names} than this process has. Set prompt_folder to the same folder "
                "for all who work in this workspace, and add it again."
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

    def dependencies(self, embedder: Embedder | None, llm: StreamingLLM | None) -> WorkerDependencies:
        """What a worker works with. Reports are written by this model, or by that of the settings without one."""
        chosen = self.given.outweighing(self._settings).extractor
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
        )

    def _summarise(self) -> Summarise | None:
        chosen, model = self.given.outweighing(self._settings).extractor, self._settings.model_for("extract")
        if not model or chosen not in ("auto", "llm"):
            return None
        return Summariser(self.chat(model), prompts=self._prompts).summarise

    def _report_writer(self, given: StreamingLLM | None) -> ReportWriter | None:
        model = self._settings.model_for("report")
        if given is None and not model:
            return None
        llm = self.paid_chat(given) if given else self.chat(model or "")
        most = min(MAX_TOKENS, self._settings.max_reply_tokens)
        return ReportWriter(
            llm, budget=self._settings.report_tokens, max_tokens=most, forget=llm.forget, prompts=self._prompts
        )

    def _limiter(self, model: str, key_variable: str | None) -> SharedRateLimiter:
        """A key of one's own has limits of its own."""
        return self._factory.rate_limiter(f"{model}@{key_variable}" if key_variable else model, self._limits)

    def _stored(self, model: str) -> PostgresReplies:
        if model not in self._replies:
            self._replies[model] = PostgresReplies(self._workspace, self._liveness, model)
        return self._replies[model]
