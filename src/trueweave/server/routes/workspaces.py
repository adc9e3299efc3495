"""Workspaces: which there are for the caller; made and dropped by who may administer all of them."""

from __future__ import annotations

from fastapi import APIRouter

from trueweave.server.access import Administering, Administrator, AnyCaller, Reading, Shared, WorkspaceName
from trueweave.server.bodies import DroppedBody, WorkspaceBody, WorkspaceDetails, WorkspaceRequest
from trueweave.server.fields import Cursor, Limit
from trueweave.server.pages import ListPage, Pager
from trueweave.server.problems import RESPONSES, Refusal
from trueweave.server.tagging import TaggedRoute
from trueweave.store.postgres import api_keys
from trueweave.store.postgres.public_errors import translated
from trueweave.types import Status

router = APIRouter(prefix="/v1/workspaces", tags=["workspaces"], responses=RESPONSES, route_class=TaggedRoute)


@router.get("")
async def list_workspaces(
    caller: AnyCaller, shared: Shared, limit: Limit = 50, cursor: Cursor = ""
) -> ListPage[WorkspaceBody]:
    """The workspaces that the caller may use, by name."""
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
    """Make a workspace. This takes a key for all workspaces."""
    if caller.workspaces is not None:
        raise Refusal(403, "forbidden", "This key is for some workspaces, and cannot make others.", "Use another key.")
    with translated():
        if await shared.database.open_workspace(body.name, make=False):
            raise Refusal(409, "workspace_exists", f"There is a workspace {body.name} already.", "Choose another name.")
        made = await shared.database.open_workspace(body.name, make=True, resolution=shared.settings.resolution)
        assert made is not None, "it was made"
        [found] = await api_keys.workspaces(shared.database, 1, only=[made.workspace.id])
    return WorkspaceBody(name=found.name, created=found.created)


@router.get("/{workspace}")
async def get_workspace(workspace: WorkspaceName, trueweave: Reading, shared: Shared) -> WorkspaceDetails:
    """How large a workspace is, and what waits in it."""
    return WorkspaceDetails(
        name=workspace,
        status=await trueweave.status(),
        method=trueweave.method,
        has_model=trueweave.has_model,
        max_upload_bytes=shared.settings.max_upload_bytes,
    )


@router.get("/{workspace}/status")
async def get_status(trueweave: Reading) -> Status:
    """How many documents, entities, relations and chunks a workspace has, and what waits in it."""
    return await trueweave.status()


@router.delete("/{workspace}")
async def drop_workspace(workspace: WorkspaceName, trueweave: Administering, shared: Shared) -> DroppedBody:
    """Drop a workspace, with everything in it."""
    documents = await trueweave.maintenance.drop()
    await shared.workspaces.forget(workspace)
    return DroppedBody(dropped=workspace, documents=documents)
