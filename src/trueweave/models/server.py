"""A model server: JSON in, JSON out, in bounded time and space, with failures classified by what can be done about
them.

What comes out is one object, or many as a stream. The `openai` SDK makes the requests. It is not asked to retry (see
retry.py) nor to read replies: a server that never stops sending would fill the memory. Errors it does read, from a
client that ends them early (see http.py).
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import Any, TypeVar

import httpx2
from openai import APIConnectionError, APIStatusError, AsyncOpenAI, AsyncStream

from trueweave.errors import BadReply, ModelError, ModelRefused, ModelUnavailable
from trueweave.models.http import BoundedClient, Redirected
from trueweave.models.names import Endpoint

T = TypeVar("T")

MOST_BYTES = 1 << 20  # of a reply about which nothing better is known
CONNECT_IN = 10.0  # seconds

_PASSING = frozenset({408, 409, 425, 429})
_GATEWAY = frozenset({502, 504})  # a proxy answers for the server, which may have done its work
_NO_CREDIT = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
_ABOUT_THE_PROMPT = re.compile(
    r"context.?(length|size|window)|maximum context|too many tokens|too long|input length|above_max_length"
    r"|content.?(filter|policy)|responsible ?ai",
    re.IGNORECASE,
)
_SHOWN = 300  # characters of what a server said
_DONE = b"[DONE]"  # how OpenAI ends a stream
_Ask = Callable[[], Awaitable[AsyncStream[object]]]


class UselessReply(BadReply):
    """The server answered, and the answer is unusable. `charged`: it may have cost something."""

    again = True

    def __init__(self, message: str, *, charged: bool) -> None:
        super().__init__(message)
        self.charged = charged


class Unsupported(ModelRefused):
    """The server takes no `parameter` with this model."""

    def __init__(self, message: str, parameter: str) -> None:
        super().__init__(message)
        self.parameter = parameter


class CutPrompt(ModelRefused):
    """The server answered without having seen all that it was sent, and may have charged for that."""

    charged = True


class _Allowance:
    """Seconds that may be spent on waiting, all in all. The time that the caller takes between two pieces does not
    count."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds

    async def wait_for(self, what: Awaitable[T]) -> T:
        began = time.monotonic()
        async with asyncio.timeout(self._left):
            found = await what
        self._left -= time.monotonic() - began
        return found


