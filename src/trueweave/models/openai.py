"""Chat and embedding models behind OpenAI's API: OpenAI itself, vLLM, llama.cpp, gateways and many more."""

from __future__ import annotations

import base64
import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from trueweave.core.errors import ModelError
from trueweave.core.events import Noted, tell
from trueweave.core.graph import Metric
from trueweave.core.model_calls import Message, Prompt, Reply, TextRole
from trueweave.core.model_options import ModelOptions
from trueweave.core.protocols import Vectors
from trueweave.models.chat import DEADLINE, ChatRequest, ServerChat, counted_reply, cut, in_base64
from trueweave.models.failures import CutPrompt, UselessReply
from trueweave.models.names import Endpoint
from trueweave.models.options import NO_OPTIONS, openai_fields
from trueweave.models.server import MOST_BYTES, Server
from trueweave.models.usage import counted
from trueweave.text import tokens

_CHAT = "/chat/completions"
_BYTES_PER_NUMBER = 32
# Where servers state the context length of a model: vLLM, OpenRouter, Groq, Mistral.
_CONTEXT_KEYS = ("max_model_len", "context_length", "context_window", "max_context_length")


@dataclass(frozen=True)
class _Dialect:
    """How requests to a model differ from the usual, as learnt from the server's refusals."""

    limit: str = "max_tokens"
    takes_temperature: bool = True
    takes_stream_options: bool = True

    def without(self, parameter: str) -> _Dialect:
        match parameter:
            case "max_tokens":
                return replace(self, limit="max_completion_tokens")
            case "temperature":
                return replace(self, takes_temperature=False)
            case "stream_options":
                return replace(self, takes_stream_options=False)
        return self


