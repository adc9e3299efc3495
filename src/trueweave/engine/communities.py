"""Communities of the graph and their reports."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from trueweave.core.errors import UnknownCommunity
from trueweave.core.events import CountingListener, Listener, Reported, ignore
from trueweave.core.graph import (
    Community,
    CommunityChanges,
    CommunityReport,
    CommunityTree,
    Entity,
    Hierarchy,
    RetiredCommunity,
)
from trueweave.core.money import Price, ReportEstimate
from trueweave.engine.core import OpenWorkspace
from trueweave.engine.restricted import refuse_restricted
from trueweave.graph.communities import LeidenSettings
from trueweave.index.communities.find import regroup
from trueweave.store.postgres.public_errors import own_errors
from trueweave.store.postgres.queue import failed_work
from trueweave.store.postgres.queue.queue import ask_for
from trueweave.store.postgres.view import communities

if TYPE_CHECKING:
    from trueweave.index.communities.reports import Reporting


@own_errors
@refuse_restricted("communities")
class AsyncCommunitiesGroup:
    """The communities of a workspace: `trueweave.communities`."""

    def __init__(self, core: OpenWorkspace) -> None:
        self._core = core

    async def find(self) -> CommunityChanges:
        """Find the communities of the graph as currently indexed. Returns what changed.

        Nothing is done if the graph has not changed. No model is called: `write_reports` does that.
        """
        return await regroup(self._core.workspace, self._how_grouped())

    async def estimate_reports(self) -> ReportEstimate:
        """What `write_reports` would take. Nothing is sent to any model."""
        from trueweave.index.communities.reports import estimate

        reporting, price = await self._reporting()
        return await estimate(self._core.workspace, reporting, price)

    async def estimate_report(self, community: UUID) -> ReportEstimate:
        """What `write_report` would take. Nothing is sent to any model."""
        from trueweave.index.communities.reports import estimate_one

        reporting, price = await self._reporting()
        return await estimate_one(self._core.workspace, reporting, community, price)

    async def write_report(self, community: UUID) -> CommunityReport:
        """Write the report on one community again, whether or not it is stale. If the model fails, the report that was
        there stays.

        Raises UnknownCommunity if the community does not exist, or was replaced while the report was written.
        """
        from trueweave.index.communities.reports import write_report

        reporting, _ = await self._reporting()
        return await write_report(self._core.workspace, reporting, community)

    async def write_reports(self, listener: Listener = ignore) -> Reported:
        """Write reports on all communities that have none, or a stale one. Returns how many were written.

        Without a language model, names and sentences are picked out of the documents. Like `add`, you can stop it at
        any time and run it again, and other workers of this workspace continue it.
        """
        await self.request_reports()
        counted = CountingListener(listener, Reported())
        await self._core.work_off(counted)
        return counted.total

    async def request_reports(self) -> None:
        """Queue reports for all communities that have none, or a stale one, and return at once: workers write them."""
        async with self._core.workspace.transaction() as tx:
            await failed_work.forget(tx, "report")
            await ask_for(tx, "report")

    async def hierarchy(self) -> Hierarchy | None:
        """An overview of the communities, level by level; None if none have been looked for yet."""
        async with self._core.workspace.transaction() as tx:
            return await communities.hierarchy(tx)

    async def select(
        self, level: int | None = None, *, within: UUID | None = None, since: datetime | None = None, limit: int = 50
    ) -> list[Community]:
        """Communities, largest first: of a level, directly within another, or changed since a time."""
        async with self._core.workspace.transaction() as tx:
            return await communities.listed(tx, level=level, within=within, since=since, limit=limit)

    async def tree(self, within: UUID | None = None, *, depth: int = 2, limit: int = 500) -> CommunityTree:
        """The largest communities within another, or of all, of the outermost `depth` levels there."""
        async with self._core.workspace.transaction() as tx:
            found = await communities.tree(tx, within=within, depth=depth, limit=limit)
        if found is None:
            raise UnknownCommunity(f"there is no community {within}.", hint="`trueweave communities` lists them.")
        return found

    async def retired(self, since: datetime, limit: int = 50) -> list[RetiredCommunity]:
        """Communities that have ceased to exist since a time, latest first."""
        async with self._core.workspace.transaction() as tx:
            return await communities.retired(tx, since, limit)

    async def get(self, id: UUID | str) -> Community:
        """The community with this id, or the only one whose id begins with it."""
        return await found_community(self._core, id)

    async def report(self, community: UUID) -> CommunityReport | None:
        """The report on a community; None if there is none."""
        async with self._core.workspace.transaction() as tx:
            return await communities.report(tx, community)

    async def members(self, community: UUID, limit: int = 50) -> list[Entity]:
        """The entities in a community, those with most relations first."""
        async with self._core.workspace.transaction() as tx:
            return await communities.members(tx, community, limit)

    async def _reporting(self) -> tuple[Reporting, Price | None]:
        """The tools for reports, and the price of their model."""
        from trueweave.engine import model_settings

        kit = await self._core.worker_dependencies(adds=False)
        price = model_settings.price(self._core.settings, kit.writer.model) if kit.writer else model_settings.FREE
        return kit.reporting, price

    def _how_grouped(self) -> LeidenSettings:
        return LeidenSettings(most=self._core.settings.max_community_size)


async def found_community(core: OpenWorkspace, id: UUID | str) -> Community:
    """The community with this id, or the only one whose id begins with it."""
    async with core.workspace.transaction() as tx:
        found = await communities.beginning(tx, str(id).lower())
        if len(found) != 1:
            problem = "no community" if not found else "more than one community"
            raise UnknownCommunity(
                f"there is {problem} whose id begins with {id}.", hint="`trueweave communities` lists them."
            )
        [one] = await communities.listed(tx, id_=found[0], limit=1)
        return one
