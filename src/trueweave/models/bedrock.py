"""Chat models of Amazon Bedrock, through its Converse API, which is the same for models of all vendors.

This module is imported only when such a model is opened, as boto3 is an extra. boto3 blocks, so each call runs in a
thread. boto3 itself finds credentials and the region, in the environment and in the files and services of AWS: that
chain has its own rules, and is not reimplemented here.

boto3 reads a whole reply, however long it is. So requests are sent by a handler of its event `before-send`, over
botocore's own HTTP session, whose replies can be read up to a limit.
"""

from __future__ import annotations

import json
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Mapping, Sequence
from contextlib import aclosing, closing, contextmanager, suppress
from functools import cached_property, partial
from typing import Any
from urllib.parse import urlsplit

import boto3
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.config import Config
from botocore.eventstream import ParserError
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    CredentialRetrievalError,
    EventStreamError,
    HTTPClientError,
    NoAuthTokenError,
    NoCredentialsError,
    NoRegionError,
    PartialCredentialsError,
    ProfileNotFound,
    ReadTimeoutError,
    TokenRetrievalError,
)
from botocore.exceptions import ConnectionError as UnreachedError
from botocore.httpsession import URLLib3Session
from botocore.parsers import ResponseParserError
from botocore.session import Session
from botocore.utils import get_environ_proxies
from urllib3.exceptions import HTTPError
from urllib3.exceptions import TimeoutError as LateError
from urllib3.response import BaseHTTPResponse

from trueweave.core.errors import ConfigError, ModelError, ModelRefused
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
    system_of,
    tool_reply,
    total,
    turns_of,
)
from trueweave.models.failures import Failures, UselessReply
from trueweave.models.http import ERROR_BYTES
from trueweave.models.names import Endpoint
from trueweave.models.options import NO_OPTIONS, check_options
from trueweave.models.server import CONNECT_IN, TimeAllowance
from trueweave.models.threads import read_in_thread

_WITHHELD = ("guardrail_intervened", "content_filtered")
_TOKENS_IN = ("inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens")
_CREDENTIALS = (
    NoCredentialsError,
    PartialCredentialsError,
    CredentialRetrievalError,
    NoAuthTokenError,
    TokenRetrievalError,
    ProfileNotFound,
)
# Errors inside a stream have no status of their own.
_STATUSES = {
    "validationexception": 400,
    "throttlingexception": 429,
    "modelstreamerrorexception": 424,
    "serviceunavailableexception": 503,
}
_PIECE = 64 << 10  # bytes read at a time

_Answers = Generator[dict[str, Any], None, None]
_Ask = Callable[["_BedrockCall", str, Mapping[str, Any]], _Answers]


