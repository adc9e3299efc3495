"""Work that failed because of a bug in Trueweave: it is listed, and skipped until somebody requests a retry."""

from __future__ import annotations

from typing import get_args

from trueweave.core.errors import TrueweaveError
from trueweave.core.jobs import FailedWork, WorkKind
from trueweave.store.postgres.db import Transaction, Workspace
from trueweave.store.postgres.failures import DRIVER_ERRORS


async def mark(workspace: Workspace, kind: WorkKind, error: Exception, subject: str = "", label: str = "") -> str:
    """Record a failure and its cause; returns the error in words."""
    words = f"unexpected {type(error).__name__}: {error}. This is a bug: please report it."
    async with workspace.transaction() as tx:
        await tx.run("failed.mark", kind=kind, subject=subject, label=label, error=words)
    return words


async def mark_defect(workspace: Workspace, kind: WorkKind, error: BaseException, subject: str, label: str) -> str:
    """The same for any error: errors that are not our bugs are raised again."""
    if isinstance(error, (TrueweaveError, *DRIVER_ERRORS)) or not isinstance(error, Exception):
        raise error
    return await mark(workspace, kind, error, subject, label)


async def listed(tx: Transaction, limit: int) -> list[FailedWork]:
    """Failed work, latest first."""
    return [FailedWork(*row) for row in await tx.rows("failed.listed", limit=limit)]


async def forget(tx: Transaction, *kinds: WorkKind) -> int:
    """Allow failed work of these kinds, or of all kinds, to be retried; returns how many entries there were."""
    return await tx.run("failed.forget", kinds=list(kinds or get_args(WorkKind)))
