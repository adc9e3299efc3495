"""Routes for what agents remember: store, recall and forget it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Request
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from trueweave.core.model_calls import Message
from trueweave.server.access import AnyCaller, Asking, Writing
from trueweave.server.bodies import MessageBody, PassagesBody, RemovedBody, UrisBody
from trueweave.server.fields import DocumentText, Groups, Line, Question
from trueweave.server.idempotency import Idempotent
from trueweave.server.problems import RESPONSES
from trueweave.server.streaming import while_there
from trueweave.server.tagging import TaggedRoute

router = APIRouter(
    prefix="/v1/workspaces/{workspace}/memories", tags=["memory"], responses=RESPONSES, route_class=TaggedRoute
)


class MemoryRequest(BaseModel):
    """A text to remember, or the messages of a conversation. `by` says who told it, besides the key. With the id of a
    `conversation`, it replaces what was stored of that conversation. `readers` are the groups that can read it."""

    model_config = ConfigDict(extra="forbid")
    text: DocumentText = ""
    messages: Annotated[list[MessageBody], Field(max_length=1000)] = []
    by: Line = ""
    source: Line = ""
    date: AwareDatetime | None = Field(default=None, description="When it was said; now, if there is none.")
    conversation: Line = ""
    readers: Groups | None = None

    def said(self) -> str | list[Message]:
        """What to remember."""
        return [Message(one.role, one.content) for one in self.messages] or self.text


class RememberedBody(BaseModel):
    """The document in which something is remembered. Workers index it: `/document/status` says when that is done."""

    uri: str


class RecallRequest(BaseModel):
    """What to look for among the memories; optionally only what one author told, or what was said since a time."""

    model_config = ConfigDict(extra="forbid")
    text: Question
    limit: Annotated[int, Field(ge=1, le=200)] = 10
    by: Line = ""
    since: AwareDatetime | None = None


@router.post("", status_code=202)
async def remember(body: MemoryRequest, caller: AnyCaller, trueweave: Writing, once: Idempotent) -> RememberedBody:
    """Store a text or a conversation as a document that says who told it and when."""

    async def act() -> RememberedBody:
        uri = await trueweave.remember(
            body.said(),
            by=caller.author(body.by),
            source=body.source,
            date=body.date,
            conversation=body.conversation,
            readers=body.readers,
        )
        return RememberedBody(uri=uri)

    return RememberedBody.model_validate(await once(trueweave, body, act))


@router.post("/recall", response_model=PassagesBody)
async def recall(request: Request, body: RecallRequest, trueweave: Asking) -> Any:
    """The passages of memories that match a text best. The title of each says who told it and when."""
    found = await while_there(request, trueweave.recall(body.text, body.limit, by=body.by, since=body.since))
    return {"passages": found}


@router.post("/forget")
async def forget(body: UrisBody, trueweave: Writing, once: Idempotent) -> RemovedBody:
    """Remove memories by their uris. Their text is erased everywhere; other documents are refused."""

    async def act() -> RemovedBody:
        return RemovedBody(removed=await trueweave.forget(*body.uris))

    return RemovedBody.model_validate(await once(trueweave, body, act))
