"""Server-sent events, and cancelling work when the caller disconnects."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Coroutine, Mapping
from contextlib import aclosing
from typing import Any, TypeVar

from fastapi.encoders import jsonable_encoder
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from trueweave.server.problems import Refusal

T = TypeVar("T")

MEDIA_TYPE = "text/event-stream"
EVENT: dict[str, Any] = {"type": "object", "properties": {"event": {"type": "string"}, "data": {"type": "string"}}}
"""The schema of one event of a stream."""
LINES_TYPE = "application/x-ndjson"
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
_QUIET = 15.0  # seconds of silence after which a comment is sent, so that no proxy closes the stream


def event(name: str, data: object) -> bytes:
    """One event. Its JSON is on one line."""
    told = json.dumps(jsonable_encoder(data), ensure_ascii=False)
    return (f"event: {name}\n" if name else "").encode() + f"data: {told}\n\n".encode(errors="replace")


class EventStream(Response):
    """A response that sends pieces as they arrive. The generator is closed at the end, or when the caller
    disconnects."""

    media_type = MEDIA_TYPE
    sign_of_life = b": \n\n"

    def __init__(self, pieces: AsyncGenerator[bytes, None], headers: Mapping[str, str] | None = None) -> None:
        self._pieces = pieces
        self.status_code = 200
        self.background = None
        self.body = b""
        self.init_headers({**_HEADERS, **(headers or {})})
        del self.headers["content-length"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        writing = asyncio.create_task(self._write(send))
        leaving = asyncio.create_task(_left(receive))
        try:
            await asyncio.wait((writing, leaving), return_when=asyncio.FIRST_COMPLETED)
            if writing.done():
                await writing
        finally:
            await _end(writing, leaving)

    async def _write(self, send: Send) -> None:
        async with aclosing(self._pieces) as pieces:
            coming: asyncio.Task[bytes] | None = None
            try:
                while True:
                    coming = asyncio.ensure_future(_next(pieces)) if coming is None else coming
                    done, _ = await asyncio.wait((coming,), timeout=_QUIET)
                    if not done:
                        if self.sign_of_life:
                            await send({"type": "http.response.body", "body": self.sign_of_life, "more_body": True})
                        continue
                    try:
                        piece = coming.result()
                    except StopAsyncIteration:
                        break
                    coming = None
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
            finally:
                if coming is not None:
                    await _end(coming)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


class AnswerLines(EventStream):
    """The same as JSON lines, which cannot contain comments."""

    media_type = LINES_TYPE
    sign_of_life = b""


async def _next(pieces: AsyncGenerator[bytes, None]) -> bytes:
    return await pieces.__anext__()


async def _left(receive: Receive) -> None:
    """Return when the caller has disconnected."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _end(*tasks: asyncio.Future[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def while_connected(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Run an application, and cancel it when the caller disconnects. The body of the request is read first."""
    body = await _whole_body(receive)
    gone = asyncio.Event()

    async def received() -> Message:
        if body:
            return body.pop()
        await gone.wait()
        return {"type": "http.disconnect"}

    acting = asyncio.ensure_future(app(scope, received, send))
    leaving = asyncio.create_task(_left(receive))
    leaving.add_done_callback(lambda _: gone.set())
    try:
        await asyncio.wait((acting, leaving), return_when=asyncio.FIRST_COMPLETED)
        if acting.done():
            await acting
    finally:
        await _end(acting, leaving)


async def _whole_body(receive: Receive) -> list[Message]:
    """The body in one message."""
    blocks: list[bytes] = []
    while (message := await receive())["type"] == "http.request":
        blocks.append(message.get("body", b""))
        if not message.get("more_body"):
            return [{"type": "http.request", "body": b"".join(blocks), "more_body": False}]
    return [message]


async def while_there(request: Request, act: Coroutine[Any, Any, T]) -> T:
    """The result of `act`, which is cancelled if the caller disconnects first."""
    acting = asyncio.create_task(act)
    leaving = asyncio.create_task(_left(request.receive))
    try:
        await asyncio.wait((acting, leaving), return_when=asyncio.FIRST_COMPLETED)
        if acting.done():
            return await acting
    finally:
        await _end(acting, leaving)
    raise Refusal(408, "disconnected", "The caller disconnected before the answer.")
