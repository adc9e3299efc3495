"""Chat models of Anthropic, through its Messages API.

This module is imported only when an Anthropic model is opened, as the SDK is an extra. The SDK makes the requests.
Bodies are written and read here, as for OpenAI's API: the SDK would read replies of any length.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import anthropic
import httpx2

from trueweave.core.model_calls import Message, Prompt, Reply
from trueweave.core.model_options import ModelOptions
from trueweave.models.chat import (
    CUT_SHORT,
    DEADLINE,
    TOLD_IN_WORDS,
    TOOL,
    TOOL_USE,
    ChatRequest,
    ServerChat,
    ToolDialect,
    counted_reply,
    in_base64,
    system_of,
    tool_reply,
    total,
    turns_of,
)
from trueweave.models.failures import UselessReply
from trueweave.models.http import BoundedClient
from trueweave.models.names import Endpoint
from trueweave.models.options import NO_OPTIONS, check_options
from trueweave.models.server import Sdk, Server

_TOKENS_IN = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
# From version 2, the SDK uses the API of 2026-10-21, which rejects `temperature` and `top_p` for every model.
_TAKES_SAMPLING = int(anthropic.__version__.partition(".")[0]) < 2


class AnthropicChat(ServerChat[ToolDialect]):
    """A chat model of Anthropic.

    For a reply that must follow a schema, the model is made to call a tool, and the reply is the JSON of its arguments.
    Models that cannot be made to call a tool, such as those that always think, get the schema as their output format.
    """

    def __init__(self, endpoint: Endpoint, *, deadline: float = DEADLINE, options: ModelOptions = NO_OPTIONS) -> None:
        check_options(endpoint.name, options, ("think", "top_p") if _TAKES_SAMPLING else ("think",))
        self._options: dict[str, Any] = {"top_p": options["top_p"]} if "top_p" in options else {}
        if "think" in options:
            self._options["thinking"] = {"type": "adaptive" if options["think"] else "disabled"}
        server = Server(endpoint, deadline, make_sdk=_sdk, in_words=TOLD_IN_WORDS)
        super().__init__(endpoint, server, ToolDialect(takes_temperature=_TAKES_SAMPLING))

    def _request(self, prompt: Prompt, dialect: ToolDialect, *, stream: bool) -> ChatRequest:
        body: dict[str, Any] = {
            "model": self.endpoint.model,
            "max_tokens": prompt.max_tokens,
            "messages": [{"role": turn.role, "content": _content(turn)} for turn in turns_of(prompt)],
        }
        body |= self._options
        if system := system_of(prompt):
            body["system"] = system
        if dialect.takes_temperature:
            body["temperature"] = prompt.temperature
        if prompt.schema and dialect.forces_tool:
            body["tools"] = [{"name": TOOL, "description": TOOL_USE, "input_schema": json.loads(prompt.schema)}]
            body["tool_choice"] = {"type": "tool", "name": TOOL, "disable_parallel_tool_use": True}
        elif prompt.schema:
            body["output_config"] = {"format": {"type": "json_schema", "schema": json.loads(prompt.schema)}}
        if stream:
            body["stream"] = True
        return ChatRequest("/messages", body)

    def _read(self, prompt: Prompt, found: Mapping[str, Any]) -> Reply:
        content, stopped = found.get("content"), found.get("stop_reason")
        if stopped == "refusal":
            details = found.get("stop_details")
            why = details.get("explanation") if isinstance(details, dict) else None
            raise UselessReply(f"{self.endpoint} declines to answer: {why or 'it does not say why.'}", charged=True)
        if not isinstance(content, list):
            raise UselessReply(f"{self.endpoint} sent no reply at all: no content.", charged=True)
        usage = found.get("usage")
        counts = total(usage, *_TOKENS_IN), total(usage, "output_tokens")
        return counted_reply(self.endpoint, prompt, _text(content), counts, is_cut_short=stopped in CUT_SHORT)

    def _piece(self, event: Mapping[str, Any]) -> str:
        return _delta(event, "text") or _delta(event, "partial_json")

    def _is_last(self, event: Mapping[str, Any]) -> bool:
        return event.get("type") == "message_stop"

    def _joined(self, events: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        begun = next((event.get("message") for event in events if event.get("type") == "message_start"), None)
        found: dict[str, Any] = dict(begun) if isinstance(begun, dict) else {}
        usage = dict(found["usage"]) if isinstance(found.get("usage"), dict) else {}
        for event in events:
            if event.get("type") == "message_delta":
                found |= event.get("delta") or {}
                usage |= {key: count for key, count in (event.get("usage") or {}).items() if count is not None}
        text, arguments = ("".join(_delta(event, what) for event in events) for what in ("text", "partial_json"))
        content = [{"type": "tool_use", "input": arguments}] if arguments else [{"type": "text", "text": text}]
        return {**found, "content": content, "usage": usage}


def _content(message: Message) -> str | list[dict[str, Any]]:
    if not message.images:
        return message.content
    images: list[dict[str, Any]] = [
        {"type": "image", "source": {"type": "base64", "media_type": image.media_type, "data": in_base64(image)}}
        for image in message.images
    ]
    return [*images, {"type": "text", "text": message.content}]


class _Client(anthropic.AsyncAnthropic):
    """The SDK's client without settings from the environment: `ANTHROPIC_CUSTOM_HEADERS` may contain secrets of another
    server. As a subclass, it does not look for credentials in files either."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._custom_headers = {}


def _sdk(endpoint: Endpoint, timeout: httpx2.Timeout) -> Sdk:
    client = _Client(
        api_key=endpoint.key or "none",
        base_url=endpoint.url,
        max_retries=0,
        http_client=BoundedClient(),
        timeout=timeout,
    )
    # Version 1 of the SDK takes it from the environment although a key is given.
    client.auth_token = None
    return Sdk(client, anthropic.AsyncStream[object], anthropic.APIStatusError, anthropic.APIConnectionError)


def _text(content: Sequence[object]) -> str:
    """The reply: the arguments of the tool if it was called, otherwise the text. Thinking is left out."""
    blocks = [block for block in content if isinstance(block, dict)]
    called = next((block.get("input") for block in blocks if block.get("type") == "tool_use"), None)
    return tool_reply(called, (str(block.get("text") or "") for block in blocks if block.get("type") == "text"))


def _delta(event: Mapping[str, Any], what: str) -> str:
    """What a stream event adds to the text, or to the arguments of the tool (`partial_json`)."""
    delta = event.get("delta") if event.get("type") == "content_block_delta" else None
    added = delta.get(what) if isinstance(delta, dict) else None
    return added if isinstance(added, str) else ""
