"""Routes for questions: ask, retrieve, search and compare methods. Answers are sent whole, or as server-sent events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, JsonValue

from trueweave.answering.options import AskOptions
from trueweave.core.answers import Answer
from trueweave.core.errors import TrueweaveError
from trueweave.core.events import Event, Retrieved, Rewritten
from trueweave.core.evidence import MethodInfo
from trueweave.core.json_forms import answer_json, comparison_json, evidence_json, trace_json
from trueweave.core.parameters import values
from trueweave.engine.trueweave import AsyncTrueweave
from trueweave.retrieval.methods import registry
from trueweave.server.access import AnyCaller, Asking, Reading
from trueweave.server.bodies import (
    AnswerBody,
    AskBody,
    CompareBody,
    ComparisonBody,
    PassagesBody,
    RetrieveBody,
    RetrievedBody,
    SearchBody,
)
from trueweave.server.fields import with_fields
from trueweave.server.problems import RESPONSES, problem_of, request_id_of
from trueweave.server.streaming import MEDIA_TYPE, EventStream, event, while_there

router = APIRouter(prefix="/v1/workspaces/{workspace}", tags=["questions"], responses=RESPONSES)
methods_router = APIRouter(prefix="/v1/methods", tags=["questions"], responses=RESPONSES)

_WAITING = 256  # maximum pieces of an answer buffered for a slow caller
_STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {
            MEDIA_TYPE: {
                "schema": {
                    "type": "string",
                    "description": "Events: `rewritten` ({question}), where the question is understood in other "
                    "words from what was said before; `evidence` (as of retrieve), `token` ({text}), then `answer` "
                    "(the form of JSON), or `problem` at any time.",
                }
            }
        }
    }
}


class MethodBody(BaseModel):
    """A method: what it does, and its parameters as a JSON schema."""

    name: str
    summary: str
    parameters: dict[str, JsonValue]


class MethodsBody(BaseModel):
    """All available methods."""

    methods: list[MethodBody]


@with_fields(MethodInfo)
class UsableMethodBody(BaseModel):
    """A method in a workspace: what it does, its parameters as a JSON schema, and whether it is the default. If it
    cannot be used here, `problem` says why."""

    parameters: dict[str, JsonValue]
    usable: bool


class UsableMethodsBody(BaseModel):
    """All methods, as they can be used in a workspace."""

    methods: list[UsableMethodBody]


@methods_router.get("")
async def list_methods(_: AnyCaller) -> MethodsBody:
    """All methods, with their parameters as JSON schemas."""
    found = [registry.describe(name) for name in registry.names()]
    return MethodsBody(
        methods=[MethodBody(name=one.name, summary=one.summary, parameters=registry.schema(one.name)) for one in found]
    )


@router.get("/methods")
async def list_usable_methods(trueweave: Reading) -> UsableMethodsBody:
    """All methods with their parameters, and whether each can be used in this workspace."""
    found = await trueweave.methods()
    return UsableMethodsBody(methods=[UsableMethodBody.model_validate(one, from_attributes=True) for one in found])


@router.post("/retrieve", response_model=RetrievedBody)
async def retrieve(request: Request, body: RetrieveBody, trueweave: Asking) -> Any:
    """The evidence that a method finds for a question, and how it was found, without an answer."""
    found = await while_there(request, trueweave.retrieve(**values(body.asked(trueweave.method))))
    return {
        "question": body.question,
        "method": found.trace.method,
        "evidence": evidence_json(found),
        "trace": trace_json(found.trace),
        "usage": found.trace.usage,
    }


@router.post("/ask", response_model=AnswerBody, responses=_STREAM)
async def ask(request: Request, body: AskBody, trueweave: Asking) -> Any:
    """The answer to a question, with every citation checked.

    With `Accept: text/event-stream` it is sent as events: the evidence, the answer in pieces, and the whole answer with
    checked citations. Disconnecting cancels generation.
    """
    asked = body.asked(trueweave.method)
    if MEDIA_TYPE in request.headers.get("accept", "") and not asked.context_only:
        return EventStream(_events(trueweave, asked, request_id_of(request)))
    answer = await while_there(request, trueweave.ask(**values(asked)))
    return answer_json(answer, is_answered=not asked.context_only)


@router.post("/search", response_model=PassagesBody)
async def search(request: Request, body: SearchBody, trueweave: Asking) -> Any:
    """The passages that match a text best: by meaning and by words, or only by words if nothing is embedded. Of several
    texts, the passages that most of them have near the top."""
    found = await while_there(request, trueweave.search(body.text, body.limit, filter=body.filter.filter()))
    return {"passages": found}


@router.post("/compare", response_model=ComparisonBody)
async def compare(request: Request, body: CompareBody, trueweave: Asking) -> Any:
    """What different methods find for a question, side by side; with their answers, if requested."""
    wanted = body.filter.filter()
    methods = [one if isinstance(one, str) else registry.make(one.method, one.parameters) for one in body.methods]
    found = await while_there(request, trueweave.compare(body.question, methods, filter=wanted, answers=body.answers))
    return comparison_json(found)


Piece = Rewritten | Retrieved | str | Answer | TrueweaveError


async def pieces_of(trueweave: AsyncTrueweave, asked: AskOptions) -> AsyncGenerator[Piece, None]:
    """Yields the rewritten question if there is one, the evidence, the answer in pieces and then as a whole; or the
    error that ended it."""
    coming: asyncio.Queue[Piece | None] = asyncio.Queue(_WAITING)

    def heard(told: Event) -> None:
        if isinstance(told, Rewritten | Retrieved):
            coming.put_nowait(told)  # these come first, so the queue has room

    async def listen() -> None:
        try:
            async with aclosing(trueweave.stream(**values(replace(asked, listener=heard)))) as pieces:
                async for piece in pieces:
                    await coming.put(piece)
        except TrueweaveError as error:
            await coming.put(error)
        await coming.put(None)

    listening = asyncio.create_task(listen())
    try:
        while (piece := await _piece(coming, listening)) is not None:
            yield piece
    finally:
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)


async def _piece(coming: asyncio.Queue[Piece | None], listening: asyncio.Task[None]) -> Piece | None:
    """The next piece. An unexpected exception in the listening task is raised here."""
    getting = asyncio.ensure_future(coming.get())
    try:
        await asyncio.wait((getting, listening), return_when=asyncio.FIRST_COMPLETED)
        if getting.done():
            return getting.result()
    finally:
        getting.cancel()  # also when the caller disconnects meanwhile
    await listening
    return coming.get_nowait()


async def _events(trueweave: AsyncTrueweave, asked: AskOptions, request_id: str) -> AsyncGenerator[bytes, None]:
    async with aclosing(pieces_of(trueweave, asked)) as pieces:
        async for piece in pieces:
            match piece:
                case Rewritten(question):
                    yield event("rewritten", {"question": question})
                case Retrieved(evidence):
                    trace = trace_json(evidence.trace)
                    found = {"evidence": evidence_json(evidence), "trace": trace, "usage": evidence.trace.usage}
                    yield event("evidence", {"question": asked.question, "method": evidence.trace.method, **found})
                case str():
                    yield event("token", {"text": piece})
                case Answer():
                    yield event("answer", AnswerBody.model_validate(answer_json(piece, is_answered=True)))
                case TrueweaveError():
                    yield event("problem", problem_of(piece, request_id))
