"""Traces of a real server and a real worker, sent over OTLP, as a tree of spans."""

import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx2
import pytest

from tests.commands import PROGRAM
from tests.e2e.conftest import Trueweave, model_server
from tests.otlp_receiver import ReceivedSpan, Receiver, otlp_receiver
from tests.servers import free_port
from trueweave.core.settings import sends_traces
from trueweave.core.telemetry import spans
from trueweave.errors import ConfigError
from trueweave.server import tracing

TRACE, CALLER = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
TEXT = "Ada Lovelace met Charles Babbage at his house in Marylebone."
SERVER, CLIENT, CONSUMER = 2, 3, 5
ERROR = 2


@contextmanager
def running(folder: Path, environment: dict[str, str], *command: str) -> Iterator[None]:
    """A command of Trueweave's that runs until the end."""
    with subprocess.Popen([PROGRAM, *command], cwd=folder, env=environment, stderr=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.terminate()


def one(receiver: Receiver, name: str, **attributes: object) -> ReceivedSpan:
    """The one span of that name."""
    found = [each for each in receiver.spans if each.name == name and attributes.items() <= each.attributes.items()]
    assert len(found) == 1, (name, [each.name for each in receiver.spans])
    return found[0]


def test_ask_and_ingest_are_trees_of_spans_from_the_request_to_the_model(
    trueweave: Trueweave, tmp_path: Path, environment: dict[str, str]
) -> None:
    trueweave("init", "--workspace", "acme")
    with otlp_receiver() as receiver, ExitStack() as stack:
        model = stack.enter_context(model_server())
        port = free_port()
        settings = {
            "TRUEWEAVE_MODEL": "vllm/any",
            "TRUEWEAVE_MODEL_URL": model,
            "TRUEWEAVE_EMBEDDING_MODEL": "vllm/embed",
            "TRUEWEAVE_EMBEDDING_URL": model,
            "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.endpoint,
            "OTEL_BSP_SCHEDULE_DELAY": "100",
        }
        stack.enter_context(running(tmp_path, {**environment, **settings}, "worker"))
        stack.enter_context(
            running(tmp_path, {**environment, **settings}, "serve", "--no-auth", "--no-worker", "--port", str(port))
        )
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}/v1/workspaces/acme", timeout=30) as client:
            _wait_for(client)
            parent = {"traceparent": f"00-{TRACE}-{CALLER}-01"}
            texts = {"documents": [{"uri": "a", "text": TEXT}]}
            client.post("/documents", json=texts, headers=parent).raise_for_status()
            receiver.wait_for(lambda found: any(each.attributes.get("trueweave.documents") for each in found))
            question = {"question": "Whom did Ada meet in Marylebone?", "method": "naive"}
            client.post("/ask", json=question).raise_for_status()
            assert client.post("/ask", json={**question, "method": "nothing"}).status_code == 422
        receiver.wait_for(lambda found: sum(each.name.endswith("/ask") for each in found) == 2)
        _check_ingest(receiver)
        _check_ask(receiver)
        sent = b"".join(receiver.bodies)
    assert b"Marylebone" not in sent, "no text of documents, questions or prompts is in a span"
    assert b"acme" not in sent


def _check_ingest(receiver: Receiver) -> None:
    request = one(receiver, "POST /v1/workspaces/{workspace}/documents")
    assert (request.trace, request.parent, request.kind) == (TRACE, CALLER, SERVER)
    assert (request.service, request.attributes["http.response.status_code"]) == ("trueweave-server", 202)
    document = one(receiver, "ingest document")
    assert (document.trace, document.parent, document.kind) == (TRACE, request.id, CONSUMER)
    assert (document.service, document.attributes["trueweave.document.uri"]) == ("trueweave-worker", "a")
    assert [each.name for each in receiver.children(document)] == ["chunk", "extract", "store"]
    [_, extract, _] = receiver.children(document)
    call = receiver.children(extract)[0]
    assert (call.name, call.kind) == ("chat any", CLIENT)
    assert call.attributes["trueweave.purpose"] == "extract"
    settles = [each for each in receiver.spans if each.name == "settle"]
    embedded = [child for each in settles for child in receiver.children(each)]
    assert {each.name for each in embedded} == {"embeddings embed"}


def _check_ask(receiver: Receiver) -> None:
    request = one(receiver, "POST /v1/workspaces/{workspace}/ask", **{"http.response.status_code": 200})
    assert not request.parent
    [asked] = receiver.children(request)
    assert (asked.name, asked.attributes["trueweave.method"]) == ("ask naive", "naive")
    retrieval, chat = receiver.children(asked)
    assert (retrieval.name, retrieval.attributes["gen_ai.operation.name"]) == ("retrieval naive", "retrieval")
    steps = receiver.children(retrieval)
    assert [each.name for each in steps] == ["embed", "chunks near"]
    assert steps[1].attributes["trueweave.statements"] > 0
    [embedding] = receiver.children(steps[0])
    assert embedding.attributes["gen_ai.operation.name"] == "embeddings"
    assert embedding.attributes["gen_ai.request.model"] == "embed"
    told = chat.attributes
    assert (chat.name, chat.kind) == ("chat any", CLIENT)
    assert (told["gen_ai.operation.name"], told["gen_ai.provider.name"]) == ("chat", "vllm")
    assert (told["gen_ai.request.model"], told["trueweave.purpose"]) == ("any", "answer")
    assert told["gen_ai.usage.input_tokens"] > 10
    assert told["gen_ai.usage.output_tokens"] > 0


def _wait_for(client: httpx2.Client) -> None:
    for _ in range(600):
        try:
            if client.get("/status").status_code < 500:
                return
        except httpx2.TransportError:
            time.sleep(0.05)
    sys.exit("the server does not answer")


async def test_without_an_sdk_no_span_is_made_and_nothing_is_carried() -> None:
    async def pieces() -> AsyncGenerator[int, None]:
        yield 1

    with spans.span("a") as outer:
        assert not outer.is_recording()
        assert spans.carrier() is None
        made = pieces()
        assert spans.carried(outer, made) is made
        await made.aclose()
    assert spans.carried_from({"traceparent": ""}) is None


def test_what_sending_traces_needs_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_SDK_DISABLED"):
        monkeypatch.delenv(name, raising=False)
    assert not sends_traces()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
    assert sends_traces()
    monkeypatch.setattr(tracing, "find_spec", lambda _: None)
    with (
        pytest.raises(ConfigError, match=r'needs opentelemetry-sdk and .*: pip install "trueweave\[telemetry\]"'),
        tracing.sent_traces("x"),
    ):
        pass
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    with pytest.raises(ConfigError, match="OTEL_EXPORTER_OTLP_PROTOCOL is grpc, but only http/protobuf is supported"):
        sends_traces()
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    assert not sends_traces()
