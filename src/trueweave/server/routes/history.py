"""Routes for what a workspace keeps of its past."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from trueweave.core.history import DocumentVersion, HistoryStatus
from trueweave.server.access import Administering, Reading
from trueweave.server.fields import Limit, Uri
from trueweave.server.idempotency import Idempotent
from trueweave.server.problems import RESPONSES
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
async def get_history(trueweave: Reading) -> HistoryStatus:
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
    trueweave: Reading, uri: Annotated[Uri, Query(description="The document.")], limit: Limit = 50
) -> VersionsBody:
    """When which versions of a document were in the index, the latest first."""
    return VersionsBody(versions=await trueweave.history.versions(uri, limit))
