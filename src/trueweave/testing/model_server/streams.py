"""Replies word by word: OpenAI's server-sent events and Ollama's JSON lines, with the chosen faults."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from trueweave.testing.model_server.faults import Fault
from trueweave.testing.model_server.http import HttpReply, pieces_of

_ERROR = {"message": "the model crashed", "code": 500}


def events(choice: Mapping[str, Any], usage: Mapping[str, Any] | None, fault: Fault | None) -> HttpReply:
    """A choice of OpenAI's API as a stream; an empty one is left out."""
    said = [(what, word) for what in ("content", "refusal") for word in _words(choice.get("message", {}).get(what))]
    begun = [_delta({what: word}) for what, word in said]
    last = [_delta({}, choice["finish_reason"])] if choice else []
    counted = [_event({"choices": [], "usage": usage})] if usage else []
    sent = _sent(begun, [*last, *counted, b"data: [DONE]\n\n"], _event({"error": _ERROR}), fault)
    return HttpReply(200, pieces_of(sent), None, type=b"text/event-stream")


def lines(found: Mapping[str, Any], fault: Fault | None) -> HttpReply:
    """A reply of Ollama's API as a stream."""
    words = _words(found["message"]["content"])
    begun = [_line({"message": {"role": "assistant", "content": word}, "done": False}) for word in words]
    last = _line({**found, "message": {"role": "assistant", "content": ""}})
    sent = _sent(begun, [last], _line({"error": _ERROR["message"]}), fault)
    return HttpReply(200, pieces_of(sent), None, type=b"application/x-ndjson")


def _sent(begun: Sequence[bytes], end: Sequence[bytes], error: bytes, fault: Fault | None) -> Iterable[bytes]:
    match fault:
        case Fault.ENDLESS:
            return itertools.cycle(begun)
        case Fault.UNFINISHED:
            return begun
        case Fault.ERROR_MIDDLE:
            return (*begun[:1], error)
    return (*begun, *end)


def _words(text: str | None) -> list[str]:
    return re.findall(r"\S+\s*|\s+", text or "")


def _delta(delta: Mapping[str, str], finish: str | None = None) -> bytes:
    return _event({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def _event(found: Mapping[str, Any]) -> bytes:
    return b"data: %b\n\n" % json.dumps({"object": "chat.completion.chunk", **found}).encode()


def _line(found: Mapping[str, Any]) -> bytes:
    return json.dumps(found).encode() + b"\n"
