"""Summing up long descriptions, once for each content."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from uuid import UUID

from trueweave.errors import BadReply
from trueweave.store.postgres import summaries
from trueweave.store.postgres.db import Database

Summarise = Callable[[str, str], Awaitable[str]]  # (name, descriptions) -> one short description

AT_ONCE = 32


async def summarise_some(database: Database, workspace: int, summarise: Summarise) -> int:
    """Sum up some of the descriptions that wait for it; how many were worked through, 0 when none wait.

    One that the model fails at is wanted no longer: the description itself serves, until it changes.
    """
    wanted = await summaries.wanted(database, workspace, AT_ONCE)
    failed: list[UUID] = []

    async def one(hash_: UUID, name: str, description: str) -> tuple[UUID, str]:
        try:
            return hash_, await summarise(name, description)
        except BadReply:
            failed.append(hash_)
            return hash_, ""

    made = dict(await asyncio.gather(*(one(*each) for each in wanted)))
    await summaries.keep(database, workspace, {hash_: text for hash_, text in made.items() if text})
    if failed:
        await summaries.drop(database, workspace, failed)
    return len(wanted)
