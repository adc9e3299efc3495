"""Keeps the most recently used workspaces open. Each is opened on first use."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from trueweave.core.errors import UnknownWorkspace
from trueweave.core.settings import Settings
from trueweave.engine.factory import ModelFactory
from trueweave.engine.trueweave import AsyncTrueweave
from trueweave.store.postgres.db import Database
from trueweave.store.postgres.public_errors import translated

_MOST_SEEN = 64  # sets of groups whose view of a workspace is kept open
_FRESH = 60.0  # seconds after which a workspace is opened again, because its settings may have changed


@dataclass(eq=False)
class _Opened:
    trueweave: AsyncTrueweave
    since: float
    users: int = 0
    is_kept: bool = True
    seen: OrderedDict[tuple[str, ...], AsyncTrueweave] = field(default_factory=OrderedDict)

    def acting_as(self, groups: tuple[str, ...]) -> AsyncTrueweave:
        """The workspace as these groups see it, which is kept open for the next request of a caller with the same."""
        found = self.seen.get(groups) or self.trueweave.acting_as(groups)
        self.seen[groups] = found
        self.seen.move_to_end(groups)
        if len(self.seen) > _MOST_SEEN:
            self.seen.popitem(last=False)
        return found


class OpenWorkspaces:
    """Open workspaces by name. They share one connection pool and one set of models.

    While more than `most` are open, idle ones are closed. A workspace in use stays open until its last user is done.
    """

    def __init__(self, database: Database, settings: Settings, models: ModelFactory, most: int = 256) -> None:
        self._database = database
        self._settings = settings
        self._models = models
        self._most = most
        self._open: OrderedDict[str, _Opened] = OrderedDict()

    def __len__(self) -> int:
        return len(self._open)

    async def owner(self) -> int:
        """The number under which this process holds claims."""
        return (await self._models.liveness()).owner

    @asynccontextmanager
    async def lend(
        self, name: str, may: Callable[[int], bool], groups: tuple[str, ...]
    ) -> AsyncIterator[AsyncTrueweave]:
        """The workspace of this name as these groups see it, open inside this context. Raises UnknownWorkspace if there
        is none or the caller may not see it; both take equally long."""
        opened = await self._find(name, may)
        opened.users += 1
        try:
            yield opened.acting_as(groups)
        except UnknownWorkspace:  # it was dropped in the meantime; another may have its name by now
            await self._let_go(name, opened)
            raise
        finally:
            opened.users -= 1
            await self._close_if_unused(opened)
            await self._shrink()

    async def forget(self, name: str) -> None:
        """Open this workspace again on its next use."""
        if opened := self._open.get(name):
            await self._let_go(name, opened)

    async def aclose(self) -> None:
        """Close all idle workspaces, and the others when their last users are done."""
        for name, opened in list(self._open.items()):
            await self._let_go(name, opened)

    async def _find(self, name: str, may: Callable[[int], bool]) -> _Opened:
        found = self._open.get(name)
        if found and time.monotonic() - found.since < _FRESH and self._may(may, found.trueweave.workspace.id):
            self._open.move_to_end(name)
            return found
        with translated():
            there = await self._database.open_workspace(name, make=False)
        if there is None or not self._may(may, there.workspace.id):
            raise UnknownWorkspace(f"there is no workspace {name!r} for this caller")
        trueweave = AsyncTrueweave(there.workspace, settings=self._settings, own=there.settings, models=self._models)
        made = _Opened(trueweave, time.monotonic())
        before, self._open[name] = self._open.get(name), made
        self._open.move_to_end(name)
        if before:
            before.is_kept = False
            await self._close_if_unused(before)
        return made

    def _may(self, may: Callable[[int], bool], workspace: int) -> bool:
        """Whether a caller may see a workspace. A key cached before a bulk load names the replaced workspace."""
        return may(workspace) or any(map(may, self._database.formers(workspace)))

    async def _let_go(self, name: str, opened: _Opened) -> None:
        if self._open.get(name) is opened:
            del self._open[name]
        opened.is_kept = False
        await self._close_if_unused(opened)

    async def _close_if_unused(self, opened: _Opened) -> None:
        if not opened.users and not opened.is_kept:
            await asyncio.shield(opened.trueweave.aclose())

    async def _shrink(self) -> None:
        while len(self._open) > self._most:
            idle = next((name for name, one in self._open.items() if not one.users), None)
            if idle is None:
                return
            await self._let_go(idle, self._open[idle])
