"""The server's audit log of writes and refused requests."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from trueweave.store.postgres.db import Database

_ROWS_AT_ONCE = 5000


class AuditEntry(NamedTuple):
    """A request: its id, its caller (the prefix of a key), what it was, its workspace, and its result."""

    at: datetime
    request: str
    caller: str
    method: str
    route: str
    workspace: int | None
    status: int


async def write(database: Database, entries: Sequence[AuditEntry]) -> None:
    """Write entries in one statement."""
    columns = [list(column) for column in zip(*entries, strict=True)]
    names = ("at", "requests", "callers", "methods", "routes", "workspaces", "statuses")
    async with database.transaction(None) as tx:
        await tx.run("audit_log.write", **dict(zip(names, columns, strict=True)))


async def prune(database: Database, kept: timedelta) -> None:
    """Delete entries older than this, in batches."""
    gone = _ROWS_AT_ONCE
    while gone == _ROWS_AT_ONCE:
        async with database.transaction(None) as tx:
            gone = int(await tx.value("audit_log.prune", kept=kept, limit=_ROWS_AT_ONCE))
