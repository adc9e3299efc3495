"""What chat models on servers have in common: making requests, reading streams, and repeating a request without a
parameter that the server rejects."""

from __future__ import annotations

import base64
import json
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

from trueweave.core.model_calls import Image, Message, Prompt, Purpose, Reply
from trueweave.models.failures import CutPrompt, Unsupported
from trueweave.models.names import Endpoint
from trueweave.models.reply_stream import Stream
from trueweave.models.server import MOST_BYTES
from trueweave.models.usage import counted, prompt_tokens, text_prompt_tokens
from trueweave.text import tokens

DEADLINE = 300.0  # seconds for one call, from the first byte sent to the last received
CUT_FROM = 500  # tokens; a prompt shorter than this is not cut by any server
TOOL = "reply"  # name of the tool whose arguments are the reply
TOOL_USE = "Gives the reply. Its arguments are the whole reply."
TOLD_IN_WORDS = ("temperature", "toolchoice")
CUT_SHORT = ("max_tokens", "model_context_window_exceeded")  # reasons for stopping before the reply was complete

_BYTES_PER_TOKEN = 64  # of a reply in JSON, generously
_BYTES_PER_EVENT = 1024  # of a stream, for one token; more generously still


class Exchange(Protocol):
    """Where requests are sent, such as `Server`."""

    async def post(self, path: str, body: Mapping[str, Any], most_bytes: int) -> dict[str, Any]:
        """The response to a request."""
        ...

    def events(
        self, path: str, body: Mapping[str, Any], most_bytes: int, is_end: Callable[[dict[str, Any]], bool]
    ) -> AsyncGenerator[dict[str, Any], None]:
        """The events of a stream. Raises an error if the stream ends before an event for which `is_end` is true."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


class RequestDialect(Protocol):
    """How requests to a model differ from the usual, as learnt from the server's refusals."""

    def without(self, parameter: str) -> Self:
        """The dialect for a model that does not take this parameter; unchanged if there is no other way."""
        ...


class ChatRequest(NamedTuple):
    """A path on the server and the body sent there."""

    path: str
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolDialect:
    """For a reply that must follow a schema, the model either must call a tool and the reply is its arguments, or, if
    it cannot be made to call one, the server applies the schema to its text."""

    takes_temperature: bool = True
    forces_tool: bool = True

    def without(self, parameter: str) -> ToolDialect:
        """The dialect for a model that does not take this parameter, which is one of `TOLD_IN_WORDS`."""
        match parameter:
            case "temperature":
                return replace(self, takes_temperature=False)
            case "toolchoice":
                return replace(self, forces_tool=False)
        return self


D = TypeVar("D", bound=RequestDialect)


