"""Tracing: the span of a request, and the SDK that exports spans if the environment names an endpoint."""

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
    """The span of a request, in the trace of its `traceparent` header or in a new one."""
    about = {"http.request.method": verb, "trueweave.request_id": request_id}
    return span(verb, about, kind=SpanKind.SERVER, parent=carried_from(headers))


def end_request(request: Span, verb: str, route: str, status: int, workspace: int | None) -> None:
    """Record the outcome of a request in its span. The route is a pattern, because paths contain names."""
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
    """Export spans inside this context, under the name of a service, if OTEL_EXPORTER_OTLP_ENDPOINT is set. An SDK that
    is already set up stays in use."""
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

    # The environment overrides the service name given here.
    resource = Resource.create({"service.name": service}).merge(OTELResourceDetector().detect())
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    try:
        yield
    finally:
        provider.shutdown()  # sends the remaining spans


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # its parent package is missing
        return False
