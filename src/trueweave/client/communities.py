"""Communities of the graph and their reports, through a server."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from urllib.parse import quote
from uuid import UUID

from trueweave.client.forms import moment, part, read, read_or_none
from trueweave.client.requests import WorkspaceRequests
from trueweave.core.errors import UnknownCommunity
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


class AsyncClientCommunities:
    """The communities of a workspace of a server: `client.communities`."""

    def __init__(self, requests: WorkspaceRequests) -> None:
        self._requests = requests

    async def get(self, id: UUID | str) -> Community:
        """The community with this id, or the only one whose id begins with it."""
        return read(Community, part(await self._found(id), "community"))

    async def report(self, community: UUID) -> CommunityReport | None:
        """The report on a community; None if there is none."""
        try:
            found = part(await self._found(community), "report")
        except UnknownCommunity:
            return None
        return None if found is None else read(CommunityReport, found)

    async def _found(self, id: UUID | str) -> Any:
        return await self._requests.get(f"/communities/{quote(str(id), safe='')}", members=0)

    # --- written by `make sync` from engine/communities.py and the server's routes ---

    async def find(self) -> CommunityChanges:
        """Find the communities of the graph as currently indexed. Returns what changed.

        Nothing is done if the graph has not changed. No model is called: `write_reports` does that.
        """
        return read(CommunityChanges, await self._requests.write("/communities/find"))

    async def estimate_reports(self) -> ReportEstimate:
        """What `write_reports` would take. Nothing is sent to any model."""
        return read(ReportEstimate, await self._requests.get("/communities/reports/estimate"))

    async def estimate_report(self, community: UUID) -> ReportEstimate:
        """What `write_report` would take. Nothing is sent to any model."""
        return read(ReportEstimate, await self._requests.get(f"/communities/{community}/report/estimate"))

    async def write_report(self, community: UUID) -> CommunityReport:
        """Write the report on one community again, whether or not it is stale. If the model fails, the report that was
        there stays.

        Raises UnknownCommunity if the community does not exist, or was replaced while the report was written.
        """
        return read(CommunityReport, await self._requests.write(f"/communities/{community}/report"))

    async def request_reports(self) -> None:
        """Queue reports for all communities that have none, or a stale one, and return at once: workers write them."""
        await self._requests.write("/communities/reports")

    async def hierarchy(self) -> Hierarchy | None:
        """An overview of the communities, level by level; None if none have been looked for yet."""
        return read_or_none(Hierarchy, part(await self._requests.get("/communities/hierarchy"), "hierarchy"))

    async def select(
        self, level: int | None = None, *, within: UUID | None = None, since: datetime | None = None, limit: int = 50
    ) -> list[Community]:
        """Communities, largest first: of a level, directly within another, or changed since a time."""
        return await self._requests.listed(
            "/communities", Community, limit, level=level, within=str(within) if within else None, since=moment(since)
        )

    async def tree(self, within: UUID | None = None, *, depth: int = 2, limit: int = 500) -> CommunityTree:
        """The largest communities within another, or of all, of the outermost `depth` levels there."""
        return read(
            CommunityTree,
            await self._requests.get(
                "/communities/tree", within=str(within) if within else None, depth=depth, limit=limit
            ),
        )

    async def retired(self, since: datetime, limit: int = 50) -> list[RetiredCommunity]:
        """Communities that have ceased to exist since a time, latest first."""
        return read(
            list[RetiredCommunity],
            part(await self._requests.get("/communities/retired", since=moment(since), limit=limit), "communities"),
        )

    async def members(self, community: UUID, limit: int = 50) -> list[Entity]:
        """The entities in a community, those with most relations first."""
        return await self._requests.listed(f"/communities/{community}/members", Entity, limit)
