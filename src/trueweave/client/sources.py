"""The sources of a workspace, through a server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import quote

from trueweave.client.forms import part, read
from trueweave.client.requests import WorkspaceRequests
from trueweave.core.sources import DocumentSource


def _path(name: str) -> str:
    return f"/sources/{quote(name, safe='')}"


class AsyncClientSources:
    """The sources of a workspace of a server: `client.sources`."""

    def __init__(self, requests: WorkspaceRequests) -> None:
        self._requests = requests

    async def add(
        self,
        name: str,
        address: str,
        *,
        every_seconds: int | None = None,
        secrets: Mapping[str, str] | None = None,
        by: str = "",
        readers: Sequence[str] | None = None,
    ) -> DocumentSource:
        """Keep an address in the workspace under a name; `by` says who adds it. With `every_seconds`, workers
        synchronise it that often, beginning now. `secrets` are its credentials: for each, the environment variable that
        holds it where workers run. `readers` are the groups that can read its documents, except those that state their
        own; without it, they keep those that they have.

        If there is a source with this name and this address, its schedule, secrets and readers are replaced.
        """
        body = {
            "address": address,
            "every_seconds": every_seconds,
            "secrets": dict(secrets or {}),
            "by": by,
            "readers": None if readers is None else list(readers),
        }
        return read(DocumentSource, await self._requests.write(_path(name), body, method="PUT"))

    async def get(self, name: str) -> DocumentSource:
        """The source of that name. Raises UnknownSource if there is none."""
        return read(DocumentSource, await self._requests.get(_path(name)))

    async def request_sync(self, name: str, *, confirmed: bool = False) -> DocumentSource:
        """Have a worker synchronise a source as soon as possible. With `confirmed`, that run may remove more than a
        fifth of its documents."""
        body = {"confirmed": confirmed}
        return read(DocumentSource, await self._requests.write(f"{_path(name)}/sync", body))

    async def remove(self, name: str, *, documents: bool = False) -> int:
        """Remove a source; with `documents`, also its documents, except those that another address has. Returns how
        many were removed.

        A run of the source is stopped first. SourceBusy if it does not stop in time; call this again then.
        """
        removed = await self._requests.delete(_path(name), documents="true" if documents else None)
        return read(int, part(removed, "documents"))

    # --- written by `make sync` from engine/sources.py and the server's routes ---

    async def all(self, limit: int = 1000) -> list[DocumentSource]:
        """The sources in the order of their names."""
        return await self._requests.listed("/sources", DocumentSource, limit)
