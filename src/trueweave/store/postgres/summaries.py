"""Long descriptions in short: which are wanted, and keeping them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from trueweave.store.postgres.arrays import Ids, Texts
from trueweave.store.postgres.db import Database, Transaction


class Wanted(NamedTuple):
    """Something whose description is long. The hash is of what was described, so that it is summed up once."""

    hash: UUID
    name: str
    description: str


async def wanted(database: Database, workspace: int, limit: int) -> list[Wanted]:
    """Some of the descriptions that have no summary yet. Wishes that have gone out of date are dropped on the way."""
    while True:
        async with database.transaction(workspace) as tx:
            rows = await tx.rows("summary.wanted", limit=limit)
            if stale := [hash_ for hash_, _, _, current in rows if not current]:
                await tx.run("summary.drop", hashes=Ids(stale))
        found = [Wanted(hash_, name, description) for hash_, name, description, current in rows if current]
        if found or not rows:
            return found


async def keep(database: Database, workspace: int, summaries: Mapping[UUID, str]) -> None:
    """Keep these summaries, by the hash of what they sum up."""
    async with database.transaction(workspace) as tx:
        await tx.run("summary.keep", hashes=Ids(summaries), texts=Texts(summaries.values()))


async def drop(database: Database, workspace: int, hashes: Sequence[UUID]) -> None:
    """Want these no longer."""
    async with database.transaction(workspace) as tx:
        await tx.run("summary.drop", hashes=Ids(hashes))


async def any_wanted(tx: Transaction) -> bool:
    return bool(await tx.value("summary.any_wanted"))
