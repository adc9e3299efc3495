"""The standing questions of a workspace, through a server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from trueweave.client.forms import filter_body, part, read
from trueweave.client.requests import WorkspaceRequests
from trueweave.core.evidence import Filter
from trueweave.core.json_forms import filter_of_json
from trueweave.core.parameters import takes, values
from trueweave.core.watches import Alert, Watch, WatchOptions


class AsyncClientWatches:
    """The standing questions of a workspace of a server: `client.watches`."""

    def __init__(self, requests: WorkspaceRequests) -> None:
        self._requests = requests

    @takes(WatchOptions)
    async def add(self, asked: WatchOptions) -> Watch:
        """Ask a question now, and again whenever the index has changed, which workers do. There is an alert when its
        first `passages` passages are others than before, whatever their order.

        The name is made from the question, unless it is given. `method` defaults to the settings, and reads what
        `groups` may read, by default what the caller may. With `answers`, each alert has an answer by the language
        model, for up to `tokens_per_day` tokens a day, and within the budget of the workspace. Alerts are sent to
        `webhook`, an address, signed with the key in signing_key_file. Through a server, a watch is asked as long as
        the key is valid that it was added with, and its webhook must be on a host that the settings allow. `by` says
        who adds it.
        """
        body = {
            **values(asked),
            "filter": filter_body(asked.filter),
            "groups": None if asked.groups is None else list(asked.groups),
        }
        return _watch(await self._requests.write("/watches", body))

    async def all(self, limit: int = 1000, *, after: str = "") -> list[Watch]:
        """The watches in the order of their names, after this name."""
        found: list[Watch] = []
        cursor = ""
        while len(found) < limit:
            page = await self._requests.get("/watches", limit=200, cursor=cursor or None)
            found += [one for one in map(_watch, page["items"]) if one.name > after]
            cursor = page["next"] or ""
            if not cursor:
                break
        return found[:limit]

    async def get(self, name: str) -> Watch:
        """The watch of that name. Raises UnknownWatch if there is none."""
        return _watch(await self._requests.get(_path(name)))

    async def remove(self, name: str) -> None:
        """Remove a watch with its alerts. Raises UnknownWatch if there is none of that name."""
        await self._requests.delete(_path(name))

    async def alerts(self, watch: str | None = None, *, after: int | None = None, limit: int = 100) -> list[Alert]:
        """Alerts of a watch, or of all, in the order of time: the latest, or with `after`, the next after the one with
        this id. The first of each watch has what it found when it was added. Raises UnknownWatch if there is none of
        that name."""
        found = await self._requests.get("/watches/alerts", watch=watch, after=after, limit=limit)
        return read(list[Alert], part(found, "alerts"))


def _path(name: str) -> str:
    return f"/watches/{quote(name, safe='')}"


def _watch(found: Mapping[str, Any]) -> Watch:
    wanted: Filter = filter_of_json(found["filter"])
    return read(Watch, {**found, "filter": wanted})
