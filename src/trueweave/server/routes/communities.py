"""Routes for communities and their reports."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Query
from pydantic import AwareDatetime, BaseModel

from trueweave.core.graph import (
    Community,
    CommunityChanges,
    CommunityReport,
    CommunityTree,
    Entity,
    Hierarchy,
    RetiredCommunity,
)
from trueweave.core.money import ReportEstimate
from trueweave.server.access import Reading, Writing
from trueweave.server.bodies import CommunityBody
from trueweave.server.fields import Cursor, Limit, Name
from trueweave.server.idempotency import Idempotent
from trueweave.server.pages import ListPage, Pager
from trueweave.server.problems import RESPONSES
from trueweave.server.tagging import TaggedRoute
from trueweave.store.postgres.public_errors import translated
from trueweave.store.postgres.view import communities, pages

router = APIRouter(
    prefix="/v1/workspaces/{workspace}/communities", tags=["communities"], responses=RESPONSES, route_class=TaggedRoute
)

OfCommunity = Annotated[UUID, Path(description="Its id.")]


class HierarchyBody(BaseModel):
    """The hierarchy of communities, level by level; null if they have not been detected yet."""

    hierarchy: Hierarchy | None


class RetiredBody(BaseModel):
    """Communities that no longer exist, the latest first."""

    communities: list[RetiredCommunity]


@router.get("", response_model=ListPage[Community])
async def list_communities(
    trueweave: Reading,
    limit: Limit = 50,
    cursor: Cursor = "",
    level: Annotated[
        int | None, Query(ge=0, le=100, description="Only those of this level, 0 being outermost.")
    ] = None,
    within: Annotated[UUID | None, Query(description="Only those right within this one.")] = None,
    since: Annotated[AwareDatetime | None, Query(description="Only those that have changed since then.")] = None,
) -> Any:
    """Communities, the largest first."""
    workspace = trueweave.workspace
    pager: Pager[tuple[int, UUID]] = Pager(tuple[int, UUID], "communities", workspace.id, level, within, since)
    after = pager.position(cursor)
    with translated():
        async with workspace.transaction() as tx:
            found = await pages.communities(tx, limit + 1, level=level, within=within, since=since, after=after)
    return pager.page(found, limit, lambda one: (one.size, one.id))


@router.get("/hierarchy")
async def get_hierarchy(trueweave: Reading) -> HierarchyBody:
    """The number of communities on each level, how they were detected, and whether the graph has changed since."""
    return HierarchyBody(hierarchy=await trueweave.communities.hierarchy())


@router.get("/tree")
async def get_tree(
    trueweave: Reading,
    within: Annotated[UUID | None, Query(description="Only those within this one.")] = None,
    depth: Annotated[int, Query(ge=1, le=10, description="How many levels.")] = 2,
    limit: Annotated[int, Query(ge=1, le=1000, description="How many communities at most.")] = 500,
) -> CommunityTree:
    """The largest communities of several levels in one response. The community around another one comes before it."""
    return await trueweave.communities.tree(within, depth=depth, limit=limit)


@router.get("/retired")
async def list_retired(
    trueweave: Reading, since: Annotated[AwareDatetime, Query(description="Since when.")], limit: Limit = 50
) -> RetiredBody:
    """Communities that have ceased to exist since then, the latest first."""
    return RetiredBody(communities=await trueweave.communities.retired(since, limit))


@router.get("/reports/estimate")
async def estimate_reports(trueweave: Reading) -> ReportEstimate:
    """The estimate for writing all missing or stale reports. Nothing is sent to any model."""
    return await trueweave.communities.estimate_reports()


@router.post("/find")
async def find_communities(trueweave: Writing, once: Idempotent) -> CommunityChanges:
    """Detect the communities of the current graph. No model is called."""
    found: CommunityChanges = await once(trueweave, None, trueweave.communities.find)
    return found


@router.post("/reports", status_code=202)
async def request_reports(trueweave: Writing, once: Idempotent) -> ReportEstimate:
    """Have workers write all missing or stale reports, and return the estimate for that."""

    async def act() -> ReportEstimate:
        estimate = await trueweave.communities.estimate_reports()
        await trueweave.communities.request_reports()
        return estimate

    found: ReportEstimate = await once(trueweave, None, act)
    return found


@router.get("/{community}")
async def get_community(
    community: Annotated[Name, Path(description="Its id, or how that begins.")],
    trueweave: Reading,
    members: Annotated[int, Query(ge=0, le=200, description="How many of its members.")] = 50,
) -> CommunityBody:
    """A community with its report and its members."""
    found = await trueweave.communities.get(community)
    return CommunityBody(
        community=found,
        report=await trueweave.communities.report(found.id),
        members=await trueweave.communities.members(found.id, members),
    )


@router.get("/{community}/members", response_model=ListPage[Entity])
async def list_members(community: OfCommunity, trueweave: Reading, limit: Limit = 50, cursor: Cursor = "") -> Any:
    """The entities in a community, those with the most relations first."""
    workspace = trueweave.workspace
    pager: Pager[tuple[int, str, UUID]] = Pager(tuple[int, str, UUID], "members", workspace.id, community)
    after = pager.position(cursor)
    with translated():
        async with workspace.transaction() as tx:
            found = await communities.members(tx, community, limit + 1, after)
    return pager.page(found, limit, lambda one: (one.degree, one.name, one.id))


@router.get("/{community}/report/estimate")
async def estimate_report(community: OfCommunity, trueweave: Reading) -> ReportEstimate:
    """The estimate for writing the report on one community again. Nothing is sent to any model."""
    return await trueweave.communities.estimate_report(community)


@router.post("/{community}/report")
async def write_report(community: OfCommunity, trueweave: Writing, once: Idempotent) -> CommunityReport:
    """Write the report on one community again, and return it. If the model fails, the report that was there stays."""
    written: CommunityReport = await once(trueweave, None, lambda: trueweave.communities.write_report(community))
    return written
