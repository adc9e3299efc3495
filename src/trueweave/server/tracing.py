"""Traces: the span of a request, and the SDK that sends spans, where the environment says where to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec

from opentelemetry import trace
from opentelemetry.trace import ProxyTracerProvider, Span, SpanKind, Status, StatusCode

from trueweave.core.errors import ConfigError
from trueweave.core.settings import sends_traces
from trueweave.core.telemetry.spans import carried_from, span


def request_span(verb: str, request_id: str, headers: Mapping[str, str]) -> AbstractContextManager[Span]:
    """The span of a request: of the trace that its `traceparent` tells of, or of a new one."""
    about = {"http.request.method": verb, "trueweave.request_id": request_id}
    return span(verb, about, kind=SpanKind.SERVER, parent=carried_from(headers))


def end_request(request: Span, verb: str, route: str, status: int, workspace: int | None) -> None:
    """Note in the span of a request what came of it. Its path is a pattern: it holds names."""
    if not request.is_recording():
        return
    request.update_name(f"{verb} {route}")
    request.set_attributes({"http.route": route, "http.response.status_code": status})
    if workspace is not None:
        request.set_attribute("trueweave.workspace", workspace)
    if status >= 500:
        request.set_status(Status(StatusCode.ERROR))


@contextmanager
def sent_traces(service: str) -> Iterator[None]:
    """Sends spans for as long as it lasts, under the name of a service, where OTEL_EXPORTER_OTLP_ENDPOINT says where
    to. Whoever has set an SDK up already keeps it."""
    if not sends_traces() or not isinstance(trace.get_tracer_provider(), ProxyTracerProvider):
        yield
        return
    needed = {
        "opentelemetry.sdk": "opentelemetry-sdk",
        "opentelemetry.exporter.otlp.proto.http": "opentelemetry-exporter-otlp-proto-http",
    }
    if missing := [name for module, name in needed.items() if not _is_there(module)]:
        raise ConfigError(
            f"OTEL_EXPORTER_OTLP_ENDPOINT is set, but exporting traces needs {' and '.join(missing)}: pip install "
            '"trueweave[telemetry]"'
        )
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import OTELResourceDetector, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    # What the environment says of the service outweighs the name given here.
    resource = Resource.create({"service.name": service}).merge(OTELResourceDetector().detect())
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    try:
        yield
    finally:
        provider.shutdown()  # sends what is left


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # of a package around it
        return False
