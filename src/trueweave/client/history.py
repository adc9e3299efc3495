"""What a workspace keeps of its past, through a server."""

from __future__ import annotations

from datetime import datetime

from trueweave.client.forms import moment, part, read
from trueweave.client.requests import WorkspaceRequests
from trueweave.core.diff import IndexDiff
from trueweave.core.events import Progress, unseen
from trueweave.core.history import DocumentVersion, HistoryStatus, require_zone


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
        for at in (since, until):
            if at:
                require_zone(at)
                progress(part(await self._requests.at(at).get("/status"), "documents"))
        query = {"since": moment(since), "until": moment(until), "limit": limit}
        return read(IndexDiff, await self._requests.get("/history/diff", **query))

    async def diff_from(self, workspace: str, *, limit: int = 100) -> IndexDiff:
        """The same from another workspace of this database to this one. Raises UnknownWorkspace if there is none of
        this name."""
        query = {"from": workspace, "limit": limit}
        return read(IndexDiff, await self._requests.get("/history/diff", **query))

    async def versions(self, uri: str, limit: int = 100) -> list[DocumentVersion]:
        """When which versions of a document were in the index, the latest first. Raises UnknownDocument if there is
        none."""
        found = await self._requests.get("/history/versions", uri=uri, limit=limit)
        return read(list[DocumentVersion], part(found, "versions"))
