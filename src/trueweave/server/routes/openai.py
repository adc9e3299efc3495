"""OpenAI's protocol: `/v1/chat/completions` and `/v1/models`, so that its clients only need another base URL.

The model name selects the workspace and the method: `trueweave/WORKSPACE` or `trueweave/WORKSPACE/METHOD`.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Annotated, Any, Literal
from uuid import uuid4

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field

from trueweave.answering.options import AskOptions
from trueweave.core.answers import Answer, AnswerOptions
from trueweave.core.errors import TrueweaveError
from trueweave.core.evidence import Usage
from trueweave.core.parameters import values
from trueweave.engine.trueweave import AsyncTrueweave
from trueweave.server.access import AnyCaller, NamedTime, Shared
from trueweave.server.chatting import (
    ChatRole,
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
from trueweave.server.streaming import MEDIA_TYPE, EventStream, event, while_there

router = APIRouter(prefix="/v1", tags=["openai"], responses=RESPONSES)

_STREAM: dict[int | str, dict[str, Any]] = {200: {"content": {MEDIA_TYPE: {"schema": {"type": "string"}}}}}


class ChatPart(BaseModel):
    """A part of a message. Only text is used."""

    model_config = ConfigDict(extra="allow")
    type: Line
    text: MessageText = ""


class ChatMessage(BaseModel):
    """A message of a conversation."""

    model_config = ConfigDict(extra="allow")
    role: ChatRole
    content: MessageText | Annotated[list[ChatPart], Field(max_length=100)] | None = None

    @property
    def said(self) -> str:
        """The text of the message."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.text)
        return self.content or ""


class ChatStreamOptions(BaseModel):
    """Options of a stream."""

    model_config = ConfigDict(extra="allow")
    include_usage: bool = False


class CompletionRequest(BaseModel):
    """A chat request in OpenAI's format. Fields not listed here are ignored."""

    model_config = ConfigDict(extra="allow")
    model: Line = Field(description="`trueweave/WORKSPACE` or `trueweave/WORKSPACE/METHOD`.")
    messages: Annotated[list[ChatMessage], Field(min_length=1, max_length=500)]
    stream: bool = False
    stream_options: ChatStreamOptions | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    max_tokens: Annotated[int, Field(ge=1, le=100_000)] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1, le=100_000)] | None = None


class ChatReply(BaseModel):
    """The message of the answer."""

    role: Literal["assistant"] = "assistant"
    content: str


class ChatChoice(BaseModel):
    """The answer. There is always exactly one."""

    index: int = 0
    message: ChatReply
    finish_reason: Literal["stop", "length"]


class ChatUsage(BaseModel):
    """Tokens used, summed over all model calls."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ChatCompletion(BaseModel):
    """An answer in OpenAI's format. `trueweave` has the result of checking it; a stream has it in the chunk with the
    `finish_reason`."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[ChatChoice]
    usage: ChatUsage
    trueweave: CheckedBody


class ModelCard(BaseModel):
    """A workspace, or a workspace with a method, as a model."""

    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: str = "trueweave"


class ModelList(BaseModel):
    """The models that the caller may use."""

    object: Literal["list"] = "list"
    data: list[ModelCard]


@router.get("/models")
async def list_models(caller: AnyCaller, shared: Shared) -> ModelList:
    """The first hundred workspaces that the caller may use, each alone and with each method."""
    found = await models_for(caller, shared)
    return ModelList(data=[ModelCard(id=name, created=int(of.created.timestamp())) for name, of in found])


async def _entered(request: Request, body: CompletionRequest, at: NamedTime) -> AsyncIterator[AsyncTrueweave]:
    async with entered_by_model(request, body.model, at) as trueweave:
        yield trueweave


@router.post("/chat/completions", response_model=ChatCompletion, responses=_STREAM)
async def complete_chat(
    request: Request, body: CompletionRequest, trueweave: Annotated[AsyncTrueweave, Depends(_entered)]
) -> Any:
    """Answer the last user message from the documents of a workspace.

    The sources of the answer and the sentences that the check does not confirm are listed at its end. The messages
    before the last are the conversation, and system messages are further instructions.
    """
    method, talk = method_of(body.model, trueweave), conversation_of([(one.role, one.said) for one in body.messages])
    length = answer_length(body.max_completion_tokens or body.max_tokens)
    options = AnswerOptions(talk.instructions, length=length, temperature=body.temperature or 0.0)
    asked = AskOptions(talk.question, method, history=talk.history, options=options)
    head = {"id": f"chatcmpl-{uuid4().hex}", "created": int(time.time()), "model": body.model}
    if body.stream:
        stream = _chunks(trueweave, asked, body, head, request_id_of(request))
        return EventStream(stream)
    answer = await while_there(request, trueweave.ask(**values(asked)))
    choice = ChatChoice(message=ChatReply(content=answer.text + closing_of(answer)), finish_reason=answer.finish)
    return ChatCompletion(**head, choices=[choice], usage=_usage(answer.usage), trueweave=checked_body(answer))


async def _chunks(
    trueweave: AsyncTrueweave,
    asked: AskOptions,
    body: CompletionRequest,
    head: dict[str, Any],
    request_id: str,
) -> AsyncGenerator[bytes, None]:
    def chunk(delta: dict[str, str], finish: str | None = None, **more: Any) -> bytes:
        choices = [{"index": 0, "delta": delta, "finish_reason": finish}]
        return event("", {**head, "object": "chat.completion.chunk", "choices": choices, **more})

    yield chunk({"role": "assistant", "content": ""})
    async with aclosing(pieces_of(trueweave, asked)) as pieces:
        async for piece in pieces:
            match piece:
                case str():
                    yield chunk({"content": piece})
                case Answer():
                    if closing := closing_of(piece):
                        yield chunk({"content": closing})
                    yield chunk({}, piece.finish, trueweave=checked_body(piece))
                    if body.stream_options and body.stream_options.include_usage:
                        usage = _usage(piece.usage)
                        yield event("", {**head, "object": "chat.completion.chunk", "choices": [], "usage": usage})
                case TrueweaveError():
                    found = problem_of(piece, request_id)
                    yield event("", {"error": {"message": found.detail, "type": found.code, "code": found.code}})
                    return
    yield b"data: [DONE]\n\n"


def _usage(usage: Usage) -> ChatUsage:
    total = usage.tokens_in + usage.tokens_out
    return ChatUsage(prompt_tokens=usage.tokens_in, completion_tokens=usage.tokens_out, total_tokens=total)
