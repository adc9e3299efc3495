"""Scripted replies for a model server without a model."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trueweave.core.model_calls import Message


@dataclass(frozen=True, slots=True)
class Asked:
    """A chat request. `schema` is the JSON schema that the reply must follow, or None."""

    model: str
    messages: tuple[Message, ...]
    max_tokens: int
    schema: Mapping[str, Any] | None


Script = Callable[[Asked], str]
Ranker = Callable[[str, Sequence[str]], Sequence[float]]


class Unscripted(Exception):
    """A script has no reply to a request."""


def smallest(asked: Asked) -> str:
    """The smallest reply that follows the requested schema: no items, empty strings, zeros. Without a schema, `ok`."""
    return "ok" if asked.schema is None else json.dumps(_smallest(asked.schema, asked.schema))


def table(replies: Mapping[str, str]) -> Script:
    """A script that selects the reply by a phrase in the request. A request with none of the phrases is an error."""

    def script(asked: Asked) -> str:
        text = "\n".join(message.content for message in asked.messages)
        for phrase, reply in replies.items():
            if phrase in text:
                return reply
        raise Unscripted(f"no reply is scripted for {text[:200]!r}")

    return script


def overlap(question: str, texts: Sequence[str]) -> list[float]:
    """For each text, the share of the question's words that it contains."""
    words = _words(question)
    return [len(words & _words(text)) / max(1, len(words)) for text in texts]


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def _smallest(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Any:
    if reference := schema.get("$ref"):
        target: Any = root
        for part in str(reference).removeprefix("#/").split("/"):
            target = target[part]
        return _smallest(target, root)
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    if choices := schema.get("enum"):
        return choices[0]
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        return _smallest(choices[0], root)
    if schema.get("type") == "object":
        properties = schema.get("properties") or {}
        return {name: _smallest(properties[name], root) for name in schema.get("required", ())}
    plain = {"array": [], "string": "", "integer": schema.get("minimum", 0), "number": 0.0, "boolean": False}
    return plain.get(str(schema.get("type")))
