"""What a workspace keeps of its past."""

from __future__ import annotations

from contextlib import AsyncExitStack
from datetime import datetime, timedelta

from trueweave.core.diff import IndexDiff
from trueweave.core.errors import InvalidArgument, UnknownDocument
from trueweave.core.events import Progress, unseen
from trueweave.core.history import DocumentVersion, HistoryStatus
from trueweave.engine.core import OpenWorkspace, found_workspace
from trueweave.engine.past import past
from trueweave.engine.restricted import refuse_restricted
from trueweave.store.postgres.cluster.temporary_workspaces import drop_past
from trueweave.store.postgres.db import Workspace
from trueweave.store.postgres.public_errors import own_errors, translated
from trueweave.store.postgres.record import erasing, history
from trueweave.store.postgres.view.diff import diff

_BUILT_IN = timedelta(hours=1)  # how long building a past index may take


async def check_diff(workspace: Workspace) -> None:
    """Raise NotForRestricted if the caller may not read all documents of this workspace."""
    with translated():
        await workspace.check_unrestricted("`history.diff`")


async def diff_between(before: Workspace, after: Workspace, limit: int) -> IndexDiff:
    """What was added, removed or changed from one open index to another, as `history.diff` shows it. Raises
    NotForRestricted if the caller may not read all documents of both."""
    await check_diff(before)
    await check_diff(after)
    with translated():
        return await diff(before, after, limit)


async def oldest_time(workspace: Workspace) -> datetime:
    """The oldest time whose index can be built now. Where former versions are kept for some days, it is an hour later
    than those days ago, because they may be deleted while the index is built."""
    with translated():
        async with workspace.transaction() as tx:
            oldest = await history.known_time(tx, None)
            kept = await history.settings(tx)
    return oldest + _BUILT_IN if kept and oldest > kept.since else oldest


@own_errors
@refuse_restricted("history")
class AsyncHistoryGroup:
    """What the workspace keeps of its past: `trueweave.history`. `as_of` shows it as it was."""

    def __init__(self, core: OpenWorkspace) -> None:
        self._core = core

    async def keep(self, *, days: int | None = None) -> HistoryStatus:
        """Keep the versions of documents that are replaced or removed from now on, for so many days; without `days`,
        until they are erased. If history is kept already, this changes for how long."""
        if days is not None and days < 1:
            raise InvalidArgument(f"former versions are kept for at least 1 day, not {days}.")
        await history.keep(self._core.workspace, days)
        return await self.status()

    async def end(self) -> HistoryStatus:
        """Keep no history any more, and erase all former versions, as removing a document does without history."""
        await history.end(self._core.workspace)
        await drop_past(self._core.workspace)
        await erasing.erase(self._core.workspace)
        return await self.status()

    async def status(self) -> HistoryStatus:
        """Since when the workspace keeps history, for how long, and how much there is."""
        async with self._core.workspace.transaction(snapshot=True) as tx:
            return await history.status(tx)

    async def diff(
        self,
        since: datetime | None = None,
        until: datetime | None = None,
        *,
        limit: int = 100,
        progress: Progress = unseen,
    ) -> IndexDiff:
        """What was added, removed or changed from one time to another, by default since history is kept and until now:
        how many documents, entities and relations, and up to `limit` of each, with passages on both sides. The index of
        each time is built as for `as_of`; `progress` is called with the number of documents just built in."""
        async with AsyncExitStack() as stack:
            before = await stack.enter_async_context(past(self._core, since, progress))
            after = await stack.enter_async_context(past(self._core, until, progress)) if until else self._core
            return await diff(before.workspace, after.workspace, limit)

    async def diff_from(self, workspace: str, *, limit: int = 100) -> IndexDiff:
        """The same from another workspace of this database to this one. Raises UnknownWorkspace if there is none of
        this name."""
        found = await found_workspace(self._core.workspace.database, workspace)
        return await diff(found.workspace, self._core.workspace, limit)

    async def versions(self, uri: str, limit: int = 100) -> list[DocumentVersion]:
        """When which versions of a document were in the index, the latest first. Raises UnknownDocument if there is
        none."""
        async with self._core.workspace.transaction() as tx:
            found = await history.versions(tx, uri, limit)
        if not found:
            raise UnknownDocument(f"no version of the document {uri} is kept. `trueweave history` says since when.")
        return found
