"""Ollama's protocol: `/api/chat` and `/api/tags`, for clients that support no other. Model names are as in `openai`."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field

from trueweave.answering.options import AskOptions
from trueweave.core.answers import Answer, AnswerOptions
from trueweave.core.errors import TrueweaveError
from trueweave.core.parameters import values
from trueweave.engine.trueweave import AsyncTrueweave
from trueweave.server.access import AnyCaller, NamedTime, Shared
from trueweave.server.chatting import (
    CheckedBody,
    answer_length,
    checked_body,
    closing_of,
    conversation_of,
    entered_by_model,
    method_of,
    models_for,
)
from trueweave.server.fields import Line, MessageText
from trueweave.server.problems import RESPONSES, problem_of, request_id_of
from trueweave.server.routes.questions import pieces_of
from trueweave.server.streaming import LINES_TYPE, AnswerLines, while_there

router = APIRouter(prefix="/api", tags=["ollama"], responses=RESPONSES)

_LINES: dict[int | str, dict[str, Any]] = {200: {"content": {LINES_TYPE: {"schema": {"type": "string"}}}}}


class OllamaMessage(BaseModel):
    """A message of a conversation."""

    model_config = ConfigDict(extra="allow")
    role: Literal["system", "user", "assistant", "tool"]
    content: MessageText = ""


class OllamaAnswer(BaseModel):
    """The message of a reply."""

    role: Literal["assistant"] = "assistant"
    content: str


class OllamaOptions(BaseModel):
    """Options for the answer. Fields not listed here are ignored."""

    model_config = ConfigDict(extra="allow")
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    num_predict: Annotated[int, Field(ge=-2, le=100_000)] | None = None


class OllamaRequest(BaseModel):
    """A chat request in Ollama's format. Fields not listed here are ignored."""

    model_config = ConfigDict(extra="allow")
    model: Line = Field(description="`trueweave/WORKSPACE` or `trueweave/WORKSPACE/METHOD`.")
    messages: Annotated[list[OllamaMessage], Field(min_length=1, max_length=500)]
    stream: bool = True
    options: OllamaOptions = OllamaOptions()


class OllamaReply(BaseModel):
    """An answer, or a piece of one, in Ollama's format. The last one has the counts and the result of the check
    (`trueweave`). Durations are in nanoseconds."""

    model: str
    created_at: datetime
    message: OllamaAnswer
    done: bool
    done_reason: str | None = None
    total_duration: int | None = None
    prompt_eval_count: int | None = None
    eval_count: int | None = None
    trueweave: CheckedBody | None = None


class OllamaModel(BaseModel):
    """A workspace, or a workspace with a method, as a model."""

    name: str
    model: str
    modified_at: datetime
    size: int = 0
    digest: str
    details: dict[str, Any] = {"format": "trueweave", "family": "trueweave"}


class OllamaModels(BaseModel):
    """The models that the caller may use."""

    models: list[OllamaModel]


@router.get("/tags")
async def list_ollama_models(caller: AnyCaller, shared: Shared) -> OllamaModels:
    """The first hundred workspaces that the caller may use, each alone and with each method."""
    return OllamaModels(
        models=[
            OllamaModel(name=name, model=name, modified_at=of.created, digest=hashlib.sha256(name.encode()).hexdigest())
            for name, of in await models_for(caller, shared)
        ]
    )


async def _entered(request: Request, body: OllamaRequest, at: NamedTime) -> AsyncIterator[AsyncTrueweave]:
    async with entered_by_model(request, body.model, at) as trueweave:
        yield trueweave


@router.post("/chat", response_model=OllamaReply, response_model_exclude_none=True, responses=_LINES)
async def chat_as_ollama(
    request: Request, body: OllamaRequest, trueweave: Annotated[AsyncTrueweave, Depends(_entered)]
) -> Any:
    """Answer the last user message from the documents of a workspace.

    The sources of the answer and the sentences that the check does not confirm are listed at its end. The answer is
    sent as JSON lines, one for each piece, unless `stream` is false.
    """
    method, talk = method_of(body.model, trueweave), conversation_of([(one.role, one.content) for one in body.messages])
    wanted = body.options.num_predict
    length = answer_length(wanted if wanted and wanted > 0 else None)  # -1 and -2 set no limit
    options = AnswerOptions(talk.instructions, length=length, temperature=body.options.temperature or 0.0)
    asked = AskOptions(talk.question, method, history=talk.history, options=options)
    if body.stream:
        return AnswerLines(_lines(trueweave, asked, body.model, request_id_of(request)))
    began = time.monotonic_ns()
    answer = await while_there(request, trueweave.ask(**values(asked)))
    return _last(body.model, answer, began, answer.text + closing_of(answer))


async def _lines(
    trueweave: AsyncTrueweave,
    asked: AskOptions,
    model: str,
    request_id: str,
) -> AsyncGenerator[bytes, None]:
    began = time.monotonic_ns()
    async with aclosing(pieces_of(trueweave, asked)) as pieces:
        async for piece in pieces:
            match piece:
                case str():
                    yield _line(_piece(model, piece))
                case Answer():
                    if closing := closing_of(piece):
                        yield _line(_piece(model, closing))
                    yield _line(_last(model, piece, began, ""))
                case TrueweaveError():
                    found = problem_of(piece, request_id)
                    yield json.dumps({"error": f"{found.detail} ({found.code})"}).encode() + b"\n"


def _line(reply: OllamaReply) -> bytes:
    return reply.model_dump_json(exclude_none=True).encode(errors="replace") + b"\n"


def _piece(model: str, text: str) -> OllamaReply:
    said = OllamaAnswer(content=text)
    return OllamaReply(model=model, created_at=datetime.now(UTC), message=said, done=False)


def _last(model: str, answer: Answer, began: int, text: str) -> OllamaReply:
    return OllamaReply(
        model=model,
        created_at=datetime.now(UTC),
        message=OllamaAnswer(content=text),
        done=True,
        done_reason=answer.finish,
        total_duration=time.monotonic_ns() - began,
        prompt_eval_count=answer.usage.tokens_in,
        eval_count=answer.usage.tokens_out,
        trueweave=checked_body(answer),
    )
