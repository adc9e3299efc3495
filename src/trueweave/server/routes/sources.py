"""Routes for sources: addresses that the workers of a server synchronise."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, ConfigDict, Field

from trueweave.core.sources import DocumentSource
from trueweave.engine.sources import add_source
from trueweave.server.access import AnyCaller, Caller, Reading, Writing
from trueweave.server.fields import Cursor, Groups, Limit, Line, Name, Uri, storable_text
from trueweave.server.idempotency import Idempotent
from trueweave.server.pages import ListPage, Pager
from trueweave.server.problems import RESPONSES
from trueweave.server.tagging import TaggedRoute
from trueweave.store.postgres.public_errors import translated
from trueweave.store.postgres.record import connector_sources

router = APIRouter(
    prefix="/v1/workspaces/{workspace}/sources", tags=["sources"], responses=RESPONSES, route_class=TaggedRoute
)

SourceName = Annotated[str, Path(min_length=1, max_length=100, description="Its name."), storable_text]
_FAILED = "The run failed. The server's administrator finds the reason in its log."


class SourceBody(BaseModel):
    """An address to follow. `every_seconds` is how often workers synchronise it; without it, they do so on request.
    `secrets` are the environment variables of the server that hold its credentials; the administrator decides which
    connectors and variables may be used. `readers` are the groups that can read its documents, unless these state their
    own. `by` says who adds it, beside the name of the key."""

    model_config = ConfigDict(extra="forbid")
    address: Uri
    every_seconds: Annotated[int, Field(ge=60, le=31_622_400)] | None = None
    secrets: Annotated[dict[Name, Line], Field(max_length=20)] = {}
    readers: Groups | None = None
    by: Line = ""


class SyncBody(BaseModel):
    """Whether the run may remove more than a fifth of the documents of the source."""

    model_config = ConfigDict(extra="forbid")
    confirmed: bool = False


class RemovedSourceBody(BaseModel):
    """A source that was removed, and how many documents were removed with it."""

    removed: str
    documents: int


@router.get("", response_model=ListPage[DocumentSource])
async def list_sources(trueweave: Reading, caller: AnyCaller, limit: Limit = 50, cursor: Cursor = "") -> Any:
    """The sources of the workspace with their schedules and last runs, in the order of their names."""
    pager: Pager[str] = Pager(str, "sources", trueweave.workspace.id)
    after = pager.position(cursor)
    with translated():
        async with trueweave.workspace.transaction() as tx:
            found = await connector_sources.page(tx, limit + 1, after or "")
    return pager.page([_shown(one, caller) for one in found], limit, lambda one: one.name)


@router.get("/{source}")
async def get_source(source: SourceName, trueweave: Reading, caller: AnyCaller) -> DocumentSource:
    """A source with its schedule and its last run."""
    return _shown(await trueweave.sources.get(source), caller)


@router.put("/{source}", response_model=DocumentSource)
async def put_source(
    source: SourceName, body: SourceBody, caller: AnyCaller, trueweave: Writing, once: Idempotent
) -> Any:
    """Add a source, or replace the schedule, secrets and readers of one with this name and address. Only connectors and
    environment variables that the administrator allows for the workspace can be used."""

    async def act() -> DocumentSource:
        given = source, body.address, body.every_seconds, body.secrets, caller.author(body.by)
        with translated():
            made = await add_source(trueweave.workspace, *given, allowed_by=trueweave.settings, readers=body.readers)
        return _shown(made, caller)

    return await once(trueweave, body, act)


@router.post("/{source}/sync", status_code=202, response_model=DocumentSource)
async def sync_source(
    source: SourceName, body: SyncBody, caller: AnyCaller, trueweave: Writing, once: Idempotent
) -> Any:
    """Have a worker synchronise a source as soon as possible. `last_run` of the source shows the result."""

    async def act() -> DocumentSource:
        return _shown(await trueweave.sources.request_sync(source, confirmed=body.confirmed), caller)

    return await once(trueweave, body, act)


@router.delete("/{source}")
async def remove_source(
    source: SourceName,
    trueweave: Writing,
    documents: Annotated[bool, Query(description="Whether to remove its documents, too.")] = False,
) -> RemovedSourceBody:
    """Stop the run of a source, and remove the source. Its documents stay, unless they are to be removed as well."""
    removed = await trueweave.sources.remove(source, documents=documents)
    return RemovedSourceBody(removed=source, documents=removed)


def _shown(source: DocumentSource, caller: Caller) -> DocumentSource:
    """A source as a caller may see it: reasons of failures name hosts and settings, which are for whoever runs the
    server."""
    run = source.last_run
    if run is None or run.outcome != "failed" or (caller.scope == "admin" and caller.workspaces is None):
        return source
    return replace(source, last_run=replace(run, problem=_FAILED))
