"""A proxy on this machine, for a library that makes its connections itself: through the proxy, they reach only allowed
networks, and stay within limits of size and time."""

from __future__ import annotations

import base64
import hmac
import secrets
import selectors
import socket
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import SplitResult, urlsplit

import httpcore2

from trueweave.core.connectors import Network
from trueweave.ingest.connectors.http import ForbiddenAddress, checked_addresses

_PIECE = 64 * 2**10
_HEAD_SECONDS = 60.0
_OF_ONE_CONNECTION = frozenset({"connection", "keep-alive", "proxy-authorization", "proxy-connection"})


class CheckedProxy:
    """An HTTP proxy on a random port, until it is closed. The proxy resolves the name of a host once for each
    connection, and connects to an address that it has checked. So a redirect or a name that changes its address leads
    to no private or reserved address outside `networks`.

    `problem` says why the proxy refused or ended a connection since the last call of `allow`; the library does not pass
    the reason on."""

    def __init__(self, networks: tuple[Network, ...]) -> None:
        self.problem = ""
        self._networks = networks
        self._deadline, self._seconds = 0.0, 0.0
        self._left, self._size = 0, 0
        self._open: set[socket.socket] = set()
        self._password = secrets.token_urlsafe()
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The address of the proxy, with its password."""
        return f"http://trueweave:{self._password}@127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        """Close all connections, and accept no others."""
        self._deadline = 0.0
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        for one in tuple(self._open):
            with suppress(OSError):  # it has ended meanwhile
                one.shutdown(socket.SHUT_RDWR)

    def allow(self, size: int, seconds: float) -> None:
        """Let this number of bytes be received in this time, from now on and over all connections."""
        self.problem = ""
        self._left = self._size = size
        self._seconds = seconds
        self._deadline = time.monotonic() + seconds

    def is_password(self, header: str) -> bool:
        """Whether the value of a Proxy-Authorization header is that of this proxy's address."""
        expected = base64.b64encode(f"trueweave:{self._password}".encode())
        return hmac.compare_digest(header.encode("latin-1"), b"Basic " + expected)

    def seconds_left(self) -> float:
        """The seconds until the deadline; TimeoutError if it is over."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            self.problem = self.problem or f"it was not complete after {self._seconds:g} s"
            raise TimeoutError
        return left

    def connected(self, host: str, port: int) -> socket.socket:
        """A connection to one of the addresses of a host. ForbiddenAddress if one of them must not be connected to;
        OSError if none can be."""
        try:
            found = self._connected(checked_addresses(host, port, self._networks), port)
        except (ForbiddenAddress, httpcore2.ConnectError) as error:
            self.problem = str(error)
            raise
        except OSError as error:
            self.problem = self.problem or f"the host {host} cannot be connected to: {error.strerror or error}"
            raise
        self.problem = ""  # that of an attempt before this one
        return found

    def _connected(self, addresses: list[str], port: int) -> socket.socket:
        problem = OSError("it has no address")
        for address in addresses:
            try:
                return socket.create_connection((address, port), self.seconds_left())
            except OSError as error:
                problem = error
        raise problem

    def refuse_unauthorised(self) -> None:
        """Note that a request came without the password. The library sends it with each tunnel, but with requests of
        plain HTTP only until one is redirected to another host."""
        self.problem = "it redirects to another host by HTTP without encryption, which is not followed"

    def pass_on(self, client: socket.socket, server: socket.socket, *, is_tunnel: bool) -> None:
        """Pass on what the server sends, and in a tunnel what the client sends, until one of them closes its connection
        or a limit is reached."""
        receivers = {server: client, client: server} if is_tunnel else {server: client}
        self._open.update((client, server))
        try:
            with selectors.DefaultSelector() as selector:
                for sender in receivers:
                    selector.register(sender, selectors.EVENT_READ)
                while self._has_passed_on(selector, receivers, server):
                    pass
        finally:
            self._open.difference_update((client, server))

    def _has_passed_on(
        self, selector: selectors.BaseSelector, receivers: Mapping[socket.socket, socket.socket], server: socket.socket
    ) -> bool:
        """Wait, and pass on one piece of each sender; False at the end of a connection."""
        for found, _ in selector.select(self.seconds_left()):
            sender = found.fileobj
            assert isinstance(sender, socket.socket)
            piece = sender.recv(_PIECE)
            if not piece:
                return False
            if sender is server:
                self._count(len(piece))
            receivers[sender].settimeout(self.seconds_left())
            receivers[sender].sendall(piece)
        return True

    def _count(self, size: int) -> None:
        """Count received bytes. Several connections may do so at once, so the limit is approximate."""
        self._left -= size
        if self._left < 0:
            self.problem = self.problem or f"the server sends more than {self._size:,} bytes"
            raise ConnectionAbortedError


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, proxy: CheckedProxy) -> None:
        self.proxy = proxy
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Do not print that a connection has ended: its client reports it."""
        if not isinstance(sys.exception(), OSError | ValueError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """One connection of the client: a tunnel, or one request of plain HTTP."""

    server: _Server
    timeout = _HEAD_SECONDS

    def do_CONNECT(self) -> None:
        if server := self._connected(urlsplit(f"//{self.path}"), 443):
            with server:
                self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                self.server.proxy.pass_on(self.connection, server, is_tunnel=True)

    def do_GET(self) -> None:
        if self.headers.get("content-length", "0") != "0" or "transfer-encoding" in self.headers:
            self._refuse(HTTPStatus.NOT_IMPLEMENTED)  # nothing is sent when a bucket is read
        elif server := self._connected(urlsplit(self.path), 80):
            with server:
                server.sendall(self._head())
                self.server.proxy.pass_on(self.connection, server, is_tunnel=False)

    def do_PUT(self) -> None:
        """As the metadata service of AWS wants it."""
        self.do_GET()

    def _connected(self, url: SplitResult, port: int) -> socket.socket | None:
        """A connection to the host of a url; None after a refusal."""
        proxy = self.server.proxy
        if not proxy.is_password(self.headers.get("proxy-authorization", "")):
            proxy.refuse_unauthorised()
            self._refuse(HTTPStatus.PROXY_AUTHENTICATION_REQUIRED)
            return None
        try:
            return proxy.connected(url.hostname or "", url.port or port)
        except ForbiddenAddress:
            self._refuse(HTTPStatus.FORBIDDEN)
        except (OSError, ValueError, httpcore2.ConnectError):
            self._refuse(HTTPStatus.BAD_GATEWAY)
        return None

    def _head(self) -> bytes:
        """The request for the server, without what is meant for the proxy."""
        path = self.path.partition("://")[2].partition("/")[2]  # as it is: it may be signed
        kept = [f"{name}: {value}" for name, value in self.headers.items() if name.lower() not in _OF_ONE_CONNECTION]
        lines = [f"{self.command} /{path} HTTP/1.1", *kept, "Connection: close", "", ""]
        return "\r\n".join(lines).encode("latin-1")

    def _refuse(self, status: HTTPStatus) -> None:
        head = f"HTTP/1.1 {status} {status.phrase}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        self.wfile.write(head.encode())

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing."""
