"""Routes for workspaces. Only administrators of all workspaces may create and drop them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from fastapi import APIRouter, Request
from pydantic import TypeAdapter

from trueweave.core.errors import TrueweaveError
from trueweave.core.jobs import Activity, Status
from trueweave.engine.trueweave import AsyncTrueweave
from trueweave.server.access import (
    Administering,
    Administrator,
    AnyCaller,
    Reading,
    Shared,
    WorkspaceName,
    require_operator,
)
from trueweave.server.activity import ActivityFeed
from trueweave.server.bodies import DroppedBody, WorkspaceBody, WorkspaceDetails, WorkspaceRequest
from trueweave.server.fields import Cursor, Limit
from trueweave.server.pages import ListPage, Pager
from trueweave.server.problems import RESPONSES, Refusal, problem_of, request_id_of
from trueweave.server.streaming import EVENT, MEDIA_TYPE, EventStream, event
from trueweave.server.tagging import TaggedRoute
from trueweave.store.postgres.access import api_keys
from trueweave.store.postgres.public_errors import translated

_ACTIVITY = TypeAdapter(Activity)
_EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Events: `activity` (as of `/activity`) at the beginning and whenever something changed, for a "
        "minute; `problem` if it cannot be read.",
        "content": {MEDIA_TYPE: {"schema": EVENT}},
    }
}

router = APIRouter(prefix="/v1/workspaces", tags=["workspaces"], responses=RESPONSES, route_class=TaggedRoute)


@router.get("")
async def list_workspaces(
    caller: AnyCaller, shared: Shared, limit: Limit = 50, cursor: Cursor = ""
) -> ListPage[WorkspaceBody]:
    """The workspaces that the caller may use, sorted by name."""
    pager: Pager[str] = Pager(str, "workspaces", caller.id)
    with translated():
        found = await api_keys.workspaces(
            shared.database, limit + 1, only=caller.workspaces, after=pager.position(cursor) or ""
        )
    page = pager.page(found, limit, lambda one: one.name)
    items = [WorkspaceBody(name=one.name, created=one.created) for one in page["items"]]
    return ListPage(items=items, next=page["next"])


@router.post("", status_code=201)
async def create_workspace(body: WorkspaceRequest, caller: Administrator, shared: Shared) -> WorkspaceBody:
    """Create a workspace. This needs an admin key for all workspaces."""
    require_operator(caller)
    with translated():
        made = await shared.database.create_workspace(body.name, shared.settings.resolution)
        if made is None:
            raise Refusal(409, "workspace_exists", f"The workspace {body.name} already exists.", "Choose another name.")
        [found] = await api_keys.workspaces(shared.database, 1, only=[made.workspace.id])
    return WorkspaceBody(name=found.name, created=found.created)


@router.get("/{workspace}")
async def get_workspace(workspace: WorkspaceName, trueweave: Reading, shared: Shared) -> WorkspaceDetails:
    """The size of a workspace and of its queue."""
    return WorkspaceDetails(
        name=workspace,
        status=await trueweave.status(),
        method=trueweave.method,
        has_model=trueweave.has_model,
        max_upload_bytes=shared.settings.max_upload_bytes,
    )


@router.get("/{workspace}/status")
async def get_status(trueweave: Reading) -> Status:
    """How many documents, entities, relations and chunks a workspace has, and what is queued."""
    return await trueweave.status()


@router.get("/{workspace}/activity")
async def get_activity(trueweave: Reading) -> Activity:
    """The activity of a workspace: documents that wait, how fast they are processed and what they wait for, the
    spending, and the position of the latest change."""
    return await trueweave.maintenance.activity()


@router.get("/{workspace}/events", status_code=200, response_class=EventStream, responses=_EVENTS)
async def follow_activity(request: Request, trueweave: Reading, shared: Shared) -> EventStream:
    """The activity of a workspace, sent whenever it changes. The stream ends after a minute: connect again to go on."""
    with translated():
        await trueweave.workspace.check_unrestricted()
    return EventStream(_events(shared.activity, trueweave, request_id_of(request)))


async def _events(feed: ActivityFeed, trueweave: AsyncTrueweave, request_id: str) -> AsyncGenerator[bytes, None]:
    try:
        async with aclosing(feed.changes(trueweave)) as changes:
            async for activity in changes:
                yield event("activity", _ACTIVITY.dump_python(activity, mode="json"))
    except TrueweaveError as error:
        yield event("problem", problem_of(error, request_id))


@router.delete("/{workspace}")
async def drop_workspace(
    workspace: WorkspaceName, trueweave: Administering, caller: Administrator, shared: Shared
) -> DroppedBody:
    """Drop a workspace, with everything in it. This needs an admin key for all workspaces."""
    require_operator(caller)
    documents = await trueweave.maintenance.drop()
    await shared.workspaces.forget(workspace)
    return DroppedBody(dropped=workspace, documents=documents)
