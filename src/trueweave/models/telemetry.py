"""A span and a measurement for each request to a model. A retried call has one for each attempt."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from opentelemetry.trace import Span, SpanKind

from trueweave.core.model_calls import Message, Prompt, Reply
from trueweave.core.telemetry.measurements import ModelCalled, Operation, measure
from trueweave.core.telemetry.spans import Attributes, failure_name, open_span
from trueweave.models.names import provider_name

# OpenTelemetry's names of providers that differ from ours.
_PROVIDERS = {
    "azure": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
}


@contextmanager
def observed(operation: Operation, model: str, about: Attributes) -> Iterator[Span]:
    """Time a request to a model, in a span that is not a parent of others, so that generators may yield inside."""
    provider, name = provider_name(model), model.partition("/")[2]
    attributes = {
        "gen_ai.operation.name": operation,
        "gen_ai.provider.name": _PROVIDERS.get(provider, provider),
        "gen_ai.request.model": name,
        **about,
    }
    began, failure = time.perf_counter(), ""
    try:
        with open_span(f"{operation} {name}", attributes, kind=SpanKind.CLIENT) as span:
            yield span
    except BaseException as error:
        failure = failure_name(error)
        raise
    finally:
        measure(ModelCalled(operation, model, time.perf_counter() - began, failure))


def note_usage(span: Span, reply: Reply) -> None:
    """Add what a chat model reported to its span."""
    span.set_attribute("gen_ai.usage.input_tokens", reply.tokens_in)
    span.set_attribute("gen_ai.usage.output_tokens", reply.tokens_out)
    span.set_attribute("gen_ai.response.finish_reasons", [reply.finish])


def note_prompt(span: Span, prompt: Prompt) -> None:
    """Add the messages of a prompt to its span, as JSON. Of images only the media type is added."""
    if not span.is_recording():
        return
    system = [part for message in prompt.messages if message.role == "system" for part in _parts(message)]
    turns = [{"role": one.role, "parts": _parts(one)} for one in prompt.messages if one.role != "system"]
    span.set_attribute("gen_ai.input.messages", _json(turns))
    if system:
        span.set_attribute("gen_ai.system_instructions", _json(system))


def note_reply(span: Span, reply: Reply) -> None:
    """Add the text of a reply to its span, as JSON."""
    if span.is_recording():
        said = {"role": "assistant", "parts": [_text(reply.text)], "finish_reason": reply.finish}
        span.set_attribute("gen_ai.output.messages", _json([said]))


def _parts(message: Message) -> list[dict[str, Any]]:
    images: list[dict[str, Any]] = [
        {"type": "blob", "modality": "image", "mime_type": image.media_type} for image in message.images
    ]
    return [*images, _text(message.content)]


def _text(content: str) -> dict[str, Any]:
    return {"type": "text", "content": content}


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
