"""Leases on work being settled, which keep settlers from doing the same work while no transaction is open.

A lease expires if its owner does not renew it. Only speed depends on leases: writes are checked in the transaction that
makes them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager, suppress
from typing import Literal
from uuid import UUID

from trueweave.core.errors import WorkspaceMoving
from trueweave.store.postgres.binary_params import Texts
from trueweave.store.postgres.db import Transaction, Workspace
from trueweave.store.postgres.failures import DRIVER_ERRORS, raise_if_cancelled

SECONDS = 12.0  # less than a process's lease: these have expired when others take over the jobs of a dead process

_PAUSES = (0, 0.05, 0.5)  # seconds before each attempt to release leases

LeaseKind = Literal["document", "names", "turn", "reports", "vectors", "graph_vectors"]


@asynccontextmanager
async def kept(workspace: Workspace, owner: UUID) -> AsyncIterator[None]:
    """Renew the leases of an owner in the background, and release them at the end."""

    async def renew() -> None:
        while True:
            await asyncio.sleep(SECONDS / 4)
            try:
                async with workspace.transaction() as tx:
                    await tx.run("lease.renew", owner=owner, seconds=SECONDS)
            except (*DRIVER_ERRORS, WorkspaceMoving) as error:  # on takeover, work is done twice, harmlessly
                raise_if_cancelled(error)

    renewing = asyncio.create_task(renew())
    try:
        yield
    finally:
        renewing.cancel()
        await asyncio.gather(renewing, return_exceptions=True)
        await _give_back(workspace, owner)


async def take(tx: Transaction, owner: UUID, kind: LeaseKind, subjects: Collection[str] = ("",)) -> set[str]:
    """Take leases on those of these subjects that nobody else holds; returns which."""
    if not subjects:
        return set()
    rows = await tx.rows("lease.take", kind=kind, owner=owner, subjects=Texts(subjects), seconds=SECONDS)
    return {subject for (subject,) in rows}


async def release(tx: Transaction, owner: UUID) -> None:
    """Release all leases of an owner, in the transaction that completes the work."""
    await tx.run("lease.release", owner=owner)


async def _give_back(workspace: Workspace, owner: UUID) -> None:
    """The same in its own transaction. If the database stays unavailable, the leases expire by themselves."""
    for pause in _PAUSES:
        await asyncio.sleep(pause)
        with suppress(*DRIVER_ERRORS, WorkspaceMoving):
            async with workspace.transaction() as tx:
                await release(tx, owner)
            return


async def is_turn_of_another(tx: Transaction, owner: UUID) -> bool:
    """Whether another owner has asked all others to hold back."""
    return bool(await tx.value("lease.turn_of_another", owner=owner))
