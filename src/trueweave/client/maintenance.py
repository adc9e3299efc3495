"""Maintenance of a workspace through its server."""

from __future__ import annotations

from trueweave.client.forms import part, read
from trueweave.client.requests import WorkspaceRequests
from trueweave.core.jobs import FailedDocument


class AsyncClientMaintenance:
    """Maintenance of a workspace through its server: `client.maintenance`."""

    def __init__(self, requests: WorkspaceRequests) -> None:
        self._requests = requests

    # --- written by `make sync` from engine/maintenance.py and the server's routes ---

    async def drop(self) -> int:
        """Take the workspace away, with all that is in it; how many documents there were.

        Whoever is adding documents is waited for where a transaction is under way, and gets UnknownWorkspace after it.
        """
        return read(int, part(await self._requests.delete(""), "documents"))

    async def failed_documents(self, limit: int = 20) -> list[FailedDocument]:
        """Documents that failed for good, with their errors. Adding one again tries it again."""
        return await self._requests.listed("/documents/failed", FailedDocument, limit)
