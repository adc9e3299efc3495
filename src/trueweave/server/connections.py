"""Limits on connections before callers are identified: connections per address, the time a request may take to arrive,
and the size of its headers.

With httptools, uvicorn limits none of these.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from trueweave.core.settings import Settings
from trueweave.server.problems import MEDIA_TYPE, Refusal, problem_of

_LINGER_SECONDS = 1.0


class HeadersTooLarge(Exception):
    """Raised inside the parser to stop it."""


def protocol_for(settings: Settings) -> type[asyncio.Protocol]:
    """uvicorn's protocol with the limits of these settings. All connections of one server share the counts."""

    class Protocol(BoundedProtocol):
        max_header_bytes = settings.max_header_bytes
        first_request_seconds = settings.first_request_seconds
        connections_per_address = settings.connections_per_address
        open_connections: ClassVar[Counter[str]] = Counter()

    return Protocol


class BoundedProtocol(HttpToolsProtocol):
    """One connection, with limits."""

    max_header_bytes: ClassVar[int]
    first_request_seconds: ClassVar[float]
    connections_per_address: ClassVar[int]
    open_connections: ClassVar[Counter[str]]

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._address = ""
        self._deadline: asyncio.TimerHandle | None = None
        self._in_headers = False  # the headers of a request are arriving
        self._header_bytes = 0  # of the arriving request, parsed so far
        self._pending_bytes = 0  # in blocks that can only be headers
        self._is_too_large = False
        self._is_refused = False
        self._is_counted = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        super().connection_made(transport)
        self._address = self.client[0] if self.client else ""
        if 0 < self.connections_per_address <= self.open_connections[self._address]:
            # It does not count: a caller that connects again at once would keep itself out.
            self._refuse(Refusal(503, "too_many_connections", "This address has too many connections.", "Close some."))
        else:
            self._is_counted = True
            self.open_connections[self._address] += 1
            self._start_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_deadline()
        if self._is_counted:
            self.open_connections[self._address] -= 1
        if not self.open_connections[self._address]:
            del self.open_connections[self._address]
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._is_refused:
            return
        was_in_headers = self._in_headers
        super().data_received(data)
        if was_in_headers and self._in_headers:
            self._pending_bytes += len(data)
            if self._pending_bytes > self.max_header_bytes:
                self._refuse_headers()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_headers = True
        self._header_bytes = self._pending_bytes = 0
        self._start_deadline()

    def on_url(self, url: bytes) -> None:
        self._count_header(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count_header(len(name) + len(value))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_headers = False
        self._cancel_deadline()
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        if self._is_too_large:
            self._refuse_headers()
        else:
            self._refuse(Refusal(400, "bad_request", msg, "Send a valid HTTP request."))

    def _count_header(self, size: int) -> None:
        self._header_bytes += size
        if self._header_bytes > self.max_header_bytes:
            self._is_too_large = True
            raise HeadersTooLarge

    def _refuse_headers(self) -> None:
        detail = f"The headers have more than {self.max_header_bytes:,} bytes."
        self._refuse(Refusal(431, "headers_too_large", detail, "Shorten the URL and the headers."))

    def _start_deadline(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.first_request_seconds, self._refuse_late)

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _refuse_late(self) -> None:
        detail = f"No request arrived within {self.first_request_seconds:g} s."
        self._refuse(Refusal(408, "request_timeout", detail, "Send the request again."))

    def _refuse(self, refusal: Refusal) -> None:
        """Answer, and close the connection a moment later: a caller who is still sending would not see the answer."""
        self._cancel_deadline()
        if self._is_refused or self.transport.is_closing():
            return
        self._is_refused = True
        problem = problem_of(refusal)
        body = problem.model_dump_json().encode()
        head = f"HTTP/1.1 {problem.status} {problem.title}\r\nContent-Type: {MEDIA_TYPE}\r\n"
        self.transport.write(f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._deadline = self.loop.call_later(_LINGER_SECONDS, self.transport.close)
