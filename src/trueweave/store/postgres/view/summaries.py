"""Long descriptions in short: which are wanted, and keeping them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from trueweave.store.postgres.binary_params import Ids, Texts
from trueweave.store.postgres.db import Transaction, Workspace
from trueweave.store.postgres.queue import outbox


class DueSummary(NamedTuple):
    """Something whose description is long. The hash is of what was described, so that it is summed up once."""

    hash: UUID
    name: str
    description: str


async def due(workspace: Workspace, limit: int) -> list[DueSummary]:
    """Some of the descriptions that have no summary yet. Wishes that have gone out of date are dropped on the way."""
    while True:
        async with workspace.transaction() as tx:
            rows = await tx.rows("summary.due", limit=limit)
            if stale := [hash_ for hash_, _, _, current in rows if not current]:
                await tx.run("summary.drop", hashes=Ids(stale))
        found = [DueSummary(hash_, name, description) for hash_, name, description, current in rows if current]
        if found or not rows:
            return found


async def keep(workspace: Workspace, summaries: Mapping[UUID, str]) -> None:
    """Keep these summaries, by the hash of what they sum up."""
    async with workspace.transaction() as tx:
        rows = await tx.rows("summary.keep", hashes=Ids(summaries), texts=Texts(summaries.values()))
        await outbox.add(
            tx,
            ("entity", False, (id_ for kind, id_ in rows if kind == "entity")),
            ("relation", False, (id_ for kind, id_ in rows if kind == "relation")),
        )


async def drop(workspace: Workspace, hashes: Sequence[UUID]) -> None:
    """Want these no longer."""
    async with workspace.transaction() as tx:
        await tx.run("summary.drop", hashes=Ids(hashes))


async def any_due(tx: Transaction) -> bool:
    return bool(await tx.value("summary.any_due"))
