"""The outbox: changes of the view for other stores to follow, and the consumers that follow it."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from trueweave.core.errors import ChangesGone
from trueweave.core.projections import Change, ChangeKind, Consumer
from trueweave.store.postgres.binary_params import array
from trueweave.store.postgres.db import Database, Transaction

Entry = tuple[ChangeKind, bool, Iterable[UUID]]  # the kind, whether the objects were removed, and their ids


async def add(tx: Transaction, *entries: Entry) -> None:
    """Write the changes of this transaction; entries without ids are left out, except for changes of the space."""
    rows = [(kind, removed, list(ids)) for kind, removed, ids in entries]
    rows = [row for row in rows if row[2] or row[0] == "space"]
    if rows:
        kinds, removed, ids = zip(*rows, strict=True)
        texts = ["{" + ",".join(map(str, some)) + "}" for some in ids]  # arrays of different lengths are sent as text
        await tx.run("outbox.add", kinds=array(kinds), removed=array(removed), ids=array(texts))


async def changes(tx: Transaction, after: int, limit: int) -> list[Change]:
    """The changes after a position, in order."""
    gone = await tx.value("outbox.gone")
    if after < gone:
        raise ChangesGone(
            f"the changes up to position {gone} are no longer kept, and changes after {after} were requested. Read "
            f"the index again, and follow its changes from position {gone} on; log_days sets how long they are kept."
        )
    rows = await tx.rows("outbox.changes", after=after, limit=limit)
    return [Change(position, kind, removed, tuple(ids)) for position, kind, removed, ids in rows]


async def newest(tx: Transaction) -> int:
    """The last readable position. A consumer that copies the whole index after this call follows its changes from
    here."""
    return int(await tx.value("outbox.newest"))


async def advance(tx: Transaction, consumer: str, position: int) -> None:
    """Record that a consumer has applied all changes up to a position. This also registers the consumer."""
    await tx.run("outbox.advance", name=consumer, position=position)


async def consumers(tx: Transaction) -> list[Consumer]:
    """The consumers of the outbox, their positions, and how many entries each has still to apply."""
    return [Consumer(*row) for row in await tx.rows("outbox.consumers")]


async def remove_consumer(tx: Transaction, consumer: str) -> bool:
    """Stop keeping changes for this consumer; returns whether it was registered."""
    return bool(await tx.run("outbox.remove_consumer", name=consumer))


async def dropped_workspaces(database: Database, after: int = 0, limit: int = 1000) -> list[int]:
    """The ids of dropped workspaces after an id, in order."""
    async with database.transaction(None) as tx:
        return [id_ for (id_,) in await tx.rows("outbox.dropped_workspaces", after=after, limit=limit)]
