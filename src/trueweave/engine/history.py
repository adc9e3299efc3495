"""What a workspace keeps of its past."""

from __future__ import annotations

from trueweave.core.errors import InvalidArgument, UnknownDocument
from trueweave.core.history import DocumentVersion, HistoryStatus
from trueweave.engine.core import OpenWorkspace
from trueweave.engine.restricted import refuse_restricted
from trueweave.store.postgres.cluster.temporary_workspaces import drop_past
from trueweave.store.postgres.public_errors import own_errors
from trueweave.store.postgres.record import erasing, history


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

    async def versions(self, uri: str, limit: int = 100) -> list[DocumentVersion]:
        """When which versions of a document were in the index, the latest first. Raises UnknownDocument if there is
        none."""
        async with self._core.workspace.transaction() as tx:
            found = await history.versions(tx, uri, limit)
        if not found:
            raise UnknownDocument(f"no version of the document {uri} is kept. `trueweave history` says since when.")
        return found
