"""What a workspace keeps of its past, through a server."""

from __future__ import annotations

from trueweave.client.forms import part, read
from trueweave.client.requests import WorkspaceRequests
from trueweave.core.history import DocumentVersion, HistoryStatus


class AsyncClientHistory:
    """What a workspace of a server keeps of its past: `client.history`."""

    def __init__(self, requests: WorkspaceRequests) -> None:
        self._requests = requests

    async def keep(self, *, days: int | None = None) -> HistoryStatus:
        """Keep the versions of documents that are replaced or removed from now on, for so many days; without `days`,
        until they are erased. If history is kept already, this changes for how long."""
        return read(HistoryStatus, await self._requests.write("/history", {"days": days}, method="PUT"))

    async def end(self) -> HistoryStatus:
        """Keep no history any more, and erase all former versions, as removing a document does without history."""
        return read(HistoryStatus, await self._requests.delete("/history"))

    async def status(self) -> HistoryStatus:
        """Since when the workspace keeps history, for how long, and how much there is."""
        return read(HistoryStatus, await self._requests.get("/history"))

    async def versions(self, uri: str, limit: int = 100) -> list[DocumentVersion]:
        """When which versions of a document were in the index, the latest first. Raises UnknownDocument if there is
        none."""
        found = await self._requests.get("/history/versions", uri=uri, limit=limit)
        return read(list[DocumentVersion], part(found, "versions"))
