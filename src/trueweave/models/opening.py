"""Opening models that chat, embed or rerank, on servers or on this machine, by their endpoints.

Importing this also imports the clients of model servers, which takes longer than everything else: code that needs no
model should not import it.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Protocol

from trueweave.core.errors import ConfigError
from trueweave.core.model_options import ModelOptions
from trueweave.core.protocols import StreamingLLM
from trueweave.models import catalogue, hub
from trueweave.models.chat import DEADLINE
from trueweave.models.demo import DemoEmbedder
from trueweave.models.entailment import OnnxEntailment
from trueweave.models.names import Endpoint
from trueweave.models.ollama import CONTEXT, OllamaChat
from trueweave.models.onnx import MOST_AT_ONCE, OnnxEmbedder
from trueweave.models.openai import OpenAIChat, OpenAIEmbedder
from trueweave.models.options import NO_OPTIONS
from trueweave.models.prefixes import NO_PREFIXES, Prefixes
from trueweave.models.rerank import OnnxReranker, RerankServer

InProcessEmbedder = OnnxEmbedder | DemoEmbedder  # without a price, a rate limit or connections to close
_ONLY_CHAT = ("anthropic", "bedrock")


class ChatModel(StreamingLLM, Protocol):
    """The client of a chat model on a server."""

    async def context_length(self) -> int | None:
        """The maximum number of tokens of prompt and reply together; None if unknown."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


def open_chat(
    endpoint: Endpoint, *, context: int = CONTEXT, deadline: float = DEADLINE, options: ModelOptions = NO_OPTIONS
) -> ChatModel:
    """The chat model at an endpoint. `context` is what Ollama loads it with; other servers have their own setting.
    ConfigError for an option that the provider does not have."""
    if endpoint.provider.name in ("onnx", "local", "demo"):
        raise ConfigError(f"{endpoint} embeds; it cannot chat. Choose another model to extract with.")
    if endpoint.provider.name == "ollama":
        return OllamaChat(endpoint, context=context, deadline=deadline, options=options)
    if endpoint.provider.name == "anthropic":
        return _anthropic(endpoint, deadline, options)
    if endpoint.provider.name == "bedrock":
        return _bedrock(endpoint, deadline, options)
    return OpenAIChat(endpoint, deadline=deadline, options=options)


def _anthropic(endpoint: Endpoint, deadline: float, options: ModelOptions) -> ChatModel:
    try:
        from trueweave.models.anthropic import AnthropicChat
    except ModuleNotFoundError as error:
        if error.name != "anthropic":
            raise
        raise ConfigError(f'{endpoint.name} needs the SDK of Anthropic: pip install "trueweave[anthropic]"') from error
    return AnthropicChat(endpoint, deadline=deadline, options=options)


def _bedrock(endpoint: Endpoint, deadline: float, options: ModelOptions) -> ChatModel:
    try:
        from trueweave.models.bedrock import BedrockChat
    except ModuleNotFoundError as error:
        if error.name not in ("boto3", "botocore"):
            raise
        raise ConfigError(f'{endpoint.name} needs boto3: pip install "trueweave[bedrock]"') from error
    return BedrockChat(endpoint, deadline=deadline, options=options)


def _check_serves(endpoint: Endpoint, what: str) -> None:
    """Raise ConfigError for a provider of which Trueweave only supports chat models."""
    if endpoint.provider.name in _ONLY_CHAT:
        raise ConfigError(
            f"{endpoint.name} cannot {what}: of {endpoint.provider.name}, Trueweave uses chat models alone. "
            "Choose a model of another provider."
        )


async def open_embedder(
    endpoint: Endpoint,
    *,
    dimensions: int | None = None,
    most_tokens: int | None = None,
    deadline: float = DEADLINE,
    prefixes: Prefixes | None = None,
    folder: Path | None = None,
) -> OpenAIEmbedder | InProcessEmbedder:
    """The embedding model at an endpoint, whose dimension is found by calling it. `onnx/PATH` is a folder on this
    machine; a `local/` model is downloaded if necessary, or only taken from `folder` if that is given.

    A model on this machine adds the prefixes to its texts itself (a `local/` model has its own by default); for a model
    on a server, `PrefixedEmbedder` does that.
    """
    _check_serves(endpoint, "embed")
    if endpoint.provider.name == "local":
        model = catalogue.named(endpoint.model)
        return await OnnxEmbedder.open(
            (await hub.ready(model, folder)).folder,
            name=endpoint.name,
            pooling=model.pooling,
            most_tokens=min(most_tokens or model.most_tokens, MOST_AT_ONCE),
            prefixes=prefixes or model.prefixes,
        )
    if endpoint.provider.name == "demo":
        return await asyncio.to_thread(DemoEmbedder, folder)
    if endpoint.provider.name == "onnx":
        path = Path(endpoint.model)
        return await OnnxEmbedder.open(path, most_tokens=most_tokens, prefixes=prefixes or NO_PREFIXES)
    return await OpenAIEmbedder.open(
        endpoint, dimensions=dimensions, most_tokens=most_tokens or 8191, deadline=deadline
    )


async def open_reranker(endpoint: Endpoint, *, deadline: float = DEADLINE) -> RerankServer | OnnxReranker:
    """The reranker at an endpoint. `onnx/PATH` is a folder on this machine."""
    _check_serves(endpoint, "rerank")
    if endpoint.provider.name in ("local", "demo"):
        raise ConfigError(f"{endpoint} embeds; it cannot rerank. Name onnx/ and a cross-encoder's folder, or a server.")
    if endpoint.provider.name == "onnx":
        return await OnnxReranker.open(Path(endpoint.model))
    return RerankServer(endpoint, deadline=deadline)


async def open_entailment(name: str) -> OnnxEntailment:
    """The model for natural language inference with this name, `onnx/PATH`, which is a folder on this machine."""
    provider, _, path = name.partition("/")
    if provider != "onnx" or not path:
        raise ConfigError(
            f"{name!r} is not a verifier. Use rules, llm (the language model that is set), or onnx/ and the folder of "
            "a model for natural language inference."
        )
    return await OnnxEntailment.open(Path(path))
