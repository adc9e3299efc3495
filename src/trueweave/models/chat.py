"""What chat models on servers have in common: how they are asked, listened to, and asked again in another way when a
server takes no such parameter."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

from trueweave.core.model_calls import Prompt, Purpose, Reply
from trueweave.models.failures import CutPrompt, Unsupported
from trueweave.models.names import Endpoint
from trueweave.models.reply_stream import Stream
from trueweave.models.server import MOST_BYTES
from trueweave.models.usage import counted, prompt_tokens
from trueweave.text import tokens

DEADLINE = 300.0  # seconds for one call, from the first byte sent to the last received
CUT_FROM = 500  # tokens; a prompt shorter than this is not cut by any server
TOOL = "reply"  # what a tool is called whose arguments are the reply
TOOL_USE = "Gives the reply. Its arguments are the whole reply."
TOLD_IN_WORDS = ("temperature", "toolchoice")
CUT_SHORT = ("max_tokens", "model_context_window_exceeded")  # why a model stopped before its reply was complete

_BYTES_PER_TOKEN = 64  # of a reply in JSON, generously
_BYTES_PER_EVENT = 1024  # of a stream, for one token; more generously still


class Exchange(Protocol):
    """Where requests go, as `Server` is."""

    async def post(self, path: str, body: Mapping[str, Any], most_bytes: int) -> dict[str, Any]:
        """The answer to a request."""
        ...

    def events(
        self, path: str, body: Mapping[str, Any], most_bytes: int, is_end: Callable[[dict[str, Any]], bool]
    ) -> AsyncGenerator[dict[str, Any], None]:
        """The events of a stream. One that is over before one came that `is_end` is an error."""
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


class RequestDialect(Protocol):
    """How requests to a model differ from the usual. It is learnt from the server's refusals."""

    def without(self, parameter: str) -> Self:
        """How to ask a model that does not take the parameter; unchanged if there is no other way."""
        ...


class ChatRequest(NamedTuple):
    """A path of the server and what is sent there."""

    path: str
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolDialect:
    """A model that gives a reply of a certain form as the arguments of a tool that it must call, or else, as models do
    that cannot be made to call one, as text to which the server applies the schema."""

    takes_temperature: bool = True
    forces_tool: bool = True

    def without(self, parameter: str) -> ToolDialect:
        """How to ask a model that does not take the parameter: one of `TOLD_IN_WORDS`."""
        match parameter:
            case "temperature":
                return replace(self, takes_temperature=False)
            case "toolchoice":
                return replace(self, forces_tool=False)
        return self


D = TypeVar("D", bound=RequestDialect)


class ServerChat(ABC, Generic[D]):
    """A chat model on a server, in its usual dialect until the server refuses a parameter."""

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
        """The pieces of the reply as they come, and at the end the whole of it, or the same errors."""
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
        """How many tokens prompt and reply may have together; None where the server does not say."""
        return None

    async def close(self) -> None:
        """Close the connections."""
        await self._exchange.close()

    def _learn_from(self, error: Unsupported, spoken: D) -> None:
        """Change later requests so that the server accepts them. Raises the error when there is no other way to ask."""
        self._dialect = self._dialect.without(error.parameter)
        if self._dialect == spoken:
            raise error

    @abstractmethod
    def _request(self, prompt: Prompt, dialect: D, *, stream: bool) -> ChatRequest:
        """The request that asks for a reply to the prompt."""

    @abstractmethod
    def _read(self, prompt: Prompt, found: Mapping[str, Any]) -> Reply:
        """The reply in what the server answered."""

    @abstractmethod
    def _piece(self, event: Mapping[str, Any]) -> str:
        """What an event of a stream adds to the reply; empty where it adds nothing."""

    @abstractmethod
    def _is_last(self, event: Mapping[str, Any]) -> bool:
        """Whether the reply is complete with this event."""

    @abstractmethod
    def _joined(self, events: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        """What the server would have answered without streaming."""


def system_of(prompt: Prompt) -> str:
    """All messages of the system as one text, for APIs that have one place for them."""
    return "\n\n".join(message.content for message in prompt.messages if message.role == "system")


def turns_of(prompt: Prompt) -> list[tuple[str, str]]:
    """The other messages, each with its role. One without any text has a word in its place, as these APIs refuse it."""
    turns = [message for message in prompt.messages if message.role != "system"]
    return [(message.role, message.content if message.content.strip() else "(empty)") for message in turns]


def tool_reply(arguments: object, texts: Iterable[str]) -> str:
    """The reply: the arguments of the tool where it was called, as JSON, else the text."""
    if arguments is None:
        return "".join(texts)
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def reply_bytes(prompt: Prompt) -> int:
    """A bound on the bytes of a reply to this prompt."""
    return MOST_BYTES // 4 + _BYTES_PER_TOKEN * prompt.max_tokens


def stream_bytes(prompt: Prompt) -> int:
    """A bound on the bytes of a streamed reply to this prompt."""
    return MOST_BYTES // 4 + _BYTES_PER_EVENT * prompt.max_tokens


def counted_reply(
    endpoint: Endpoint, prompt: Prompt, text: str, said: tuple[object, object], *, is_cut_short: bool
) -> Reply:
    """The reply with its tokens, to the model and from it: as the server `said`, or else counted here.

    Raises CutPrompt when the server counted far fewer than it was sent.
    """
    sent = prompt_tokens(prompt)
    seen = counted(said[0], sent, "tokens of the prompt")
    written = counted(said[1], tokens.count(text), "tokens of the reply")
    if problem := cut(sent, seen.tokens):
        raise CutPrompt(f"{endpoint} {problem} Give the server a context that is long enough.")
    problems = tuple(one.problem for one in (seen, written) if one.problem)
    return Reply(text, seen.tokens, written.tokens, "length" if is_cut_short else "stop", problems=problems)


def cut(sent: int, seen: int) -> str:
    """What is wrong when a server counted far fewer tokens than were sent; empty when nothing is.

    Tokens differ between models, by less than half.
    """
    if sent < CUT_FROM or 2 * seen >= sent:
        return ""
    return f"saw only {seen:,} of about {sent:,} tokens: it cuts prompts off without a word."


def total(usage: object, *keys: str) -> object:
    """The sum of several counts of a server, where it gives any; the first that is no whole number, if one is not."""
    counts = [count for key in keys if isinstance(usage, Mapping) and (count := usage.get(key)) is not None]
    wrong = [count for count in counts if type(count) is not int]
    return wrong[0] if wrong else sum(counts)
