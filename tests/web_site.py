"""A web site on loopback, whose pages a test changes. It remembers what was requested of it."""

from __future__ import annotations

import hashlib
import ssl
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.certificates import Certificate


@dataclass
class Answer:
    """What the site answers to a request. With `write`, it writes the body itself."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    write: Callable[[Callable[[bytes], object]], object] | None = None


@dataclass
class Site:
    """Pages by path, and the requests so far. With `tags`, pages have an ETag and conditional requests get a 304."""

    url: str
    pages: dict[str, Answer] = field(default_factory=dict)
    requests: list[tuple[str, int]] = field(default_factory=list)
    seen_headers: list[dict[str, str]] = field(default_factory=list)
    connections: int = 0
    tags: bool = True

    def page(self, path: str, text: str, title: str = "", **headers: str) -> str:
        """Publish a plain text, which is read faster than HTML; or HTML, if it has a title."""
        body = f"<html><head><title>{title}</title></head><body><article><p>{text}</p></article></body></html>"
        kind = "text/html" if title else "text/plain"
        self.pages[path] = Answer((body if title else text).encode(), headers={"content-type": kind, **headers})
        return f"{self.url}{path}"

    def sitemap(self, path: str, *paths: str, modified: str = "", host: str = "") -> str:
        when = f"<lastmod>{modified}</lastmod>" if modified else ""
        urls = "".join(f"<url><loc>{host or self.url}{one}</loc>{when}</url>" for one in paths)
        head = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
        self.pages[path] = Answer(f"{head}{urls}</urlset>".encode())
        return f"sitemap+{self.url}{path}"

    def taken(self) -> list[tuple[str, int]]:
        """The requests since the last call, with their statuses."""
        found, self.requests = self.requests, []
        return found


class _Server(ThreadingHTTPServer):
    """A server that does not print that a client has closed its connection, which is none of its errors."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def web_site(host: str = "127.0.0.1", certificate: Certificate | None = None) -> Iterator[Site]:
    """A site, until the end; with a certificate, one by HTTPS."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            site.connections += 1
            super().setup()

        def do_PUT(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            found = site.pages.get(self.path) or Answer(b"not here", 404)
            tag = f'"{hashlib.sha256(found.body).hexdigest()[:16]}"'
            is_same = site.tags and found.status == 200 and self.headers.get("if-none-match") == tag
            status = 304 if is_same else found.status
            site.requests.append((self.path, status))
            site.seen_headers.append({name.lower(): value for name, value in self.headers.items()})
            self.send_response(status)
            if site.tags and found.status == 200 and not found.write:
                self.send_header("etag", tag)
            for name, value in found.headers.items():
                self.send_header(name, value)
            if found.write:
                self.send_header("connection", "close")
                self.end_headers()
                try:
                    found.write(self.wfile.write)
                except OSError:  # the client has had enough
                    self.close_connection = True
                self.close_connection = True
                return
            body = b"" if status == 304 else found.body
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Print nothing."""

    server = _Server((host, 0), Handler)
    server.daemon_threads = True
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate.chain, certificate.key)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    site = Site(f"http{'s' if certificate else ''}://{host}:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
