"""Metrics, liveness and readiness on a separate port, for operators, without a key.

Requests are answered in separate threads, even while the event loop is busy; /healthz fails if the event loop hangs.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from typing import TYPE_CHECKING

from trueweave.core import supervising
from trueweave.core.errors import ConfigError
from trueweave.core.events import Listener, ignore
from trueweave.core.settings import Settings
from trueweave.core.telemetry.measurements import measured_by
from trueweave.store.postgres.db import Database

if TYPE_CHECKING:
    from trueweave.server.metrics import Metrics

_PATIENCE = 5.0  # seconds after which an unresponsive event loop counts as hung


def check_installed() -> None:
    """Raise ConfigError if the library that metrics need is not installed."""
    if find_spec("prometheus_client") is None:
        raise ConfigError('metrics need prometheus-client: pip install "trueweave[server]"')


@contextmanager
def metrics_at(metrics: Metrics, host: str, port: int, loop: asyncio.AbstractEventLoop) -> Iterator[int]:
    """Serve /metrics, /healthz and /readyz at this address inside this context, and yield the port. Raises ConfigError
    if the address cannot be listened on."""

    class Handler(_MetricsHandler):
        told = metrics
        watched = loop

    try:
        server = ThreadingHTTPServer((host, port), Handler)
    except OSError as error:
        raise ConfigError(
            f"cannot listen for metrics at {host}:{port}: {error.strerror}. Choose another metrics_port."
        ) from error
    server.daemon_threads = True
    listening = threading.Thread(target=server.serve_forever, name="metrics", daemon=True)
    listening.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        listening.join()


@contextmanager
def measured_worker(settings: Settings, database: Database) -> Iterator[Listener]:
    """Serve metrics of the work inside this context, if the settings have a port for them, and yield a listener."""
    if settings.metrics_port is None:
        yield ignore
        return
    check_installed()
    from trueweave.server.metrics import Metrics

    metrics, loop = Metrics(), asyncio.get_running_loop()
    metrics.watch(database, loop)
    with metrics_at(metrics, settings.metrics_host, settings.metrics_port, loop), measured_by(metrics.measured):
        yield metrics.heard


class _MetricsHandler(BaseHTTPRequestHandler):
    told: Metrics
    watched: asyncio.AbstractEventLoop
    timeout = 10  # seconds for a client to send its request

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/metrics":
            self._send(200, *self.told.page(self.headers.get("Accept", "")))
        elif path == "/healthz":
            lives = self._lives()
            self._send(200 if lives else 503, b"ok\n" if lives else b"the event loop hangs\n", "text/plain")
        elif path == "/readyz":
            down = supervising.down()
            said = f"failed background tasks: {', '.join(down)}\n" if down else "ready\n"
            self._send(503 if down else 200, said.encode(), "text/plain")
        else:
            self._send(404, b"there are /metrics, /healthz and /readyz\n", "text/plain")

    def _lives(self) -> bool:
        answered = threading.Event()
        try:
            self.watched.call_soon_threadsafe(answered.set)
        except RuntimeError:  # the loop is closed
            return False
        return answered.wait(_PATIENCE)

    def _send(self, status: int, body: bytes, media_type: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def version_string(self) -> str:
        return "trueweave"

    def log_message(self, format: str, *args: object) -> None:
        """Requests for metrics are not logged."""
