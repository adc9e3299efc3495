"""Chat and embedding models of LangChain, which a program passes in as `llm=` and `embedder=`.

This module imports LangChain: `from_langchain.py` finds out whether an object is one of these without importing it.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from typing import Any, Self

import numpy as np
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, SystemMessage

from trueweave.core.errors import ConfigError, ModelError, ModelRefused
from trueweave.core.graph import Metric
from trueweave.core.model_calls import Finish, Message, Prompt, Purpose, Reply, TextRole
from trueweave.core.protocols import LangChainChatModel, LangChainEmbeddings, Vectors
from trueweave.models.chat import DEADLINE, in_base64, tool_reply
from trueweave.models.failures import Failures, UselessReply
from trueweave.models.names import Endpoint, Provider, provider_of
from trueweave.models.reply_stream import Stream
from trueweave.models.usage import counted, prompt_tokens
from trueweave.text import tokens

# Packages of LangChain whose models have another name in Trueweave.
_PROVIDERS = {"google_genai": "gemini", "aws": "bedrock", "mistralai": "mistral"}
_NAMES = ("model_name", "model", "model_id", "azure_deployment", "deployment_name", "repo_id")
# The field that limits the length of a reply: OpenAI, Anthropic and most others; Google; Ollama.
_LIMITS = ("max_tokens", "max_output_tokens", "num_predict")
_CUT_SHORT = ("length", "max_tokens", "MAX_TOKENS")
_SHOWN = 300  # characters of an error


class LangChainChat:
    """A chat model of LangChain, with its own parameters; only replies are limited as a prompt says.

    `name` is the one under which it is priced, limited and cached, `provider/model`. Without it, it is made from the
    package and the parameters of the model.
    """

    def __init__(self, chat: LangChainChatModel, name: str | None = None, *, deadline: float = DEADLINE) -> None:
        if not isinstance(chat, BaseChatModel):
            raise ConfigError(f"{type(chat).__name__} is not a chat model of LangChain. Pass a BaseChatModel.")
        self._chat = chat
        self._endpoint = _endpoint(name or _name(chat))
        self._deadline = deadline
        self._failures = Failures(self._endpoint, deadline)
        self._limit = next((field for field in _LIMITS if field in type(chat).model_fields), None)
        self.variant = _variant(chat)
        """Identifies the parameters of the model, which its replies depend on."""

    @property
    def model(self) -> str:
        return self._endpoint.name

    async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        """The model's complete reply. A reply that must follow a schema is requested in the way that LangChain has for
        the model, or by the words of the prompt alone if it has none."""
        chat, messages = self._limited(prompt), [_message(one) for one in prompt.messages]
        with self._sorted():
            async with asyncio.timeout(self._deadline):
                found = await _formed(chat, messages, prompt.schema) if prompt.schema else await chat.ainvoke(messages)
        return self._reply(prompt, found)

    async def stream(self, prompt: Prompt, purpose: Purpose) -> Stream:
        """The pieces of the reply as they arrive, and at the end the complete reply."""
        if prompt.schema:
            reply = await self.complete(prompt, purpose)
            yield reply.text
            yield reply
            return
        received: AIMessageChunk | None = None
        pieces = self._limited(prompt).astream([_message(one) for one in prompt.messages])
        async with aclosing(_within(pieces, self._deadline)) as messages:  # type: ignore[type-var]
            while True:
                with self._sorted():
                    piece = await anext(messages, None)
                if piece is None:
                    break
                received = piece if received is None else received + piece
                if piece.text:
                    yield str(piece.text)
        if received is None:
            raise UselessReply(f"{self._endpoint} sent no reply at all.", charged=True)
        yield self._reply(prompt, received)

    def _limited(self, prompt: Prompt) -> BaseChatModel:
        if self._limit is None:
            return self._chat
        own = getattr(self._chat, self._limit)
        most = min(own, prompt.max_tokens) if isinstance(own, int) and own > 0 else prompt.max_tokens
        return self._chat.model_copy(update={self._limit: most})

    def _reply(self, prompt: Prompt, found: BaseMessage) -> Reply:
        called = found.tool_calls[0]["args"] if isinstance(found, AIMessage) and found.tool_calls else None
        text = tool_reply(called, (str(found.text),))
        usage: Mapping[str, Any] = (found.usage_metadata if isinstance(found, AIMessage) else None) or {}
        seen = counted(usage.get("input_tokens"), prompt_tokens(prompt), "tokens of the prompt")
        written = counted(usage.get("output_tokens"), tokens.count(text), "tokens of the reply")
        about = found.response_metadata
        reasons = (about.get(key) for key in ("finish_reason", "stop_reason", "done_reason", "stopReason"))
        finish: Finish = "length" if any(reason in _CUT_SHORT for reason in reasons) else "stop"
        problems = tuple(one.problem for one in (seen, written) if one.problem)
        return Reply(text, seen.tokens, written.tokens, finish, problems=problems)

    @contextmanager
    def _sorted(self) -> Iterator[None]:
        """Errors of LangChain and of the SDK below it, as those of Trueweave."""
        try:
            yield
        except ModelError:
            raise
        except Exception as error:
            raise _failure(self._failures, error) from error


class LangChainEmbedder:
    """An embedding model of LangChain, of known dimension. `open` finds the dimension by calling the model."""

    metric: Metric = "cosine"

    def __init__(
        self, embeddings: LangChainEmbeddings, dimensions: int, name: str | None = None, *, deadline: float = DEADLINE
    ) -> None:
        self._embeddings = embeddings
        self._endpoint = _endpoint(name or _name(embeddings))
        self._deadline = deadline
        self.dimensions = dimensions

    @classmethod
    async def open(
        cls, embeddings: LangChainEmbeddings, name: str | None = None, *, deadline: float = DEADLINE
    ) -> Self:
        """The embedder, with the dimension of the vector of one word."""
        probe = cls(embeddings, 0, name, deadline=deadline)
        return cls(embeddings, len((await probe._ask(["trueweave"], "document"))[0]), name, deadline=deadline)

    @property
    def model(self) -> str:
        return self._endpoint.name

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        """One row per text, in order."""
        rows = await self._ask([text or " " for text in texts], role)
        vectors = np.array(rows if _are_even(rows) else [], dtype=np.float32)
        if vectors.shape != (len(texts), self.dimensions) or not np.isfinite(vectors).all():
            raise UselessReply(
                f"{self._endpoint} did not send {len(texts)} vectors of {self.dimensions} finite numbers. Is it the "
                "same model as before?",
                charged=True,
            )
        return vectors

    async def _ask(self, texts: list[str], role: TextRole) -> list[list[float]]:
        try:
            async with asyncio.timeout(self._deadline):
                if role == "document":
                    return await self._embeddings.aembed_documents(texts)
                return [await self._embeddings.aembed_query(text) for text in texts]
        except Exception as error:
            raise _failure(Failures(self._endpoint, self._deadline), error) from error


async def _within(pieces: AsyncIterator[AIMessageChunk], seconds: float) -> AsyncIterator[AIMessageChunk]:
    """The pieces of a stream, each of which may take so many seconds."""
    async with aclosing(pieces):  # type: ignore[type-var]
        while True:
            async with asyncio.timeout(seconds):
                piece = await anext(pieces, None)
            if piece is None:
                return
            yield piece


async def _formed(chat: BaseChatModel, messages: list[BaseMessage], schema: str) -> BaseMessage:
    """A reply that follows a JSON schema, if LangChain has a way to request that of this model."""
    try:
        about = {"title": "reply", "description": "The whole reply.", **json.loads(schema)}
        asked = chat.with_structured_output(about, include_raw=True)
    except NotImplementedError:
        return await chat.ainvoke(messages)
    found = await asked.ainvoke(messages)
    raw = found.get("raw") if isinstance(found, dict) else None
    return raw if isinstance(raw, BaseMessage) else AIMessage(json.dumps(found, default=str))


def _message(message: Message) -> BaseMessage:
    content: Any = message.content
    if message.images:
        images = ({"type": "image", "mime_type": one.media_type, "base64": in_base64(one)} for one in message.images)
        content = [*images, {"type": "text", "text": message.content}]
    match message.role:
        case "system":
            return SystemMessage(content)
        case "assistant":
            return AIMessage(content)
        case "user":
            return HumanMessage(content)


def _name(of: object) -> str:
    """`provider/model` from the package of a class and the parameters of the object."""
    package = type(of).__module__.partition(".")[0]
    plain = package.removeprefix("langchain_")
    provider = _PROVIDERS.get(plain, plain) if package != plain and plain != "core" else "langchain"
    if provider == "openai" and type(of).__name__.startswith("Azure"):
        provider = "azure"
    found = (getattr(of, name, None) for name in _NAMES)
    return f"{provider}/{next((name for name in found if isinstance(name, str) and name), type(of).__name__)}"


def _endpoint(name: str) -> Endpoint:
    provider, _, model = name.partition("/")
    if not provider or not model:
        raise ConfigError(f"{name!r} is not the name of a model. Write provider/model, as in openai/gpt-4o-mini.")
    return Endpoint(provider_of(name) or Provider(provider), model, "")


def _variant(chat: BaseChatModel) -> str:
    """A hash of the parameters that a program has set. Keys and clients are left out."""
    plain = {
        name: value
        for name in sorted(chat.model_fields_set)
        if isinstance(value := getattr(chat, name, None), str | int | float | bool | list | dict)
    }
    return hashlib.blake2b(json.dumps(plain, sort_keys=True, default=str).encode(), digest_size=8).hexdigest()


def _are_even(rows: Sequence[Sequence[float]]) -> bool:
    return len({len(row) for row in rows}) == 1 or not rows


def _failure(failures: Failures, error: Exception) -> ModelError:
    """The error of Trueweave for one of an SDK: by its status if it has one, otherwise by the names of its classes."""
    answer = getattr(error, "response", None)
    status = getattr(error, "status_code", None) or getattr(answer, "status_code", None)
    if isinstance(status, int) and status >= 400:
        body = getattr(error, "body", None) or str(error)
        headers = getattr(answer, "headers", None)
        return failures.refused(status, body, dict(headers) if isinstance(headers, Mapping) else {})
    names = " ".join(kind.__name__ for kind in type(error).__mro__)
    if "Timeout" in names:
        return failures.late()
    if "Connect" in names:
        return failures.unreached(str(error)[:_SHOWN].rstrip(".") or type(error).__name__)
    return ModelRefused(
        f"{failures.endpoint} failed with {type(error).__name__}: {str(error)[:_SHOWN]}. Fix it in LangChain: the "
        "model's invoke raises the same."
    )
