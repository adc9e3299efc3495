"""Temporary workspaces: created for one purpose and dropped afterwards, even if the process that created them was
killed.

A temporary workspace has an expiry time, which its creator keeps extending. Cleanup drops those that have expired.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from uuid import uuid4

from psycopg import Error

from trueweave.core.errors import DatabaseError, UnknownWorkspace
from trueweave.store.postgres.connections import Row
from trueweave.store.postgres.db import Database, Workspace
from trueweave.store.postgres.failures import first_line
from trueweave.store.postgres.view import read

_log = logging.getLogger(__name__)

_LASTS = timedelta(minutes=3)
_RENEWED_EVERY = 20.0  # seconds


@asynccontextmanager
async def temporary_workspace(database: Database, name: str) -> AsyncIterator[Workspace]:
    """A new workspace with this name; dropped at the end, unless it has become permanent."""
    async with database.transaction(None) as tx:
        workspace = Workspace(database, int(await tx.value("temporary_workspace.make", name=name, lasts=_LASTS)))
    renewing = asyncio.create_task(_renew_again_and_again(workspace))
    try:
        yield workspace
    finally:
        renewing.cancel()
        with suppress(asyncio.CancelledError):
            await renewing
        if await _is_temporary(workspace):
            await read.drop_workspace(workspace)


async def renew(workspace: Workspace) -> None:
    """Extend the life of a temporary workspace. Raises DatabaseError if it has already expired."""
    async with workspace.transaction() as tx:
        if not await tx.run("temporary_workspace.renew", lasts=_LASTS):
            raise DatabaseError(
                "this process was suspended for so long that the workspace it was building was dropped as "
                "abandoned. Run the same command again."
            )


async def drop_expired(database: Database) -> int:
    """Drop temporary workspaces whose creators are gone, and replaced indexes that have expired; returns how many."""
    async with database.transaction(None) as tx:
        expired = [id_ for (id_,) in await tx.rows("temporary_workspace.expired")]
    for id_ in expired:
        await read.drop_workspace(Workspace(database, id_))
    for former, successor in await _replaced(database):
        try:
            await _release(database, former, successor)
        except Error as error:
            _log.warning(
                "the index that replaced workspace %s cannot be read: %s; the former one is kept",
                former,
                first_line(error),
                extra={"event": "replaced.unreadable", "workspace": former},
            )
    return len(expired)


def past_name(workspace: Workspace) -> str:
    """A new name for a temporary workspace with a past state of this one."""
    return f"past-{workspace.id}-{uuid4()}"


async def drop_past(workspace: Workspace) -> None:
    """Drop the temporary workspaces with a past state of this one. Whoever works in them gets UnknownWorkspace."""
    async with workspace.transaction() as tx:
        ids = [id_ for (id_,) in await tx.rows("history.drop_past")]
    database = await workspace.placed()
    for id_ in ids:
        await read.drop_workspace(Workspace(database, id_))


async def release_replaced_by(workspace: Workspace) -> None:
    """Read an index that a bulk load has just switched to, and let the former one expire. The former index is kept
    until this has been done, by the load or by `drop_expired`."""
    for former, successor in await _replaced(workspace.database):
        if successor == workspace.id:
            await _release(workspace.database, former, successor)


async def _replaced(database: Database) -> list[Row]:
    async with database.transaction(None) as tx:
        return await tx.rows("temporary_workspace.replaced")


async def _release(database: Database, former: int, successor: int | None) -> None:
    if successor is not None:
        try:
            async with database.transaction(successor, snapshot=True, unhurried=True) as tx:
                await read.status(tx)  # counts all rows of documents, chunks, entities and relations
        except UnknownWorkspace:
            return  # it was dropped just now; the next caller sees that
    async with database.transaction(None) as tx:
        await tx.run("temporary_workspace.release", former=former)


async def _is_temporary(workspace: Workspace) -> bool:
    async with workspace.transaction(dropping=True) as tx:
        return bool(await tx.value("temporary_workspace.is_temporary"))


async def _renew_again_and_again(workspace: Workspace) -> None:
    while True:
        await asyncio.sleep(_RENEWED_EVERY)
        with suppress(DatabaseError):  # the user of the workspace checks again at the end
            await workspace.retry_while_down(lambda: renew(workspace))