class BedrockChat(ServerChat[ToolDialect]):
    """A chat model of Amazon Bedrock.

    For a reply that must follow a schema, the model is made to call a tool, and the reply is the JSON of its arguments.
    Models that cannot be made to call a tool get the schema as their output format.
    """

    def __init__(self, endpoint: Endpoint, *, deadline: float = DEADLINE, options: ModelOptions = NO_OPTIONS) -> None:
        check_options(endpoint.name, options, ("top_p",))
        self._options = {"topP": options["top_p"]} if "top_p" in options else {}
        if endpoint.key:
            raise ConfigError(
                f"{endpoint.name} takes no key from Trueweave: boto3 finds the credentials of AWS itself. "
                "Remove model_key_variable."
            )
        super().__init__(endpoint, _Bedrock(endpoint, deadline), ToolDialect())

    def _request(self, prompt: Prompt, dialect: ToolDialect, *, stream: bool) -> ChatRequest:
        limits: dict[str, Any] = {"maxTokens": prompt.max_tokens, **self._options}
        if dialect.takes_temperature:
            limits["temperature"] = prompt.temperature
        body: dict[str, Any] = {
            "modelId": self.endpoint.model,
            "messages": [{"role": turn.role, "content": _content(turn)} for turn in turns_of(prompt)],
            "inferenceConfig": limits,
        }
        if system := system_of(prompt):
            body["system"] = [{"text": system}]
        if prompt.schema and dialect.forces_tool:
            form = {"name": TOOL, "description": TOOL_USE, "inputSchema": {"json": json.loads(prompt.schema)}}
            body["toolConfig"] = {"tools": [{"toolSpec": form}], "toolChoice": {"tool": {"name": TOOL}}}
        elif prompt.schema:
            text = {"type": "json_schema", "structure": {"jsonSchema": {"schema": prompt.schema, "name": TOOL}}}
            body["outputConfig"] = {"textFormat": text}
        return ChatRequest("converse_stream" if stream else "converse", body)

    def _read(self, prompt: Prompt, found: Mapping[str, Any]) -> Reply:
        stopped = found.get("stopReason")
        if stopped in _WITHHELD:
            raise UselessReply(
                f"{self.endpoint} withheld its reply: its content filter objects to the passage or to the reply. "
                "Use another model for this document.",
                charged=True,
            )
        output = found.get("output")
        message = output.get("message") if isinstance(output, dict) else None
        if not isinstance(message, dict):
            raise UselessReply(f"{self.endpoint} sent no reply at all: no message.", charged=True)
        usage = found.get("usage")
        counts = total(usage, *_TOKENS_IN), total(usage, "outputTokens")
        text = _text(message.get("content") or ())
        return counted_reply(self.endpoint, prompt, text, counts, is_cut_short=stopped in CUT_SHORT)

    def _piece(self, event: Mapping[str, Any]) -> str:
        return _added(event, "text") or _added(event, "input")

    def _is_last(self, event: Mapping[str, Any]) -> bool:
        return "messageStop" in event

    def _joined(self, events: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        text, arguments = ("".join(_added(event, what) for event in events) for what in ("text", "input"))
        content = {"toolUse": {"input": arguments}} if arguments else {"text": text}
        stop: Mapping[str, Any] = next((event["messageStop"] for event in events if "messageStop" in event), {})
        last: Mapping[str, Any] = next((event["metadata"] for event in events if "metadata" in event), {})
        return {
            "output": {"message": {"content": [content]}},
            "stopReason": stop.get("stopReason"),
            "usage": last.get("usage"),
        }


class _Bedrock:
    """The target of requests: boto3's client for `bedrock-runtime`."""

    def __init__(self, endpoint: Endpoint, deadline: float) -> None:
        self._endpoint = endpoint
        self._deadline = deadline
        self._failures = Failures(endpoint, deadline, TOLD_IN_WORDS)
        self._making = threading.Lock()
        self._calls = threading.local()

    async def post(self, path: str, body: Mapping[str, Any], most_bytes: int) -> dict[str, Any]:
        """The response of the operation of that name."""
        call = _BedrockCall(most_bytes)
        async with aclosing(self._heard(self._answer, call, path, body)) as answers:
            return await anext(answers)

    async def events(
        self, path: str, body: Mapping[str, Any], most_bytes: int, is_end: Callable[[dict[str, Any]], bool]
    ) -> AsyncGenerator[dict[str, Any], None]:
        """The events of the operation of that name."""
        call = _BedrockCall(most_bytes)
        has_ended = False
        async with aclosing(self._heard(self._stream, call, path, body)) as events:
            async for event in events:
                has_ended |= is_end(event)
                yield event
        if not has_ended:
            raise self._failures.broken_off("the stream ended before the reply did")

    async def close(self) -> None:
        """Close the connections."""
        if "_http" in vars(self):
            self._http.close()
        if "_client" in vars(self):
            self._client.close()

    async def _heard(
        self, ask: _Ask, call: _BedrockCall, operation: str, body: Mapping[str, Any]
    ) -> AsyncGenerator[dict[str, Any], None]:
        """What a separate thread receives, within the deadline."""
        allowance = TimeAllowance(self._deadline)
        has_begun = False
        async with aclosing(read_in_thread(partial(ask, call, operation, body), call.stop)) as found:
            while True:
                with self._sorted(has_begun=has_begun):
                    item = await allowance.wait_for(anext(found, None))
                if item is None:
                    return
                has_begun = True
                yield item

    def _answer(self, call: _BedrockCall, operation: str, body: Mapping[str, Any]) -> _Answers:
        """In a thread: the response of an operation. The first call makes the client here, as that reads files."""
        with self._making:
            client = self._client
        self._calls.now = call
        yield getattr(client, operation)(**body)

    def _stream(self, call: _BedrockCall, operation: str, body: Mapping[str, Any]) -> _Answers:
        """In a thread: the events of an operation, as they arrive."""
        for answer in self._answer(call, operation, body):
            with closing(answer["stream"]) as events:
                yield from events

    @cached_property
    def _client(self) -> Any:
        client = boto3.Session(botocore_session=self._session).client(
            "bedrock-runtime",
            endpoint_url=self._endpoint.url or None,
            config=Config(retries={"total_max_attempts": 1}),
        )
        client.meta.events.register("before-send.bedrock-runtime", self._send)
        return client

    @cached_property
    def _session(self) -> Session:
        return Session()

    @cached_property
    def _http(self) -> URLLib3Session:
        bundle = self._session.get_config_variable("ca_bundle")
        return URLLib3Session(
            verify=True if bundle is None else bundle,
            proxies=get_environ_proxies(self._client.meta.endpoint_url),
            timeout=(min(CONNECT_IN, self._deadline), self._deadline),
            max_pool_connections=64,
        )

    def _send(self, request: AWSPreparedRequest, **_: object) -> AWSResponse:
        """Send a request for botocore, and give it the part of the response that may be read."""
        request.stream_output = True  # do not read the response yet
        with self._making:
            http = self._http
        answer = http.send(request)
        to = answer.headers.get("location")
        if 300 <= answer.status_code < 400 and to:
            answer.raw.close()
            place = urlsplit(to)
            raise self._failures.redirected(f"{place.scheme}://{place.hostname}{place.path}" if place.hostname else to)
        call: _BedrockCall = self._calls.now
        call.raw = answer.raw
        if call.is_stopped:
            call.stop()
        is_error = answer.status_code >= 400
        most = ERROR_BYTES if is_error else call.most_bytes
        bounded = _Bounded(answer.raw, most, self._failures, answer.headers.get("content-length"), is_error=is_error)
        return AWSResponse(answer.url, answer.status_code, answer.headers, bounded)

    @contextmanager
    def _sorted(self, *, has_begun: bool) -> Iterator[None]:
        """Convert failures of a call to Trueweave's errors."""
        try:
            yield
        except (TimeoutError, ReadTimeoutError, LateError) as error:
            raise self._failures.late() from error
        except ClientError as error:
            raise self._refused(error, has_begun=has_begun) from error
        except _CREDENTIALS as error:
            raise ModelRefused(
                f"{self._endpoint} needs credentials of AWS, and boto3 finds none that it can use: {error} "
                "Set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or run `aws configure`."
            ) from error
        except NoRegionError as error:
            raise ModelRefused(
                f"{self._endpoint} needs a region of AWS, and boto3 finds none. Set AWS_REGION, as in us-east-1."
            ) from error
        except UnreachedError as error:
            raise self._failures.unreached(str(error).rstrip(".")) from error
        except (HTTPClientError, HTTPError, ParserError, ResponseParserError) as error:
            raise self._failures.broken_off(str(error).rstrip(".")) from error
        except BotoCoreError as error:
            raise ModelRefused(f"{self._endpoint} cannot be asked: {error} Check the settings of AWS.") from error

    def _refused(self, error: ClientError, *, has_begun: bool) -> ModelError:
        details = error.response.get("Error", {})
        about = error.response.get("ResponseMetadata", {})
        code = str(details.get("Code", ""))
        is_in_stream = isinstance(error, EventStreamError)
        status = _STATUSES.get(code.lower(), 500) if is_in_stream else about.get("HTTPStatusCode", 500)
        said = f"{code}: {details.get('Message') or 'with no explanation'}"
        found = self._failures.refused(status, {"message": said, "code": code}, about.get("HTTPHeaders", {}))
        found.charged |= has_begun  # whatever the server says, it has done some of the work
        return found


class _BedrockCall:
    """One call: the maximum size of its response, and the response itself, so that another thread can end it."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self.raw: BaseHTTPResponse | None = None
        self.is_stopped = False

    def stop(self) -> None:
        """Stop the thread that reads the response. A thread still waiting for it to begin stops at the deadline."""
        self.is_stopped = True
        if self.raw is not None:
            with suppress(RuntimeError, ValueError, OSError):  # it was read to the end, or is closed
                self.raw.shutdown()


class _Bounded:
    """The body of a response as botocore reads it, up to a limit."""

    def __init__(
        self, raw: BaseHTTPResponse, most: int, failures: Failures, length: str | None, *, is_error: bool
    ) -> None:
        self._raw = raw
        self._most = most
        self._failures = failures
        self._length = int(length) if length and length.isdecimal() else None
        self._is_error = is_error

    def stream(self) -> Iterator[bytes]:
        """The body in pieces. A body over the limit is an error, except that of an error response, which is cut."""
        size = 0
        try:
            while piece := self._raw.read1(_PIECE):
                size += len(piece)
                if size > self._most and not self._is_error:
                    raise self._failures.endless(self._most)
                yield piece[: len(piece) - max(0, size - self._most)]
                if size > self._most:
                    return
        finally:
            self._raw.close()
        if self._length is not None and size < self._length:
            raise self._failures.broken_off(f"{size:,} of {self._length:,} bytes came")

    def close(self) -> None:
        """Close the connection."""
        self._raw.close()


def _content(message: Message) -> list[dict[str, Any]]:
    images: list[dict[str, Any]] = [
        {"image": {"format": image.media_type.removeprefix("image/"), "source": {"bytes": image.data}}}
        for image in message.images
    ]
    return [*images, {"text": message.content}]


def _text(content: Sequence[object]) -> str:
    """The reply: the arguments of the tool if it was called, otherwise the text. Thinking is left out."""
    blocks = [block for block in content if isinstance(block, dict)]
    called = next((block["toolUse"].get("input") for block in blocks if "toolUse" in block), None)
    return tool_reply(called, (str(block.get("text") or "") for block in blocks))


def _added(event: Mapping[str, Any], what: str) -> str:
    """What an event adds to the text, or to the arguments of the tool (`input`)."""
    delta = event.get("contentBlockDelta", {}).get("delta", {})
    return str((delta.get("toolUse", {}) if what == "input" else delta).get(what) or "")
