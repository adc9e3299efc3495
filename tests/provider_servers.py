"""Servers on this machine that speak as Anthropic, Azure and Amazon Bedrock do, and refuse what these refuse.

async with AnthropicServer("overloaded") as server:
    chat = open_chat(endpoint("anthropic/any", url=server.url, key=KEY))
"""

import asyncio
import base64
import binascii
import itertools
import json
import re
import struct
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self
from urllib.parse import unquote

from trueweave.testing.model_server.http import HttpReply, endless, pieces_of, send, whole

KEY = "sk-do-not-show-me"
MODEL = "vendor.any-v1:0"
TEXT = json.dumps({"entities": ["Ada", "Babbage"], "relations": []})
WORDS = [TEXT[at : at + 9] for at in range(0, len(TEXT), 9)]
RETRY_AFTER = 30
ELSEWHERE = "http://localhost:9/elsewhere?token=secret"


@dataclass(frozen=True)
class Received:
    """A request that a server received."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


class Wrong(Exception):
    """The request is none that the real server takes: status, code and message of its refusal."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message


class ProviderServer(ABC):
    """A server in one case: `""` is that all goes well. `left` is set when a client went before it had all."""

    ERRORS: ClassVar[Mapping[str, tuple[int, str, str]]]  # status, code and message by case

    def __init__(self, case: str = "") -> None:
        self.case = case
        self.received: list[Received] = []
        self.left = asyncio.Event()
        self._connections: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=1 << 20)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await self._server.wait_closed()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            while await self._served(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            self.left.set()
        except asyncio.CancelledError:
            writer.transport.abort()
        finally:
            self._connections.discard(task)
            writer.close()

    async def _served(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ", 2)
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:-2])}
        body = json.loads(await reader.readexactly(int(headers["content-length"])))
        self.received.append(Received(path, headers, body))
        try:
            answer = self._answer(method, self.received[-1], reader)
        except Wrong as wrong:
            answer = self.error(wrong.status, wrong.code, wrong.message)
        return await send(writer, answer)

    def _answer(self, method: str, asked: Received, reader: asyncio.StreamReader) -> HttpReply:
        if method != "POST" or asked.headers.get("content-type", "").partition(";")[0] != "application/json":
            raise Wrong(400, "invalid_request_error", "it is to be JSON")
        streams = self.check(asked)
        if self.case in self.ERRORS:
            headers = (("Retry-After", str(RETRY_AFTER)),) if self.case == "rate-limit" else ()
            return self.error(*self.ERRORS[self.case], *headers)
        match self.case:
            case "redirect":
                return whole(307, {}, [("Location", ELSEWHERE)])
            case "huge-error":
                return HttpReply(400, endless(b'{"message": "'), None)
            case "hang":
                return HttpReply(200, self._until_left(reader, ()), None)
            case "endless" if not streams:
                return HttpReply(200, endless(b'{"content": "'), None)
            case "not-json" if not streams:
                return HttpReply(200, pieces_of([b"<html>Sign in</html>"]), 20, type=b"text/html")
        pieces = self.answered(asked.body)
        if not streams:
            (found,) = pieces
            return HttpReply(200, pieces_of([found]), len(found), breaks=self.case == "dropped")
        begun = pieces[: self.head + 2]
        if self.case == "endless":
            return HttpReply(
                200, pieces_of(itertools.cycle(pieces[self.head : self.head + 1])), None, type=self.stream_type
            )
        if self.case == "paused":
            return HttpReply(200, self._until_left(reader, begun), None, type=self.stream_type)
        if self.case == "unfinished":
            pieces = begun
        if self.case == "error-in-stream":
            pieces = [*begun, self.error_in_stream()]
        return HttpReply(200, pieces_of(pieces), None, type=self.stream_type, breaks=self.case == "dropped")

    async def _until_left(self, reader: asyncio.StreamReader, pieces: Iterable[bytes]) -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece
        if not await reader.read(1):
            self.left.set()

    stream_type: ClassVar[bytes] = b"text/event-stream"
    head = 2  # events of a stream before the first that adds to the reply

    @abstractmethod
    def check(self, asked: Received) -> bool:
        """Whether a stream is asked for. Raises Wrong for what the real server refuses."""

    @abstractmethod
    def answered(self, body: Mapping[str, Any]) -> Sequence[bytes]:
        """The events of a stream, or the only piece of a reply."""

    @abstractmethod
    def error(self, status: int, code: str, message: str, *headers: tuple[str, str]) -> HttpReply:
        """A refusal."""

    @abstractmethod
    def error_in_stream(self) -> bytes:
        """An error that comes after the stream has begun."""

    @property
    def stopped(self) -> str:
        """How the reply ends, in the words of the provider; `text` is cut where it is too long."""
        return {"length": "max_tokens", "refusal": "refusal", "withheld": "guardrail_intervened"}.get(self.case, "")

    @property
    def words(self) -> Sequence[str]:
        return [] if self.case in ("refusal", "withheld") else WORDS[:2] if self.case == "length" else WORDS


