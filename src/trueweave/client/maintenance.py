"""Maintenance of a workspace through its server."""

from __future__ import annotations

from collections.abc import Sequence

from trueweave.client.forms import part, read
from trueweave.client.requests import WorkspaceRequests
from trueweave.core.checks import HealthCheck
from trueweave.core.jobs import Activity, FailedDocument
from trueweave.core.model_calls import ModelNames


class AsyncClientMaintenance:
    """Maintenance of a workspace through its server: `client.maintenance`."""

    def __init__(self, requests: WorkspaceRequests) -> None:
        self._requests = requests

    # --- written by `make sync` from engine/maintenance.py and the server's routes ---

    async def drop(self) -> int:
        """Drop the workspace with everything in it. Returns the number of documents it had.

        Waits for transactions that are under way. A process that is adding documents gets UnknownWorkspace afterwards.
        """
        return read(int, part(await self._requests.delete(""), "documents"))

    async def activity(self) -> Activity:
        """The activity of this workspace: documents that wait, how fast they are processed and what they wait for, the
        spending, and the position of the latest change."""
        return read(Activity, await self._requests.get("/activity"))

    async def models(self) -> ModelNames:
        """The models that this workspace uses."""
        return read(ModelNames, await self._requests.get("/models"))

    async def checks(self) -> list[HealthCheck]:
        """Check the database and the models of this workspace: the language model answers one short question, and the
        embedding model embeds two words."""
        return read(list[HealthCheck], part(await self._requests.get("/checks"), "checks"))

    async def failed_documents(self, limit: int = 20) -> list[FailedDocument]:
        """Documents that failed for good, with their errors. `request_retry` and `retry` try them again."""
        return await self._requests.listed("/documents/failed", FailedDocument, limit)

    async def request_retry(self, uris: Sequence[str] = ()) -> int:
        """Have workers try failed documents again: those with these uris, or all, and then also work that failed
        because of a bug. Returns how many there were."""
        return read(int, part(await self._requests.write("/documents/retry", {"uris": list(uris)}), "retried"))
