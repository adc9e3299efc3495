"""From settings to the endpoints, keys, prefixes and prices of models, and to the recipe of documents."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from trueweave.core.errors import ConfigError
from trueweave.core.money import Price
from trueweave.core.protocols import Embedder
from trueweave.core.settings import Settings, secret
from trueweave.ingest.extract.llm import PROMPTS
from trueweave.ingest.recipe import Recipe
from trueweave.models import names, opening, prices
from trueweave.models.names import Endpoint, endpoint, provider_name, provider_of
from trueweave.models.openai import OpenAIEmbedder
from trueweave.models.prefixes import PrefixedEmbedder, Prefixes
from trueweave.models.prompts import BUILT_IN, PromptSet

FREE = Price(Decimal(0), Decimal(0))


def recipe(settings: Settings, prompts: PromptSet = BUILT_IN) -> Recipe:
    """How documents are processed with these settings and prompts. Parameters that the extractor does not use are left
    out, so that changing them does not make documents out of date."""
    named = ("min_chunk_size", "max_chunk_size", "chunk_overlap", "chunker", "short_names")
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
    together = settings.extraction_chunk_size or 0
    if 0 < together < settings.max_chunk_size:
        raise ConfigError(
            f"extraction_chunk_size is {together} tokens; it must be at least max_chunk_size, which is "
            f"{settings.max_chunk_size}. Raise it, or unset it for extraction from each chunk by itself."
        )
    return Recipe(
        extractor=chosen,
        model=model,
        extraction_chunk_size=together,
        model_options=settings.options_for("extract"),
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
    """The endpoint of a chat model, with its key from the environment."""
    return _endpoint(model, _chat_url(settings, model), chat_key_variable(settings, model))


def _chat_url(settings: Settings, model: str) -> str | None:
    return _of_model(settings, model, settings.model_urls, settings.model_url)


def check_name(settings: Settings, model: str) -> None:
    """Raise ConfigError if the provider of a model is unknown, for example mistyped. Needs no key."""
    is_embedding = model == settings.embedding_model
    names.check_name(model, settings.embedding_url if is_embedding else _chat_url(settings, model))


def chat_key_variable(settings: Settings, model: str) -> str | None:
    """The environment variable that the settings name for the key of a chat model; None if they name none."""
    return _of_model(settings, model, settings.model_key_variables, settings.model_key_variable)


def _of_model(settings: Settings, model: str, named: Mapping[str, str], common: str | None) -> str | None:
    """The value that is set for this chat model or its provider. The common value is used only for models of the same
    provider as `settings.model`, so that a key is never sent to another provider."""
    provider, own = provider_name(model), provider_name(settings.model or model)
    return named.get(model) or named.get(provider) or (common if provider == own else None)


def embedding_endpoint(settings: Settings, model: str) -> Endpoint:
    """The endpoint of an embedding model, with its key from the environment."""
    return _endpoint(model, settings.embedding_url, settings.embedding_key_variable)


def prefixes(settings: Settings) -> Prefixes | None:
    """The prefixes that the settings have for embedded texts; None if they have none."""
    said = settings.embedding_query_prefix, settings.embedding_document_prefix
    return None if said == (None, None) else Prefixes(said[0] or "", said[1] or "")


async def open_embedder(settings: Settings, model: str) -> OpenAIEmbedder | opening.InProcessEmbedder:
    """The client of an embedding model on a server, or the model itself on this machine."""
    return await opening.open_embedder(
        embedding_endpoint(settings, model),
        deadline=settings.deadline,
        prefixes=prefixes(settings),
        folder=settings.model_folder,
    )


def prefixed(settings: Settings, embedder: Embedder) -> Embedder:
    """An embedder on a server with the prefixes of the settings. A local model adds them itself."""
    said = prefixes(settings)
    if said is None or isinstance(embedder, opening.InProcessEmbedder):
        return embedder
    return PrefixedEmbedder(embedder, said)


def reranker_endpoint(settings: Settings, model: str) -> Endpoint:
    """The endpoint of a reranker, with its key from the environment."""
    return _endpoint(model, settings.reranker_url, settings.reranker_key_variable)


def _endpoint(model: str, url: str | None, key_variable: str | None) -> Endpoint:
    provider = provider_of(model)
    variable = key_variable or (provider.key_variable if provider else "")
    key = secret(variable) if variable else None
    if key_variable and not key:
        raise ConfigError(f"{model} needs a key, which the settings say is in {key_variable}. Set that variable to it.")
    return endpoint(model, url=url, key=key)


def price(settings: Settings, model: str) -> Price | None:
    """The price of a model: from the settings; zero for a local model; from the built-in list, if the currency is the
    same; None if it is unknown."""
    if said := settings.prices.get(model):
        return Price(*said)
    provider = provider_of(model)
    if provider and provider.local:
        return FREE
    return prices.listed(model) if settings.currency == prices.CURRENCY else None
