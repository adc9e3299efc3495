"""A hub of models on loopback, as much of Hugging Face's as its client needs: sizes, checksums, commits and ranges."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha1, sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"
_LARGE = 10_000  # bytes: larger files have a SHA-256, as those in Git LFS
_BLOCK = 1 << 16
_RESOLVE = re.compile(r"/(?P<repository>[^/]+/[^/]+)/resolve/(?P<revision>[^/]+)/(?P<file>.+)")


@dataclass
class ModelHub:
    """What it serves: `repository/file` to a path. `breaks_after` bytes of a large file the connection is closed, so
    many times; a file in `damaged` has one byte changed."""

    files: Mapping[str, Path]
    breaks_after: int = 0
    breaks: int = 0
    damaged: frozenset[str] = frozenset()
    url: str = ""
    requests: list[tuple[str, str, str]] = field(default_factory=list)  # method, file, range
    sent: int = 0  # bytes of files


@contextmanager
def serving(hub: ModelHub) -> Iterator[ModelHub]:
    """The hub, at its `url`."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(hub))
    thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def checksum(path: Path) -> str:
    """What a hub says of a file: SHA-256 of a large one, git's SHA-1 of a small one."""
    content = path.read_bytes()
    large = len(content) > _LARGE
    return sha256(content).hexdigest() if large else sha1(b"blob %d\0" % len(content) + content).hexdigest()


def _handler(hub: ModelHub) -> type[BaseHTTPRequestHandler]:
    sums: dict[Path, str] = {}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Be silent."""

        def do_HEAD(self) -> None:
            self._answer(with_body=False)

        def do_GET(self) -> None:
            self._answer(with_body=True)

        def _answer(self, *, with_body: bool) -> None:
            asked = _RESOLVE.fullmatch(unquote(urlsplit(self.path).path))
            name = f"{asked['repository']}/{asked['file']}" if asked else ""
            span = self.headers.get("Range", "")
            hub.requests.append((self.command, name, span))
            path = hub.files.get(name)
            if asked is None or path is None:
                self.send_response(404)
                self.send_header("X-Error-Code", "EntryNotFound")
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            sums.setdefault(path, checksum(path))
            size = path.stat().st_size
            start = int(span.removeprefix("bytes=").rstrip("-")) if span else 0
            self.send_response(206 if span else 200)
            self.send_header("ETag", f'"{sums[path]}"')
            is_commit = re.fullmatch("[0-9a-f]{40}", asked["revision"])
            self.send_header("X-Repo-Commit", asked["revision"] if is_commit else COMMIT)
            self.send_header("Accept-Ranges", "bytes")
            self.send_header("Content-Length", str(size - start))
            if span:
                self.send_header("Content-Range", f"bytes {start}-{size - 1}/{size}")
            self.end_headers()
            if with_body:
                self._send(path, start, is_damaged=name in hub.damaged)

        def _send(self, path: Path, start: int, *, is_damaged: bool) -> None:
            sent = 0
            with path.open("rb") as opened:
                opened.seek(start)
                while block := opened.read(_BLOCK):
                    if is_damaged and start + sent == 0:
                        block = bytes([block[0] ^ 1]) + block[1:]
                    if hub.breaks and hub.breaks_after and sent >= hub.breaks_after:
                        hub.breaks -= 1
                        self.close_connection = True
                        self.connection.close()
                        return
                    self.wfile.write(block)
                    sent += len(block)
                    hub.sent += len(block)

    return Handler
