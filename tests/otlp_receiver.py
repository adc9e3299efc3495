"""A receiver of traces over OTLP/HTTP that keeps all spans it is sent: no collector, but the real format."""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True)
class ReceivedSpan:
    """A span as it was sent, by a service."""

    service: str
    name: str
    trace: str
    id: str
    parent: str
    kind: int
    status: int
    attributes: dict[str, Any]


@dataclass
class Receiver:
    """All spans that came so far."""

    endpoint: str = ""
    spans: list[ReceivedSpan] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    def wait_for(self, holds: Callable[[list[ReceivedSpan]], bool], within: float = 30) -> list[ReceivedSpan]:
        """All spans, once something holds for them."""
        end = time.monotonic() + within
        while not holds(self.spans):
            if time.monotonic() > end:
                raise TimeoutError(f"these spans came: {[one.name for one in self.spans]}")
            time.sleep(0.05)
        return list(self.spans)

    def children(self, parent: ReceivedSpan) -> list[ReceivedSpan]:
        """The children of a span, in the order in which they ended."""
        return [one for one in self.spans if (one.trace, one.parent) == (parent.trace, parent.id)]


@contextmanager
def otlp_receiver() -> Iterator[Receiver]:
    """A receiver on loopback."""
    received = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            received.bodies.append(body)
            received.spans.extend(_spans(body))
            self.send_response(200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        received.endpoint = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield received
        finally:
            server.shutdown()


def _spans(body: bytes) -> Iterator[ReceivedSpan]:
    for sent in ExportTraceServiceRequest.FromString(body).resource_spans:
        service = _attributes(sent.resource.attributes).get("service.name", "")
        for scope in sent.scope_spans:
            for one in scope.spans:
                ids = one.trace_id.hex(), one.span_id.hex(), one.parent_span_id.hex()
                yield ReceivedSpan(service, one.name, *ids, one.kind, one.status.code, _attributes(one.attributes))


def _attributes(sent: Any) -> dict[str, Any]:
    return {one.key: _value(one.value) for one in sent}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(one) for one in value.array_value.values]
    return getattr(value, kind)
