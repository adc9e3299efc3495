"""Summaries of long descriptions: which are needed, and storing them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from trueweave.store.postgres.binary_params import Ids, Texts
from trueweave.store.postgres.db import Transaction, Workspace
from trueweave.store.postgres.queue import outbox


class DueSummary(NamedTuple):
    """A long description to summarise. The hash identifies the described text, so that it is summarised once."""

    hash: UUID
    name: str
    description: str


async def due(workspace: Workspace, limit: int) -> list[DueSummary]:
    """Some descriptions that have no summary yet. Outdated requests are deleted on the way."""
    while True:
        async with workspace.transaction() as tx:
            rows = await tx.rows("summary.due", limit=limit)
            if stale := [hash_ for hash_, _, _, current in rows if not current]:
                await tx.run("summary.drop", hashes=Ids(stale))
        found = [DueSummary(hash_, name, description) for hash_, name, description, current in rows if current]
        if found or not rows:
            return found


async def keep(workspace: Workspace, summaries: Mapping[UUID, str]) -> None:
    """Store these summaries, by the hash of the text they summarise."""
    async with workspace.transaction() as tx:
        rows = await tx.rows("summary.keep", hashes=Ids(summaries), texts=Texts(summaries.values()))
        await outbox.add(
            tx,
            ("entity", False, (id_ for kind, id_ in rows if kind == "entity")),
            ("relation", False, (id_ for kind, id_ in rows if kind == "relation")),
        )


async def drop(workspace: Workspace, hashes: Sequence[UUID]) -> None:
    """Cancel these requests."""
    async with workspace.transaction() as tx:
        await tx.run("summary.drop", hashes=Ids(hashes))


async def any_due(tx: Transaction) -> bool:
    return bool(await tx.value("summary.any_due"))
