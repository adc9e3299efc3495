"""Prompts and replies in spans: only where the settings ask for it, in the form of OpenTelemetry's conventions."""

from __future__ import annotations

import json

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from trueweave import AsyncTrueweave, Message, Settings
from trueweave.core.model_calls import Image, Purpose
from trueweave.core.telemetry import spans
from trueweave.extend import Prompt
from trueweave.testing import ModelServer

IMAGE = Image("image/png", b"a secret picture", 10, 10)
PROMPT = Prompt((Message("system", "Be brief."), Message("user", "Who was Ada?", (IMAGE,))), max_tokens=50)
CONTENT = ("gen_ai.system_instructions", "gen_ai.input.messages", "gen_ai.output.messages")


@pytest.fixture
def exported(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    provider, exporter = TracerProvider(), InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(spans, "_tracer", provider.get_tracer("test"))
    return exporter


async def test_a_workspace_whose_settings_ask_for_it_has_them_in_its_spans_and_others_do_not(
    url: str, exported: InMemorySpanExporter
) -> None:
    async with ModelServer(lambda _: "A mathematician.") as server:
        settings = Settings(database_url=url, model="vllm/any", model_url=server.url)
        for workspace, stored in (("open", {"trace_content": True}), ("closed", {})):
            async with AsyncTrueweave.open(url, workspace, settings=settings, make=True) as trueweave:
                await trueweave.maintenance.change_settings(stored)
                chat = await trueweave._core.chat("answer")
                assert chat
                await chat.complete(PROMPT, Purpose("answer"))
    first, second = (dict(span.attributes or {}) for span in exported.get_finished_spans() if span.name == "chat any")
    system, asked, said = (json.loads(str(first[name])) for name in CONTENT)
    assert system == [{"type": "text", "content": "Be brief."}]
    picture = {"type": "blob", "modality": "image", "mime_type": "image/png"}
    assert asked == [{"role": "user", "parts": [picture, {"type": "text", "content": "Who was Ada?"}]}]
    text = {"type": "text", "content": "A mathematician."}
    assert said == [{"role": "assistant", "parts": [text], "finish_reason": "stop"}]
    assert not set(CONTENT) & second.keys()
    assert "Ada" not in str(second)
