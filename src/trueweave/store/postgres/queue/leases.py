"""Leases on what is being settled: they keep settlers off each other's work while no transaction is open.

A lease runs out when its owner does not renew it. Nothing rests on leases but speed: what is written is checked in the
transaction that writes it.
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

SECONDS = 12.0  # less than the lease of a process: when others take over the jobs of a dead one, these have ended

_PAUSES = (0, 0.05, 0.5)  # seconds before each try to give leases back

LeaseKind = Literal["document", "names", "turn", "reports", "vectors"]


@asynccontextmanager
async def kept(workspace: Workspace, owner: UUID) -> AsyncIterator[None]:
    """The leases of an owner are renewed meanwhile, and given back at the end."""

    async def renew() -> None:
        while True:
            await asyncio.sleep(SECONDS / 4)
            try:
                async with workspace.transaction() as tx:
                    await tx.run("lease.renew", owner=owner, seconds=SECONDS)
            except (*DRIVER_ERRORS, WorkspaceMoving) as error:  # who is overtaken does harmless work twice
                raise_if_cancelled(error)

    renewing = asyncio.create_task(renew())
    try:
        yield
    finally:
        renewing.cancel()
        await asyncio.gather(renewing, return_exceptions=True)
        await _give_back(workspace, owner)


async def take(tx: Transaction, owner: UUID, kind: LeaseKind, subjects: Collection[str] = ("",)) -> set[str]:
    """Those of these that nobody else has now."""
    if not subjects:
        return set()
    rows = await tx.rows("lease.take", kind=kind, owner=owner, subjects=Texts(subjects), seconds=SECONDS)
    return {subject for (subject,) in rows}


async def release(tx: Transaction, owner: UUID) -> None:
    """Give all leases of an owner back, in the transaction that ends what they were for."""
    await tx.run("lease.release", owner=owner)


async def _give_back(workspace: Workspace, owner: UUID) -> None:
    """The same in a transaction of its own. Where the database stays away they run out by themselves."""
    for pause in _PAUSES:
        await asyncio.sleep(pause)
        with suppress(*DRIVER_ERRORS, WorkspaceMoving):
            async with workspace.transaction() as tx:
                await release(tx, owner)
            return


async def is_turn_of_another(tx: Transaction, owner: UUID) -> bool:
    """Whether somebody asked all others to hold back."""
    return bool(await tx.value("lease.turn_of_another", owner=owner))