def only(given: Mapping[str, Any], allowed: Iterable[str], where: str = "") -> None:
    """Raise Wrong for a field that is not known, as strict servers do."""
    for name in given:
        if name not in set(allowed):
            raise Wrong(400, "invalid_request_error", f"{where}{name}: Extra inputs are not permitted")


# --- Anthropic ----------------------------------------------------------------------------------------


class AnthropicServer(ProviderServer):
    """The Messages API, of version 2026-10-21 and of the one before it.

    In the case `no-temperature` the model takes no temperature in any version, in `no-forced-tool` no forced tool.
    """

    ERRORS: ClassVar[Mapping[str, tuple[int, str, str]]] = {
        "bad-key": (401, "authentication_error", f"invalid key: {KEY}"),
        "forbidden": (403, "permission_error", "the key may not use this model"),
        "no-model": (404, "not_found_error", "model: vendor.any-v1:0"),
        "rate-limit": (429, "rate_limit_error", "this request would exceed the limit"),
        "broken": (500, "api_error", "Internal server error"),
        "overloaded": (529, "overloaded_error", "Overloaded"),
        "too-long": (400, "invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum"),
        "no-credit": (400, "invalid_request_error", "Your credit balance is too low to access the API"),
    }
    BODY = ("model", "max_tokens", "messages", "system", "tools", "tool_choice", "output_config", "stream", "thinking")

    def check(self, asked: Received) -> bool:
        body, version = asked.body, asked.headers.get("anthropic-version", "")
        if asked.path != "/v1/messages":
            raise Wrong(404, "not_found_error", "Not Found")
        if f"Bearer {KEY}" != asked.headers.get("authorization") and asked.headers.get("x-api-key") != KEY:
            raise Wrong(401, "authentication_error", "invalid key")
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", version):
            raise Wrong(400, "invalid_request_error", "anthropic-version: header is required")
        only(body, [*self.BODY, "temperature"] if version < "2026-10-21" else self.BODY)
        if self.case == "no-temperature" and "temperature" in body:
            raise Wrong(400, "invalid_request_error", "`temperature` is deprecated for this model.")
        if not isinstance(body.get("max_tokens"), int) or not body.get("model"):
            raise Wrong(400, "invalid_request_error", "max_tokens: Field required")
        for at, message in enumerate(body["messages"]):
            only(message, ("role", "content"), f"messages.{at}.")
            content = message["content"]
            blocks: list[Any] = [{"type": "text", "text": content}] if isinstance(content, str) else content
            for block in blocks:
                if block["type"] == "image":
                    only(block["source"], ("type", "media_type", "data"), f"messages.{at}.content.source.")
                    base64.b64decode(block["source"]["data"], validate=True)
                elif message["role"] not in ("user", "assistant") or not block["text"].strip():
                    raise Wrong(400, "invalid_request_error", f"messages.{at}: text content blocks must be non-empty")
        if body["messages"][0]["role"] != "user":
            raise Wrong(400, "invalid_request_error", "messages: first message must use the user role")
        names = [tool["name"] for tool in body.get("tools", ()) if tool["input_schema"]["type"] == "object"]
        if choice := body.get("tool_choice"):
            if self.case == "no-forced-tool" and choice["type"] in ("tool", "any"):
                raise Wrong(
                    400, "invalid_request_error", "tool_choice forces tool use is not compatible with this model"
                )
            if choice["name"] not in names:
                raise Wrong(400, "invalid_request_error", f"tool_choice: no tool {choice['name']}")
        return body.get("stream") is True

    def answered(self, body: Mapping[str, Any]) -> Sequence[bytes]:
        text, is_tool = "".join(self.words), "tool_choice" in body
        stopped = self.stopped or ("tool_use" if is_tool else "end_turn")
        usage = {"input_tokens": 10, "cache_creation_input_tokens": 4, "cache_read_input_tokens": 2}
        details = {"type": "refusal", "category": None, "explanation": "I cannot help with that."}
        end = {"stop_reason": stopped, "stop_sequence": None, "stop_details": details if stopped == "refusal" else None}
        base = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"]}
        tool = {"type": "tool_use", "id": "toolu_1", "name": "reply"}
        if not body.get("stream"):
            written = {**tool, "input": {} if self.case == "length" else json.loads(TEXT)}
            block = written if is_tool else {"type": "text", "text": text}
            content = [{"type": "thinking", "thinking": "", "signature": "s"}, block] if text else []
            found = {**base, **end, "content": content, "usage": {**usage, "output_tokens": 21}}
            return [json.dumps(found).encode()]
        begun = {**tool, "input": {}} if is_tool else {"type": "text", "text": ""}
        kinds = ("input_json_delta", "partial_json") if is_tool else ("text_delta", "text")
        deltas = [{"type": kinds[0], kinds[1]: word} for word in self.words]
        message = {**base, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
        return [
            self.event("message_start", message=message),
            self.event("content_block_start", index=0, content_block=begun),
            *(self.event("content_block_delta", index=0, delta=delta) for delta in deltas),
            self.event("ping"),
            self.event("content_block_stop", index=0),
            self.event("message_delta", delta=end, usage={"output_tokens": 21}),
            self.event("message_stop"),
        ]

    def error(self, status: int, code: str, message: str, *headers: tuple[str, str]) -> HttpReply:
        return whole(status, {"type": "error", "error": {"type": code, "message": message}}, headers)

    def error_in_stream(self) -> bytes:
        return self.event("error", error={"type": "overloaded_error", "message": "Overloaded"})

    @staticmethod
    def event(kind: str, **more: Any) -> bytes:
        return b"event: %b\ndata: %b\n\n" % (kind.encode(), json.dumps({"type": kind, **more}).encode())


# --- Azure --------------------------------------------------------------------------------------------


class AzureServer(ProviderServer):
    """OpenAI's API as Azure serves it, under /openai/v1: chat and embeddings."""

    ERRORS: ClassVar[Mapping[str, tuple[int, str, str]]] = {
        "bad-key": (401, "401", f"Access denied due to invalid subscription key {KEY} or wrong API endpoint"),
        "forbidden": (403, "403", "Access denied by the firewall of the resource"),
        "no-model": (404, "DeploymentNotFound", "The API deployment for this resource does not exist"),
        "rate-limit": (429, "RateLimitReached", "Your requests have exceeded the rate limit"),
        "broken": (500, "InternalServerError", "The server had an error"),
        "overloaded": (503, "ServiceUnavailable", "The service is overloaded"),
        "too-long": (400, "context_length_exceeded", "This model's maximum context length is 8192 tokens"),
        "no-credit": (429, "insufficient_quota", "You exceeded your current quota"),
    }
    BODY = ("model", "messages", "max_tokens", "max_completion_tokens", "temperature", "response_format", "stream")

    def check(self, asked: Received) -> bool:
        body = asked.body
        if asked.path not in ("/openai/v1/chat/completions", "/openai/v1/embeddings"):
            raise Wrong(404, "404", "Resource not found")
        if f"Bearer {KEY}" != asked.headers.get("authorization") and asked.headers.get("api-key") != KEY:
            raise Wrong(401, "401", "Access denied")
        if asked.path.endswith("/embeddings"):
            only(body, ("model", "input", "encoding_format", "dimensions"))
            return False
        only(body, [*self.BODY, "stream_options"])
        if "stream_options" in body and body.get("stream") is not True:
            raise Wrong(400, "invalid_request_error", "stream_options is only allowed with stream")
        if self.case == "no-temperature" and "temperature" in body:
            raise Wrong(400, "unsupported_value", "temperature")
        return body.get("stream") is True

    def answered(self, body: Mapping[str, Any]) -> Sequence[bytes]:
        usage = {"prompt_tokens": 16, "completion_tokens": 21, "total_tokens": 37}
        if "input" in body:
            rows = [{"object": "embedding", "index": at, "embedding": [1.0, at]} for at in range(len(body["input"]))]
            return [json.dumps({"object": "list", "data": rows, "usage": {"prompt_tokens": 4}}).encode()]
        refusal = "I cannot help with that." if self.case == "refusal" else None
        finish = {"length": "length", "withheld": "content_filter"}.get(self.case, "stop")
        if not body.get("stream"):
            message = {"role": "assistant", "content": "".join(self.words), "refusal": refusal}
            choice = {"index": 0, "message": message, "finish_reason": finish}
            return [json.dumps({"object": "chat.completion", "choices": [choice], "usage": usage}).encode()]
        filtered = {"choices": [], "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": {}}]}
        said = [{"content": word} for word in self.words] + ([{"refusal": refusal}] if refusal else [])
        return [
            self.event(filtered),
            self.event({"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]}),
            *(self.event({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}) for delta in said),
            self.event({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}),
            self.event({"choices": [], "usage": usage}),
            b"data: [DONE]\n\n",
        ]

    def error(self, status: int, code: str, message: str, *headers: tuple[str, str]) -> HttpReply:
        is_parameter = code == "unsupported_value"
        said = {"message": message, "code": code, "type": None, "param": message if is_parameter else None}
        return whole(status, {"error": said}, headers)

    def error_in_stream(self) -> bytes:
        return self.event({"error": {"message": "Overloaded", "code": 503}})

    @staticmethod
    def event(found: Mapping[str, Any]) -> bytes:
        return b"data: %b\n\n" % json.dumps({"object": "chat.completion.chunk", **found}).encode()


# --- Bedrock ------------------------------------------------------------------------------------------


class BedrockServer(ProviderServer):
    """Converse and ConverseStream, whose events are binary messages with checksums."""

    ERRORS: ClassVar[Mapping[str, tuple[int, str, str]]] = {
        "bad-key": (403, "UnrecognizedClientException", "The security token included in the request is invalid."),
        "forbidden": (403, "AccessDeniedException", "You don't have access to the model with the specified model ID."),
        "no-model": (404, "ResourceNotFoundException", "Could not resolve the foundation model from the identifier"),
        "rate-limit": (429, "ThrottlingException", "Too many requests, please wait before trying again."),
        "model-late": (408, "ModelTimeoutException", "The model took too long to answer"),
        "broken": (500, "InternalServerException", "The system encountered an unexpected error"),
        "overloaded": (503, "ServiceUnavailableException", "The service is overloaded"),
        "too-long": (400, "ValidationException", "Input is too long for requested model."),
    }
    stream_type: ClassVar[bytes] = b"application/vnd.amazon.eventstream"

    def check(self, asked: Received) -> bool:
        found = re.fullmatch(r"/model/([^/]+)/(converse|converse-stream)", asked.path)
        if not found or unquote(found[1]) != MODEL:
            raise Wrong(404, "ResourceNotFoundException", f"no such path: {asked.path}")
        signed = r"AWS4-HMAC-SHA256 Credential=AKIATEST/\d{8}/eu-test-1/bedrock/aws4_request, SignedHeaders=\S+, "
        if not re.match(rf"{signed}Signature=[0-9a-f]{{64}}", asked.headers.get("authorization", "")):
            raise Wrong(403, "UnrecognizedClientException", "The security token is invalid.")
        body = asked.body
        only(body, ("messages", "system", "inferenceConfig", "toolConfig", "outputConfig"))
        only(body["inferenceConfig"], ("maxTokens", "temperature", "topP"))
        if self.case == "no-temperature" and "temperature" in body["inferenceConfig"]:
            raise Wrong(400, "ValidationException", "The model returned: `temperature` is deprecated for this model.")
        for message in body["messages"]:
            only(message, ("role", "content"))
            if message["role"] not in ("user", "assistant") or not all(
                one["image"]["source"]["bytes"] if "image" in one else one["text"].strip() for one in message["content"]
            ):
                raise Wrong(400, "ValidationException", "The text field in the ContentBlock object is blank.")
        if tools := body.get("toolConfig"):
            if self.case == "no-forced-tool":
                problem = "This model doesn't support the toolConfig.toolChoice.tool field."
                raise Wrong(400, "ValidationException", problem)
            names = [tool["toolSpec"]["name"] for tool in tools["tools"] if tool["toolSpec"]["inputSchema"]["json"]]
            assert tools["toolChoice"]["tool"]["name"] in names
        if form := body.get("outputConfig"):
            json.loads(form["textFormat"]["structure"]["jsonSchema"]["schema"])
        self._streams = found[2] == "converse-stream"
        return self._streams

    def answered(self, body: Mapping[str, Any]) -> Sequence[bytes]:
        is_tool = "toolConfig" in body
        stopped = self.stopped or ("tool_use" if is_tool else "end_turn")
        usage = {"inputTokens": 10, "cacheReadInputTokens": 2, "cacheWriteInputTokens": 4}
        usage |= {"outputTokens": 21, "totalTokens": 37}
        tool = {"toolUseId": "t1", "name": "reply"}
        if not self._streams:
            written = {"toolUse": {**tool, "input": {} if self.case == "length" else json.loads(TEXT)}}
            blocks: list[dict[str, Any]] = [{"reasoningContent": {"reasoningText": {"text": "Hm."}}}]
            blocks.append(written if is_tool else {"text": "".join(self.words)})
            message = {"role": "assistant", "content": blocks}
            found = {"output": {"message": message}, "stopReason": stopped, "usage": usage, "metrics": {"latencyMs": 1}}
            return [json.dumps(found).encode()]
        # A block of text is not announced.
        start = [self.event("contentBlockStart", {"contentBlockIndex": 0, "start": {"toolUse": tool}})]
        self.head = 2 if is_tool else 1
        deltas = [{"toolUse": {"input": word}} if is_tool else {"text": word} for word in self.words]
        return [
            self.event("messageStart", {"role": "assistant"}),
            *(start if is_tool else ()),
            *(self.event("contentBlockDelta", {"contentBlockIndex": 0, "delta": delta}) for delta in deltas),
            self.event("contentBlockStop", {"contentBlockIndex": 0}),
            self.event("messageStop", {"stopReason": stopped}),
            self.event("metadata", {"usage": usage, "metrics": {"latencyMs": 1}}),
        ]

    def error(self, status: int, code: str, message: str, *headers: tuple[str, str]) -> HttpReply:
        return whole(status, {"message": message}, [("x-amzn-ErrorType", f"{code}:http://internal/"), *headers])

    def error_in_stream(self) -> bytes:
        return self.event("throttlingException", {"message": "Too many requests"}, kind="exception")

    @staticmethod
    def event(name: str, found: Mapping[str, Any], kind: str = "event") -> bytes:
        """A message of an event stream: lengths, their checksum, headers, the body, and the checksum of it all."""
        names = {f":{kind}-type": name, ":content-type": "application/json", ":message-type": kind}
        headers = b"".join(
            struct.pack("!B", len(key)) + key.encode() + struct.pack("!BH", 7, len(value)) + value.encode()
            for key, value in names.items()
        )
        body = json.dumps(found).encode()
        prelude = struct.pack("!II", len(headers) + len(body) + 16, len(headers))
        begun = prelude + struct.pack("!I", binascii.crc32(prelude)) + headers + body
        return begun + struct.pack("!I", binascii.crc32(begun))