class OpenAIChat(ServerChat[_Dialect]):
    """A chat model behind OpenAI's API.

    Token counts are the server's. If a server sends none, tokens are counted offline with OpenAI's own tables. For
    models that reject `temperature` or `max_tokens`, later requests leave it out or use the parameter that they accept.
    """

    def __init__(self, endpoint: Endpoint, *, deadline: float = DEADLINE, options: ModelOptions = NO_OPTIONS) -> None:
        self._server = Server(endpoint, deadline)
        self._options = openai_fields(endpoint.provider.name, endpoint.name, options)
        super().__init__(endpoint, self._server, _Dialect())

    async def context_length(self) -> int | None:
        """The maximum number of tokens of prompt and reply together; None if the server does not say."""
        if self.endpoint.provider.name == "llamacpp":
            found = await self._server.get(f"{self.endpoint.root}/props")
            return _whole(found.get("default_generation_settings"), "n_ctx")
        listed = (await self._server.get("/models")).get("data")
        ours = [entry for entry in listed or () if isinstance(entry, dict) and entry.get("id") == self.endpoint.model]
        return next((size for entry in ours for key in _CONTEXT_KEYS if (size := _whole(entry, key))), None)

    def _request(self, prompt: Prompt, dialect: _Dialect, *, stream: bool) -> ChatRequest:
        body: dict[str, Any] = {
            "model": self.endpoint.model,
            "messages": [{"role": message.role, "content": _content(message)} for message in prompt.messages],
            dialect.limit: prompt.max_tokens,
            **self._options,
        }
        if dialect.takes_temperature:
            body["temperature"] = prompt.temperature
        if prompt.schema:
            form = {"name": "reply", "strict": True, "schema": json.loads(prompt.schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        if stream:
            body["stream"] = True
        if stream and dialect.takes_stream_options:
            body["stream_options"] = {"include_usage": True}
        return ChatRequest(_CHAT, body)

    def _read(self, prompt: Prompt, found: Mapping[str, Any]) -> Reply:
        return read_reply(self.endpoint, prompt, found)

    def _piece(self, event: Mapping[str, Any]) -> str:
        return _said(event, "content")

    def _is_last(self, event: Mapping[str, Any]) -> bool:
        return _is_last(event)

    def _joined(self, events: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        return _joined(events)


def _content(message: Message) -> str | list[dict[str, Any]]:
    if not message.images:
        return message.content
    urls = (f"data:{image.media_type};base64,{in_base64(image)}" for image in message.images)
    images: list[dict[str, Any]] = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
    return [*images, {"type": "text", "text": message.content}]


def read_reply(endpoint: Endpoint, prompt: Prompt, found: Mapping[str, Any]) -> Reply:
    """The reply in a server's response to a chat request."""
    usage = found.get("usage")
    said = usage if isinstance(usage, dict) else {}
    choices = found.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise UselessReply(f"{endpoint} sent no reply at all: no choices.", charged=True)
    if refusal := message.get("refusal"):
        raise UselessReply(f"{endpoint} declines to answer: {refusal}", charged=True)
    if choice.get("finish_reason") == "content_filter":
        raise UselessReply(
            f"{endpoint} withheld its reply: its content filter objects to the passage or to the reply. "
            "Use another model for this document.",
            charged=True,
        )
    text = str(message.get("content") or "")
    counts = said.get("prompt_tokens"), said.get("completion_tokens")
    return counted_reply(endpoint, prompt, text, counts, is_cut_short=choice.get("finish_reason") == "length")


def _choice(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """The first choice in a stream event; empty if there is none."""
    choices = event.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, dict) else {}


def _said(event: Mapping[str, Any], what: str) -> str:
    """What an event adds to the `content` of the reply, or to its `refusal`. Servers that do not stream send the
    complete message as the only event."""
    choice = _choice(event)
    delta = choice.get("delta") or choice.get("message")
    said = delta.get(what) if isinstance(delta, dict) else None
    return said if isinstance(said, str) else ""


def _is_last(event: Mapping[str, Any]) -> bool:
    return bool(_choice(event).get("finish_reason"))


def _joined(events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The response that the server would have sent without streaming."""
    message = {what: "".join(_said(event, what) for event in events) for what in ("content", "refusal")}
    finish = next((_choice(event)["finish_reason"] for event in events if _is_last(event)), None)
    usage = next((event["usage"] for event in reversed(events) if event.get("usage")), None)
    return {"choices": [{"message": message, "finish_reason": finish}], "usage": usage}


class OpenAIEmbedder:
    """An embedding model behind OpenAI's API, of known dimension. `open` finds the dimension by calling the model.

    Texts are sent in requests of at most `batch` texts and `batch_tokens` tokens; retries pass no more at a time, so
    that embedded texts are not paid for again. Only the beginning of a text longer than `most_tokens` is embedded. With
    `shorten`, the model is asked for vectors of that dimension, which OpenAI's models support.
    """

    metric: Metric = "cosine"

    def __init__(
        self,
        endpoint: Endpoint,
        dimensions: int,
        *,
        shorten: bool = False,
        most_tokens: int = 8191,
        batch: int = 128,
        batch_tokens: int = 100_000,
        deadline: float = DEADLINE,
    ) -> None:
        self.endpoint = endpoint
        self.dimensions = dimensions
        self._shorten = shorten
        self._most_tokens = most_tokens
        self.batch = batch
        self._batch_tokens = batch_tokens
        self._server = Server(endpoint, deadline)

    @classmethod
    async def open(
        cls,
        endpoint: Endpoint,
        *,
        dimensions: int | None = None,
        most_tokens: int = 8191,
        batch: int = 128,
        batch_tokens: int = 100_000,
        deadline: float = DEADLINE,
    ) -> Self:
        """The embedder, with the model's own dimension, or shortened to `dimensions`. Embeds one word to find out."""
        probe = cls(endpoint, 0, deadline=deadline)
        try:
            own = len((await probe._ask(["trueweave"]))[0])
        finally:
            await probe.close()
        opened = cls(
            endpoint,
            dimensions or own,
            shorten=dimensions not in (None, own),
            most_tokens=most_tokens,
            batch=batch,
            batch_tokens=batch_tokens,
            deadline=deadline,
        )
        if opened._shorten:
            try:
                await opened.embed(["trueweave"], "document")
            except ModelError:
                await opened.close()
                raise
        return opened

    @property
    def model(self) -> str:
        return self.endpoint.name

    async def embed(self, texts: Sequence[str], role: TextRole) -> Vectors:
        """One row per text, in order. Raises ModelUnavailable, UselessReply or ModelRefused: see failures.py."""
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        if any(tokens.count(text) > self._most_tokens for text in texts if len(text) > self._most_tokens):
            most = f"{self._most_tokens:,} tokens"
            tell(Noted(f"{self.model} is given the first {most} of longer texts. Set max_chunk_size to less."))
        start = 0
        for batch in self._batches(texts):
            for row, vector in enumerate(await self._ask(batch), start):
                vectors[row] = vector
            start += len(batch)
        return vectors

    async def close(self) -> None:
        """Close the connections."""
        await self._server.close()

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        batch: list[str] = []
        used = 0
        for text in texts:
            # Servers reject empty texts.
            short = _shortened(text, self._most_tokens) or " "
            size = tokens.count(short)
            if batch and (len(batch) == self.batch or used + size > self._batch_tokens):
                yield batch
                batch, used = [], 0
            batch.append(short)
            used += size
        if batch:
            yield batch

    async def _ask(self, texts: list[str]) -> list[Vectors]:
        """The vectors of texts. While the dimension is not known, any is accepted."""
        body: dict[str, Any] = {"model": self.endpoint.model, "input": texts, "encoding_format": "base64"}
        if self._shorten:
            body["dimensions"] = self.dimensions
        most = MOST_BYTES + len(texts) * self.dimensions * _BYTES_PER_NUMBER
        found = await self._server.post("/embeddings", body, most)
        rows = _rows(found.get("data"))
        if [row["index"] for row in rows] != list(range(len(texts))):
            raise self._useless(f"sent {len(rows)} vectors for {len(texts)} texts")
        vectors = [_vector(row.get("embedding")) for row in rows]
        sizes = {len(vector) for vector in vectors}
        if len(sizes) != 1 or 0 in sizes or self.dimensions not in (0, *sizes):
            wanted = f"; {self.dimensions} were to be expected" if self.dimensions else ""
            raise self._useless(f"sent vectors of {', '.join(map(str, sorted(sizes)))} dimensions{wanted}")
        if not all(np.isfinite(vector).all() for vector in vectors):
            raise self._useless("sent vectors that hold infinite numbers, or none at all")
        usage = found.get("usage")
        sent = sum(map(tokens.count, texts))
        seen = counted(usage.get("prompt_tokens") if isinstance(usage, dict) else None, sent, "tokens of texts")
        if problem := cut(sent, seen.tokens):
            raise CutPrompt(f"{self.endpoint} {problem} Set the most tokens of a text to what the model takes.")
        return vectors

    def _useless(self, problem: str) -> UselessReply:
        return UselessReply(f"{self.endpoint} {problem}. Is it an embedding model?", charged=True)


def _shortened(text: str, most: int) -> str:
    """The longest beginning of a text with at most `most` tokens."""
    if tokens.count(text) <= most:
        return text
    return text[: bisect_right(range(1, len(text) + 1), most, key=lambda end: tokens.count(text[:end]))]


def _rows(data: object) -> list[dict[str, Any]]:
    """The rows of a response in the order of the texts, which may differ from the order in which they arrive."""
    rows = [row for row in data if isinstance(row, dict)] if isinstance(data, list) else []
    return sorted((row for row in rows if isinstance(row.get("index"), int)), key=lambda row: int(row["index"]))


def _vector(given: object) -> Vectors:
    """The vector in a response: base64 of 32-bit numbers, or a list of numbers. Empty if it is neither."""
    try:
        if isinstance(given, str):
            return np.frombuffer(base64.b64decode(given, validate=True), dtype="<f4")
        return np.array(given, dtype=np.float32).reshape(-1) if isinstance(given, list) else np.empty(0, np.float32)
    except (ValueError, TypeError):
        return np.empty(0, np.float32)


def _whole(found: object, key: str) -> int | None:
    value = found.get(key) if isinstance(found, dict) else None
    return value if isinstance(value, int) and value > 0 else None