class ServerChat(ABC, Generic[D]):
    """A chat model on a server, with the default dialect until the server rejects a parameter."""

    def __init__(self, endpoint: Endpoint, server: Exchange, dialect: D) -> None:
        self.endpoint = endpoint
        self._exchange = server
        self._dialect = dialect

    @property
    def model(self) -> str:
        return self.endpoint.name

    async def complete(self, prompt: Prompt, purpose: Purpose) -> Reply:
        """The model's complete reply. Raises ModelUnavailable, UselessReply or ModelRefused: see failures.py."""
        while True:
            dialect = self._dialect
            path, body = self._request(prompt, dialect, stream=False)
            try:
                found = await self._exchange.post(path, body, reply_bytes(prompt))
            except Unsupported as error:
                self._learn_from(error, dialect)
            else:
                return self._read(prompt, found)

    async def stream(self, prompt: Prompt, purpose: Purpose) -> Stream:
        """The pieces of the reply as they arrive, then the complete reply. Raises the same errors as `complete`."""
        heard: list[dict[str, Any]] = []
        while True:
            dialect = self._dialect
            path, body = self._request(prompt, dialect, stream=True)
            try:
                async with aclosing(self._exchange.events(path, body, stream_bytes(prompt), self._is_last)) as events:
                    async for event in events:
                        heard.append(event)
                        if piece := self._piece(event):
                            yield piece
                break
            except Unsupported as error:
                if heard:
                    raise
                self._learn_from(error, dialect)
        yield self._read(prompt, self._joined(heard))

    async def context_length(self) -> int | None:
        """The maximum number of tokens of prompt and reply together; None if the server does not say."""
        return None

    async def close(self) -> None:
        """Close the connections."""
        await self._exchange.close()

    def _learn_from(self, error: Unsupported, spoken: D) -> None:
        """Change later requests so that the server accepts them. Raises the error if there is no other way to ask."""
        self._dialect = self._dialect.without(error.parameter)
        if self._dialect == spoken:
            raise error

    @abstractmethod
    def _request(self, prompt: Prompt, dialect: D, *, stream: bool) -> ChatRequest:
        """The request for a reply to the prompt."""

    @abstractmethod
    def _read(self, prompt: Prompt, found: Mapping[str, Any]) -> Reply:
        """The reply in the server's response."""

    @abstractmethod
    def _piece(self, event: Mapping[str, Any]) -> str:
        """What a stream event adds to the reply; empty if nothing."""

    @abstractmethod
    def _is_last(self, event: Mapping[str, Any]) -> bool:
        """Whether this event completes the reply."""

    @abstractmethod
    def _joined(self, events: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        """The response that the server would have sent without streaming."""


def system_of(prompt: Prompt) -> str:
    """All system messages as one text, for APIs that have a single field for them."""
    return "\n\n".join(message.content for message in prompt.messages if message.role == "system")


def turns_of(prompt: Prompt) -> list[Message]:
    """The other messages. Blank ones get a word of text, as these APIs reject empty ones."""
    turns = [message for message in prompt.messages if message.role != "system"]
    return [message if message.content.strip() else replace(message, content="(empty)") for message in turns]


def in_base64(image: Image) -> str:
    """The file of an image, as JSON can have it."""
    return base64.b64encode(image.data).decode()


def tool_reply(arguments: object, texts: Iterable[str]) -> str:
    """The reply: the arguments of the tool, as JSON, if it was called, otherwise the text."""
    if arguments is None:
        return "".join(texts)
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def reply_bytes(prompt: Prompt) -> int:
    """An upper limit for the bytes of a reply to this prompt."""
    return MOST_BYTES // 4 + _BYTES_PER_TOKEN * prompt.max_tokens


def stream_bytes(prompt: Prompt) -> int:
    """An upper limit for the bytes of a streamed reply to this prompt."""
    return MOST_BYTES // 4 + _BYTES_PER_EVENT * prompt.max_tokens


def counted_reply(
    endpoint: Endpoint, prompt: Prompt, text: str, said: tuple[object, object], *, is_cut_short: bool
) -> Reply:
    """The reply with the token counts of prompt and reply: the server's, or else our own.

    Raises CutPrompt if the server counted far fewer tokens than it was sent.
    """
    sent = prompt_tokens(prompt)
    seen = counted(said[0], sent, "tokens of the prompt")
    written = counted(said[1], tokens.count(text), "tokens of the reply")
    if problem := cut(text_prompt_tokens(prompt), seen.tokens):
        raise CutPrompt(f"{endpoint} {problem} Give the server a context that is long enough.")
    problems = tuple(one.problem for one in (seen, written) if one.problem)
    return Reply(text, seen.tokens, written.tokens, "length" if is_cut_short else "stop", problems=problems)


def cut(sent: int, seen: int) -> str:
    """The problem, if a server counted far fewer tokens than it was sent; empty otherwise.

    Token counts differ between models, but by less than half.
    """
    if sent < CUT_FROM or 2 * seen >= sent:
        return ""
    return f"saw only {seen:,} of about {sent:,} tokens: it cuts prompts off without a word."


def total(usage: object, *keys: str) -> object:
    """The sum of the server's counts under these keys; if one of them is not an integer, that one."""
    counts = [count for key in keys if isinstance(usage, Mapping) and (count := usage.get(key)) is not None]
    wrong = [count for count in counts if type(count) is not int]
    return wrong[0] if wrong else sum(counts)
