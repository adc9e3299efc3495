"""HTTP to a server: one connection pool, retries where they are safe, and streams."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager, nullcontext
from copy import copy
from datetime import datetime
from enum import Enum
from typing import Any, NamedTuple
from uuid import uuid4

import httpx2

from trueweave.client.problems import DAILY_LIMIT, LATER, MEDIA_TYPE, UNDER_WAY, error_of, error_of_status
from trueweave.core.errors import RequestRefused, ServerError, ServerUnavailable, TrueweaveError
from trueweave.core.history import AS_OF
from trueweave.core.streams import OpenStreams

EVENTS, _JSON = "text/event-stream", "application/json"

_CONNECT_IN = 10.0  # seconds
_QUIET = 60.0  # seconds without a byte after which a stream counts as dead; the server sends one every 15
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0  # seconds
_LONGEST_LINE = 64 * 2**20  # bytes
_KEPT_CONNECTIONS = 16

_sleep = asyncio.sleep

# Makes the body of a request, again for each attempt: arguments for `build_request`.
MakeBody = Callable[[], AbstractAsyncContextManager[Mapping[str, Any]]]


class Repeats(Enum):
    """When a request may be sent again."""

    ALWAYS = "it changes nothing, or is carried out once however often it is sent"
    REFUSED = "only where the server said that it could not, or was not reached: it may cost money"
    UNBEGUN = "only where the server cannot have begun: carried out twice, it would fail or do something else"


class _Failure(NamedTuple):
    error: TrueweaveError
    again: bool
    wait: float | None = None
    is_under_way: bool = False


class ServerConnection:
    """The connections to a server, used by all calls of a client."""

    def __init__(self, address: str, key: str | None, *, timeout: float = 300.0, tries: int = 4) -> None:
        self.address = address
        self.streams = OpenStreams()
        self._timeout = timeout
        self._tries = tries
        self._headers: Mapping[str, str] = {}
        self._http = httpx2.AsyncClient(
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=httpx2.Timeout(timeout, connect=min(_CONNECT_IN, timeout)),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=_KEPT_CONNECTIONS),
            follow_redirects=False,  # the key must not go to another address
        )

    async def aclose(self) -> None:
        """End all streams, and close the connections."""
        try:
            await self.streams.aclose()
        finally:
            await self._http.aclose()

    def at(self, time: datetime) -> ServerConnection:
        """The same connections, for requests about the past. They are closed with this one."""
        past = copy(self)
        past._headers = {AS_OF: time.isoformat()}  # noqa: SLF001 (its own)
        return past

    async def get(self, path: str, params: Mapping[str, Any] | None = None) -> Any:
        """The parsed JSON response to GET on a path."""
        return await self.send("GET", path, params=params, repeats=Repeats.ALWAYS)

    async def send(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        body: object = None,
        make: MakeBody | None = None,
        repeats: Repeats,
        once: bool = False,
    ) -> Any:
        """The parsed JSON response to a request. With `once` it has an Idempotency-Key."""
        sending = self._begin(method, path, params, body, make, repeats, once=once, accept=_JSON)
        async with sending as response:
            return self._parsed(response.content)

    @asynccontextmanager
    async def events(
        self, method: str, path: str, *, body: object = None, repeats: Repeats
    ) -> AsyncIterator[AsyncGenerator[tuple[str, Any], None]]:
        """The server-sent events in response to a request, each with its data. Leaving closes the connection."""
        sending = self._begin(method, path, None, body, None, repeats, once=False, accept=EVENTS)
        async with sending as response, aclosing(self._events(response)) as events:
            yield events

    @asynccontextmanager
    async def lines(self, path: str) -> AsyncIterator[AsyncGenerator[bytes, None]]:
        """The lines in response to GET on a path, as they arrive."""
        sending = self._begin("GET", path, None, None, None, Repeats.ALWAYS, once=False, accept="application/x-ndjson")
        async with sending as response, aclosing(self._lines(response)) as lines:
            yield lines

    # --- one request, as often as need be -------------------------------------------------------------

    @asynccontextmanager
    async def _begin(
        self,
        method: str,
        path: str,
        params: Mapping[str, Any] | None,
        body: object,
        make: MakeBody | None,
        repeats: Repeats,
        *,
        once: bool,
        accept: str,
    ) -> AsyncIterator[httpx2.Response]:
        """The response to a request that succeeded, read in full if it is JSON. A started stream is not retried."""
        headers = {**self._headers, "Accept": accept, **({"Idempotency-Key": uuid4().hex} if once else {})}
        given = {name: value for name, value in (params or {}).items() if value is not None}
        timeout = self._http.timeout if accept != EVENTS else httpx2.Timeout(_QUIET, connect=self._http.timeout.connect)
        tried, end = 0, time.monotonic() + self._timeout
        while True:
            tried += 1
            made = make() if make else nullcontext({} if body is None else {"json": body})
            async with made as sent:
                try:
                    request = self._http.build_request(
                        method, self.address + path, params=given, headers=headers, timeout=timeout, **sent
                    )
                except (ValueError, TypeError) as error:  # such as NaN, or an unpaired surrogate
                    raise RequestRefused(f"what was given cannot be written as JSON: {error}. Change it.") from error
                cause: Exception | None = None
                try:
                    response = await self._http.send(request, stream=accept != _JSON)
                except httpx2.TransportError as error:
                    again = repeats is Repeats.ALWAYS or _is_unbegun(error)
                    failure, cause = _Failure(self._unreachable(error), again), error
                else:
                    try:
                        if response.is_success:
                            yield response
                            return
                        failure = await self._refusal(response, repeats)
                    finally:
                        await response.aclose()
            if failure.is_under_way and time.monotonic() < end:
                tried -= 1  # not a failure: the first attempt is still in progress
            elif not failure.again or tried >= self._tries:
                raise failure.error from cause
            await _sleep(_pause(tried, failure.wait))

    async def _refusal(self, response: httpx2.Response, repeats: Repeats) -> _Failure:
        """Why a request failed, and whether it may be sent again."""
        status, wait = response.status_code, _seconds(response.headers.get("retry-after", ""))
        if response.has_redirect_location:
            to = httpx2.URL(response.headers["location"]).copy_with(query=None, fragment=None)
            return _Failure(ServerError(f"{self.address} redirects to {to}. Give the address that is meant."), False)
        try:
            content = await response.aread()
        except httpx2.TransportError as error:
            return _Failure(self._unreachable(error), repeats is Repeats.ALWAYS)
        is_problem = response.headers.get("content-type", "").startswith(MEDIA_TYPE)
        problem = self._parsed(content) if is_problem else None
        if not isinstance(problem, dict):
            again = status == 429 or (status in (502, 503, 504) and repeats is Repeats.ALWAYS)
            return _Failure(error_of_status(status, self.address), again, wait)
        code, told = problem.get("code"), error_of(problem, wait)
        if code == UNDER_WAY:
            return _Failure(told, True, wait, is_under_way=True)
        again = (status == 429 and code != DAILY_LIMIT) or (code in LATER and repeats is not Repeats.UNBEGUN)
        return _Failure(told, again and (wait is None or wait <= _LONGEST_PAUSE), wait)

    def _parsed(self, content: bytes) -> Any:
        try:
            return json.loads(content)
        except (ValueError, RecursionError) as error:
            raise ServerError(
                f"{self.address} answered with something that is not JSON. Check that there is a server of Trueweave."
            ) from error

    def _unreachable(self, error: httpx2.TransportError) -> ServerUnavailable:
        if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
            what, next_step = "cannot be reached", "Check the address, and that `trueweave serve` runs there."
        elif isinstance(error, httpx2.TimeoutException):
            what, next_step = "did not answer in time", "Try again later, or allow more time with `timeout`."
        else:
            what, next_step = "broke the connection off", "Try again later."
        reason = str(error) or type(error).__name__
        return ServerUnavailable(f"{self.address} {what}: {reason}. {next_step}")

    # --- streams --------------------------------------------------------------------------------------

    async def _events(self, response: httpx2.Response) -> AsyncGenerator[tuple[str, Any], None]:
        if not response.headers.get("content-type", "").startswith(EVENTS):
            raise ServerError(f"{self.address} answered a question without events. Check the versions of both.")
        name, data = "", b""
        async with aclosing(self._lines(response, blank=True)) as lines:
            async for line in lines:
                if not line:
                    if data:
                        yield name, self._parsed(data)
                    name, data = "", b""
                elif line.startswith(b"event:"):
                    name = line[6:].strip().decode(errors="replace")
                elif line.startswith(b"data:"):
                    data += line[5:].strip()

    async def _lines(self, response: httpx2.Response, *, blank: bool = False) -> AsyncGenerator[bytes, None]:
        """Lines as they arrive. Only a line feed ends a line: texts may contain all other line endings."""
        rest = bytearray()
        try:
            async for piece in response.aiter_bytes():
                first, *others = piece.split(b"\n")
                rest += first
                if len(rest) > _LONGEST_LINE:
                    raise ServerError(f"{self.address} sent a line of more than {_LONGEST_LINE // 2**20} MiB.")
                for following in others:
                    if rest or blank:
                        yield bytes(rest)
                    rest = bytearray(following)
        except httpx2.TransportError as error:
            raise self._unreachable(error) from error
        if rest:
            yield bytes(rest)


def _is_unbegun(error: httpx2.TransportError) -> bool:
    return isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.PoolTimeout)


def _seconds(retry_after: str) -> float | None:
    """The seconds in Retry-After. A date is ignored: the server sends none."""
    return float(retry_after) if retry_after.isdigit() else None


def _pause(tried: int, wait: float | None) -> float:
    """Seconds to wait, with jitter: what the server asked for, or twice as long each time."""
    if wait is not None:
        return min(wait, _LONGEST_PAUSE) + random.uniform(0, 0.25)
    return min(_FIRST_PAUSE * 2.0 ** max(tried - 1, 0), _LONGEST_PAUSE) * random.uniform(0.5, 1.0)
