"""The access rules of a workspace, through a server."""

from __future__ import annotations

from collections.abc import Sequence

from trueweave.client.forms import part, read
from trueweave.client.requests import WorkspaceRequests
from trueweave.core.access import AccessRule


class AsyncClientAccess:
    """The access rules of a workspace of a server: `client.access`."""

    def __init__(self, requests: WorkspaceRequests) -> None:
        self._requests = requests

    async def set(self, prefix: str, readers: Sequence[str]) -> int:
        """Let only these groups read the documents whose uris begin with `prefix`, now and later, unless readers were
        given with them; with no groups, everybody. `hr/**` means the same as `hr/`. The rule with the longest prefix
        applies. Returns how many documents have other readers now. No model is called.

        Groups are those of the keys and tokens of a server's callers, and of `acting_as`.
        """
        body = {"prefix": prefix, "readers": list(readers)}
        return read(int, part(await self._requests.write("/access", body, method="PUT"), "changed"))

    async def remove(self, prefix: str) -> int:
        """Remove the access rule of this prefix. Returns how many documents have other readers now. Raises
        UnknownAccessRule if there is none."""
        return read(int, part(await self._requests.delete("/access", prefix=prefix), "changed"))

    # --- written by `make sync` from engine/access.py and the server's routes ---

    async def all(self, limit: int = 1000) -> list[AccessRule]:
        """The access rules in the order of their prefixes."""
        return await self._requests.listed("/access", AccessRule, limit)
