"""Several PostgreSQL servers: which of them each workspace is on.

The database that a process is given is the home: it has a row for every workspace, with its server. A process trusts
what it has read there for a few seconds, then it asks for changes. A workspace that was moved can still be read at its
old location for several minutes, so that nobody reads deleted data. See docs/adr/0036-many-servers.md.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from datetime import datetime, timedelta

from trueweave.core.errors import ConfigError, DatabaseError
from trueweave.store.postgres.connections import location
from trueweave.store.postgres.db import Database, ServerPlacement
from trueweave.store.postgres.failures import DRIVER_ERRORS, raise_if_cancelled

HOME = "home"
GRACE = timedelta(minutes=5)  # for which a moved workspace can still be read at its old location

FRESH = 5.0  # seconds after which changes are asked for
USABLE = 60.0  # seconds for which known placements are used while the home is unavailable; well below GRACE
_PATIENCE = 2.0  # seconds to wait for the home in the meantime
_OVERLAP = timedelta(minutes=1)  # a move that began earlier may commit later, by less than this
_MOST_KNOWN = 100_000


class Servers:
    """The servers of a process: the home, which is open, and the others, each opened on first use."""

    def __init__(self, home: Database, others: Mapping[str, Database]) -> None:
        self.home = home
        self._others = dict(others)
        self._opened: set[str] = set()
        self._joined: set[str] = set()
        self._opening = {name: asyncio.Lock() for name in others}
        self._known: dict[int, str | None] = {}
        self._since: datetime | None = None
        self._checked = float("-inf")
        self._tried = float("-inf")
        self._refreshing = asyncio.Lock()

    @property
    def names(self) -> tuple[str, ...]:
        """The servers other than the home."""
        return tuple(self._others)

    @property
    def others(self) -> tuple[Database, ...]:
        """The databases of the other servers, possibly closed or unreachable, for callers that make their own
        connections."""
        return tuple(self._others.values())

    async def aclose(self) -> None:
        """Close the others. The home stays open."""
        for name in self._opened:
            await self._others[name].close()

    async def database(self, name: str | None) -> Database:
        """The database on a server; without a name, the home."""
        if name is None or name == HOME:
            return self.home
        if name not in self._others:
            raise ConfigError(
                f"there is a workspace on the server {name}, but the settings here do not have its address. Add it "
                "under [server_urls] in trueweave.toml."
            )
        if name not in self._joined:
            async with self._opening[name]:
                if name not in self._opened:
                    await self._others[name].open()
                    self._opened.add(name)
                await self._check(name)
                self._joined.add(name)
        return self._others[name]

    async def placed(self, workspace: int) -> Database:
        """The database that a workspace is in; the home for an unknown workspace."""
        if time.monotonic() - self._checked > FRESH:
            await self._refresh()
        if workspace not in self._known:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[workspace] = (await self._ask([workspace])).get(workspace)
        return await self.database(self._known[workspace])

    def expire(self) -> None:
        """Ask the home again before the next read or write, because a workspace was moved."""
        self._checked = min(self._checked, time.monotonic() - FRESH - _PATIENCE)
        self._tried = float("-inf")

    async def _refresh(self) -> None:
        """Read what was moved since the last check. While the home is unavailable, known placements are used for a
        while."""
        async with self._refreshing:
            now = time.monotonic()
            if now - self._checked <= FRESH or (now - self._tried <= _PATIENCE and now - self._checked <= USABLE):
                return
            self._tried = now
            try:
                async with asyncio.timeout(_PATIENCE if now - self._checked <= USABLE else None):
                    moved = await self._ask([])
            except (TimeoutError, *DRIVER_ERRORS) as error:
                raise_if_cancelled(error)
                if now - self._checked > USABLE:
                    raise
                return
            for workspace in self._known.keys() & moved.keys():
                self._known[workspace] = moved[workspace]
            self._checked = now

    async def _ask(self, workspaces: list[int]) -> dict[int, str | None]:
        """The placements of these workspaces, and of those moved since the home was last asked for changes."""
        async with self.home.transaction(None) as tx:
            rows = await tx.rows("servers.placements", workspaces=workspaces, since=self._since)
        if not workspaces:
            self._since = rows[-1][2] - _OVERLAP
        return {id_: server for id_, server, _ in rows if id_ is not None}

    async def _check(self, name: str) -> None:
        """Raise DatabaseError unless the server is the one that the home knows by this name."""
        async with self.home.transaction(None) as tx:
            here = await tx.rows("servers.catalogue")
        async with self._others[name].transaction(None) as tx:
            there = await tx.rows("servers.catalogue")
        if not here or not there or (there[0][0], there[0][1]) != (here[0][0], name):
            found = f"{there[0][1]} of another home" if there else "not joined to any home"
            raise DatabaseError(
                f"the database at {location(self._others[name].url)} is {found}, but the settings call it {name}. "
                "Correct [server_urls] in trueweave.toml, or run `trueweave migrate` to join a new server."
            )


async def measure(servers: ServerPlacement, name: str) -> None:
    """Store the size of the database on a server in the home."""
    async with (await servers.database(name)).transaction(None) as tx:
        size = await tx.value("servers.size")
    async with servers.home.transaction(None) as tx:
        await tx.run("servers.note_size", name=name, size=size)