class Server:
    """The server behind an endpoint. It is waited for `deadline` seconds in each exchange, and no longer."""

    def __init__(self, endpoint: Endpoint, deadline: float) -> None:
        self.endpoint = endpoint
        self.deadline = deadline

    @cached_property
    def _client(self) -> AsyncOpenAI:
        client = AsyncOpenAI(
            api_key=self.endpoint.key or "none",
            base_url=self.endpoint.url,
            max_retries=0,
            http_client=BoundedClient(),
            timeout=httpx2.Timeout(self.deadline, connect=min(CONNECT_IN, self.deadline)),
        )
        # The SDK takes these from the environment, and would send them to servers that are not OpenAI's.
        client.organization = client.project = None
        return client

    async def post(self, path: str, body: Mapping[str, Any], most_bytes: int = MOST_BYTES) -> dict[str, Any]:
        """The JSON object that the server answers. A path counts from the endpoint's URL, unless it is a whole URL."""
        return await self._exchange(self._posting(path, body), most_bytes)

    async def events(
        self, path: str, body: Mapping[str, Any], most_bytes: int, is_end: Callable[[dict[str, Any]], bool]
    ) -> AsyncGenerator[dict[str, Any], None]:
        """The JSON objects that the server sends one after the other, as server-sent events or a line each.

        ModelUnavailable when the stream is over before one came that `is_end`.
        """
        has_begun = has_ended = False
        async with aclosing(self._lines(self._posting(path, body), most_bytes)) as lines:
            async for line in lines:
                data = _data(line)
                if data == _DONE:
                    break
                if not data:
                    continue
                try:
                    found = self._object(data)
                except ModelError as error:
                    error.charged |= has_begun  # whatever the server says: it has done some of the work
                    raise
                has_begun = True
                has_ended |= is_end(found)
                yield found
        if not has_ended:
            raise self._broken_off("the stream ended before the reply did")

    async def get(self, path: str, most_bytes: int = 16 * MOST_BYTES) -> dict[str, Any]:
        """The JSON object at that path, counted from the endpoint's URL, unless it is a whole URL."""
        client = self._client
        return await self._exchange(
            lambda: client.get(path, cast_to=object, stream=True, stream_cls=AsyncStream[object]), most_bytes
        )

    async def close(self) -> None:
        """Close the connections."""
        if "_client" in vars(self):
            await self._client.close()

    def _posting(self, path: str, body: Mapping[str, Any]) -> _Ask:
        client = self._client
        return lambda: client.post(path, cast_to=object, body=body, stream=True, stream_cls=AsyncStream[object])

    async def _exchange(self, ask: _Ask, most_bytes: int) -> dict[str, Any]:
        async with aclosing(self._received(ask, most_bytes)) as pieces:
            raw = b"".join([piece async for piece in pieces])
        return self._object(raw)

    async def _lines(self, ask: _Ask, most_bytes: int) -> AsyncGenerator[bytes, None]:
        begun = b""
        async with aclosing(self._received(ask, most_bytes)) as pieces:
            async for piece in pieces:
                *whole, begun = (begun + piece).split(b"\n")
                for line in whole:
                    yield line
        yield begun

    async def _received(self, ask: _Ask, most_bytes: int) -> AsyncGenerator[bytes, None]:
        """What the server sends, as it comes."""
        allowance = _Allowance(self.deadline)
        size = 0
        with self._sorted():
            async with await allowance.wait_for(ask()) as stream, aclosing(stream.response.aiter_bytes()) as pieces:
                while (piece := await allowance.wait_for(anext(pieces, None))) is not None:
                    size += len(piece)
                    if size > most_bytes:
                        raise UselessReply(
                            f"{self.endpoint} did not stop: it sent more than {most_bytes:,} bytes, however short the "
                            "reply was to be. Trueweave stopped reading. Does the server honour max_tokens?",
                            charged=True,
                        )
                    yield piece

    @contextmanager
    def _sorted(self) -> Iterator[None]:
        """Failures of a request as errors of Trueweave."""
        try:
            yield
        except TimeoutError as error:
            raise self._late() from error
        except APIStatusError as error:
            raise self._refused(error.status_code, error.body, error.response.headers) from error
        except (APIConnectionError, httpx2.RequestError) as error:
            raise self._unreached(error) from error

    def _object(self, raw: bytes) -> dict[str, Any]:
        try:
            found = json.loads(raw)
        except (ValueError, RecursionError) as error:
            shown = raw[:_SHOWN].decode(errors="replace")
            raise UselessReply(
                f"{self.endpoint} sent something that is not JSON: {shown!r}. Is the URL that of a model server?",
                charged=True,
            ) from error
        if not isinstance(found, dict):
            raise UselessReply(f"{self.endpoint} sent JSON that is not an object. Is the URL right?", charged=True)
        if error_found := found.get("error"):
            # Some gateways send the errors of others with status 200.
            code = error_found.get("code") if isinstance(error_found, dict) else None
            raise self._refused(code if isinstance(code, int) and code >= 400 else 502, error_found, {})
        return found

    def _late(self) -> ModelUnavailable:
        return ModelUnavailable(
            f"{self.endpoint} did not answer in full within {self.deadline:g} s. "
            "Is it too slow or too busy? Raise the deadline, or ask it less at a time.",
            charged=True,
        )

    def _unreached(self, error: APIConnectionError | httpx2.RequestError) -> ModelError:
        cause = error.__cause__ if isinstance(error, APIConnectionError) else error
        if isinstance(cause, Redirected):
            return ModelRefused(
                f"{self.endpoint} redirects to {cause.to}, and nothing was sent there: prompts go to the host that is "
                "set, and to no other. If that is where the model is, set its URL."
            )
        reason = str(cause) or type(cause).__name__
        if isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout):
            return ModelUnavailable(
                f"cannot reach {self.endpoint}: {reason}. Is it running, and the URL right?", unreachable=True
            )
        if isinstance(cause, httpx2.TimeoutException):
            return self._late()
        return self._broken_off(reason)

    def _broken_off(self, reason: str) -> ModelUnavailable:
        return ModelUnavailable(f"{self.endpoint} broke the connection off: {reason}.", charged=True)

    def _refused(self, status: int, body: object, headers: Mapping[str, str]) -> ModelError:
        """An error status as an error of Trueweave."""
        details = body if isinstance(body, dict) else {}
        said = f"{status}, {self._said(body)}"
        kinds = {str(details.get(key) or "") for key in ("code", "type")}
        if status in (400, 413, 422, 500) and _ABOUT_THE_PROMPT.search(f"{kinds} {said}"):
            return UselessReply(
                f"{self.endpoint} does not take this prompt: {said}. If it is too long, make chunks smaller, or use a "
                "model that takes more.",
                charged=False,
            )
        if status == 402 or kinds & _NO_CREDIT:
            return ModelRefused(f"{self.endpoint} wants to be paid first: {said}. Add credit to the key's account.")
        if status in _PASSING or status >= 500:
            wait = asked_wait(headers, time.time())
            return ModelUnavailable(f"{self.endpoint} answered {said}.", charged=status in _GATEWAY, retry_after=wait)
        parameter = str(details.get("param") or "")
        if status == 400 and parameter and any(kind.startswith("unsupported_") for kind in kinds):
            return Unsupported(f"{self.endpoint} takes no {parameter}: {said}. Choose another model.", parameter)
        return ModelRefused(f"{self.endpoint} refuses: {said}. {self._advice(status)}")

    def _advice(self, status: int) -> str:
        if status in (401, 403):
            variable = self.endpoint.provider.key_variable
            wants = f"Set {variable} to a key" if variable else "Give it a key"
            return f"{wants} that is valid and may use this model."
        if status == 404 and self.endpoint.provider.name == "ollama":
            return f"Run `ollama pull {self.endpoint.model}`, or check the model's name."
        if status == 404:
            is_usual = self.endpoint.url.endswith("/v1")
            return f"Check the model's name{'' if is_usual else ', and the URL: most end in /v1'}."
        return "Check the model's name and settings; `trueweave doctor` tries them one by one."

    def _said(self, body: object) -> str:
        said = body.get("message", body) if isinstance(body, dict) else body
        text = " ".join(str(said or "with no explanation").split())
        if self.endpoint.key:
            text = text.replace(self.endpoint.key, "(the key)")
        return text[:_SHOWN].rstrip(".")


def _data(line: bytes) -> bytes:
    """What a line of a stream holds, without the mark of server-sent events; empty for their comments and names."""
    line = line.strip()
    if line.startswith((b":", b"event:", b"id:", b"retry:")):
        return b""
    return line.removeprefix(b"data:").lstrip()


def asked_wait(headers: Mapping[str, str], now: float) -> float | None:
    """How many seconds the server asks to wait; None if it does not.

    `Retry-After` is in seconds or a date. `now` is in seconds since 1970.
    """
    value = headers.get("retry-after", "").strip()
    if re.fullmatch(r"\d+(\.\d+)?", value):
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except ValueError:
        return None
