"""What the OpenAI and Ollama protocols share: model names that select the workspace and the method, messages as a
question with its history, and the result of checking the answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Literal, NamedTuple

from fastapi import Request
from pydantic import BaseModel

from trueweave.core.answers import Answer
from trueweave.core.json_forms import answer_json
from trueweave.core.model_calls import Message
from trueweave.core.parameters import values
from trueweave.engine.trueweave import AsyncTrueweave
from trueweave.retrieval.context import Method
from trueweave.retrieval.methods import registry
from trueweave.server.access import Caller, caller_of, entered_at, services_of
from trueweave.server.bodies import CitationBody, SentenceBody
from trueweave.server.problems import Refusal
from trueweave.server.services import Services
from trueweave.store.postgres.access import api_keys
from trueweave.store.postgres.access.api_keys import WorkspaceRow
from trueweave.store.postgres.public_errors import translated

ChatRole = Literal["system", "developer", "user", "assistant", "tool"]

_PREFIX = "trueweave/"
_MOST_WORKSPACES = 100
_LEAST_TOKENS = 16
_MOST_NAMES, _LONGEST_NAME = 5, 100  # in an error


class AskedConversation(NamedTuple):
    """A question, the messages before it, and further instructions."""

    question: str
    history: list[Message]
    instructions: str


async def models_for(caller: Caller, shared: Services) -> list[tuple[str, WorkspaceRow]]:
    """The model names for a caller, with their workspaces: the first hundred workspaces, alone and with each method."""
    with translated():
        found = await api_keys.workspaces(shared.database, _MOST_WORKSPACES, only=caller.workspaces)
    methods = ["", *(f"/{name}" for name in registry.names())]
    return [(f"{_PREFIX}{one.name}{method}", one) for one in found if "/" not in one.name for method in methods]


@asynccontextmanager
async def entered_by_model(request: Request, model: str, at: datetime | None) -> AsyncIterator[AsyncTrueweave]:
    """Open the workspace that a model name selects, for a question; with a time, as it was then."""
    name = model.removeprefix(_PREFIX).partition("/")[0] if model.startswith(_PREFIX) else ""
    if not name:
        raise await _no_model(request, model)
    async with entered_at(request, name, at, asks=True) as trueweave:
        yield trueweave


async def _no_model(request: Request, model: str) -> Refusal:
    """The refusal of an unknown model name, with the first names that exist."""
    found = await models_for(caller_of(request), services_of(request))
    names = [name for name, _ in found if name.count("/") == 1][:_MOST_NAMES]
    which = (
        f"Write one of these: {', '.join(names)}." if names else "Make a workspace first: there is none for this key."
    )
    detail = f"There is no model {model[:_LONGEST_NAME]!r} here: models are named trueweave/WORKSPACE. {which}"
    return Refusal(404, "unknown_model", detail, "GET /v1/models lists all of them.")


def method_of(model: str, trueweave: AsyncTrueweave) -> Method:
    """The method that a model name selects; if it names none, that of the workspace."""
    return registry.make(model.removeprefix(_PREFIX).partition("/")[2] or trueweave.method)


def conversation_of(messages: Sequence[tuple[ChatRole, str]]) -> AskedConversation:
    """The question, history and instructions in these messages. The last message must be from the user."""
    said = [Message(role, text) for role, text in messages if text and (role == "user" or role == "assistant")]
    if not said or said[-1].role != "user":
        raise Refusal(422, "invalid_request", "The last message is not from a user.", "End with a question.")
    instructions = "\n\n".join(text for role, text in messages if role in ("system", "developer") and text)
    return AskedConversation(said[-1].content, said[:-1], instructions)


def answer_length(wanted: int | None) -> int | None:
    """The maximum tokens of an answer: the number requested, but not below a minimum."""
    return None if wanted is None else max(wanted, _LEAST_TOKENS)


class CheckedBody(BaseModel):
    """The result of checking an answer: whether the documents answer the question, the citations, and the sentences
    that the check does not confirm."""

    known: bool
    citations: list[CitationBody]
    unconfirmed: list[SentenceBody]


def checked_body(answer: Answer) -> CheckedBody:
    """The result of checking an answer."""
    told = answer_json(answer, is_answered=True)
    found = {"known": told["known"], "citations": told["citations"]}
    doubtful = [{**values(one), "confirmed": False} for one in answer.doubtful]
    return CheckedBody.model_validate({**found, "unconfirmed": doubtful})


def closing_of(answer: Answer) -> str:
    """The text to append to an answer: its sources, and the sentences that are not confirmed."""
    return f"\n\n{answer.note}" if answer.note else ""
