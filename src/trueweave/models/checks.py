"""Health checks of models, which `trueweave doctor` shows."""

from __future__ import annotations

import json
from typing import Protocol

from trueweave.core.checks import HealthCheck
from trueweave.core.errors import ModelError
from trueweave.core.model_calls import Message, Prompt, Purpose
from trueweave.core.protocols import LLM, Embedder

ENOUGH = 8192  # tokens of context for a chunk, the instructions and a reply

_SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"city": {"type": "string"}, "year": {"type": "integer"}},
        "required": ["city", "year"],
        "additionalProperties": False,
    }
)
_QUESTION = Message("user", "Which city, and which year? The games of 1924 were held in Paris. Answer as JSON.")


class Chat(LLM, Protocol):
    """A chat model that may know its context length."""

    async def context_length(self) -> int | None: ...


async def check_chat(chat: Chat) -> tuple[HealthCheck, ...]:
    """Does the model answer, does it follow a JSON schema, and how long is its context? Asks it one short question."""
    what = f"{chat.model} answers"
    try:
        reply = await chat.complete(Prompt((_QUESTION,), max_tokens=200, schema=_SCHEMA), Purpose("doctor"))
    except ModelError as error:
        return (HealthCheck(what, False, str(error), ""),)
    answers = HealthCheck(what, True, f"{reply.tokens_in} tokens in, {reply.tokens_out} out")
    return answers, _schema_check(chat.model, reply.text), await _context_check(chat)


async def check_embedder(embedder: Embedder) -> tuple[HealthCheck, ...]:
    """Does the embedder answer, with vectors of the dimension it states? Embeds two words."""
    what = f"{embedder.model} embeds"
    try:
        vectors = await embedder.embed(["river", "stream"], "document")
    except ModelError as error:
        return (HealthCheck(what, False, str(error), ""),)
    is_right = vectors.shape == (2, embedder.dimensions)
    detail = f"{vectors.shape[-1]} dimensions" if is_right else f"vectors of the form {vectors.shape}"
    return (HealthCheck(what, is_right, detail, "" if is_right else f"It names {embedder.dimensions} dimensions."),)


def _schema_check(model: str, text: str) -> HealthCheck:
    what = f"{model} keeps to a JSON schema"
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if isinstance(found, dict) and isinstance(found.get("city"), str) and isinstance(found.get("year"), int):
        return HealthCheck(what, True, text.strip())
    fix = "Use a server or a model that supports response_format json_schema, or expect repairs and failed documents."
    return HealthCheck(what, False, f"asked for a city and a year, it wrote {text[:200]!r}", fix)


async def _context_check(chat: Chat) -> HealthCheck:
    what = f"{chat.model} takes long prompts"
    try:
        size = await chat.context_length()
    except ModelError as error:
        return HealthCheck(what, None, f"the server does not say: {error}")
    if size is None:
        return HealthCheck(what, None, "the server does not say how many tokens it takes")
    fix = f"Give it a context of {ENOUGH:,} tokens or more, or make chunks smaller."
    return HealthCheck(what, size >= ENOUGH, f"{size:,} tokens", "" if size >= ENOUGH else fix)
