"""Routes for what a workspace keeps of its past."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, TypeAdapter

from trueweave.core.diff import IndexDiff
from trueweave.core.errors import InvalidArgument
from trueweave.core.history import DocumentVersion, HistoryStatus
from trueweave.engine.history import check_diff, diff_between, oldest_time
from trueweave.engine.trueweave import AsyncTrueweave
from trueweave.server.access import Administering, Present, WorkspaceName, entered_at
from trueweave.server.fields import Limit, Line, Uri
from trueweave.server.idempotency import Idempotent
from trueweave.server.problems import RESPONSES
from trueweave.server.streaming import while_there
from trueweave.server.tagging import TaggedRoute

router = APIRouter(
    prefix="/v1/workspaces/{workspace}/history", tags=["history"], responses=RESPONSES, route_class=TaggedRoute
)


class HistoryRequest(BaseModel):
    """For how long former versions are kept."""

    model_config = ConfigDict(extra="forbid")
    days: Annotated[int, Field(ge=1, le=100_000)] | None = None


class VersionsBody(BaseModel):
    """When versions of a document were in the index."""

    versions: list[DocumentVersion]


@router.get("")
async def get_history(trueweave: Present) -> HistoryStatus:
    """Since when the workspace keeps history, for how long, and how much there is."""
    return await trueweave.history.status()


@router.put("")
async def keep_history(body: HistoryRequest, trueweave: Administering, once: Idempotent) -> HistoryStatus:
    """Keep the versions of documents that are replaced or removed from now on, for so many days; without `days`, until
    they are erased. If history is kept already, this changes for how long."""

    async def act() -> HistoryStatus:
        return await trueweave.history.keep(days=body.days)

    return TypeAdapter(HistoryStatus).validate_python(await once(trueweave, body, act))


@router.delete("")
async def end_history(trueweave: Administering) -> HistoryStatus:
    """Keep no history any more, and erase all former versions."""
    return await trueweave.history.end()


@router.get("/versions")
async def list_document_versions(
    trueweave: Present, uri: Annotated[Uri, Query(description="The document.")], limit: Limit = 50
) -> VersionsBody:
    """When which versions of a document were in the index, the latest first."""
    return VersionsBody(versions=await trueweave.history.versions(uri, limit))


async def _other(
    request: Request,
    name: Annotated[
        Line | None, Query(alias="from", description="Another workspace to compare with, in place of times.")
    ] = None,
) -> AsyncIterator[AsyncTrueweave | None]:
    if name is None:
        yield None
    else:
        async with entered_at(request, name, None) as trueweave:
            yield trueweave


@router.get("/diff")
async def diff_index(
    request: Request,
    workspace: WorkspaceName,
    other: Annotated[AsyncTrueweave | None, Depends(_other)],
    trueweave: Present,
    since: Annotated[
        AwareDatetime | None, Query(description="Compare the index as it was then; by default, since history is kept.")
    ] = None,
    until: Annotated[AwareDatetime | None, Query(description="With the index as it was then; by default, now.")] = None,
    limit: Annotated[Limit, Query(description="How many changes of each kind at most.")] = 100,
) -> IndexDiff:
    """What was added, removed or changed from one time to another, or from another workspace to this one: how many
    documents, entities and relations, and the first of each, with passages on both sides."""
    await check_diff(trueweave.workspace)
    if other:
        if since or until:
            raise InvalidArgument("a diff from another workspace compares the present: leave out since and until.")
        return await while_there(request, diff_between(other.workspace, trueweave.workspace, limit))
    since = since or await oldest_time(trueweave.workspace)
    async with AsyncExitStack() as stack:
        before = await stack.enter_async_context(entered_at(request, workspace, since))
        after = await stack.enter_async_context(entered_at(request, workspace, until)) if until else trueweave
        return await while_there(request, diff_between(before.workspace, after.workspace, limit))
