"""Measures how many bytes of text a workspace holds: its chunks, counted as they are added and removed, and submitted
documents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trueweave.core.errors import StorageFull
from trueweave.store.postgres.db import Transaction

_MOST_ROWS = 500  # counter rows summed per call; above this they are merged


async def used(tx: Transaction, replaced: Sequence[str] = ()) -> int:
    """The bytes of text in the record and in submitted documents, without those submitted under the `replaced` uris."""
    [(size, rows)] = await tx.rows("storage.used", replaced=list(replaced))
    if rows > _MOST_ROWS:
        await tx.run("storage.compact")
    return int(size)


async def check_room(tx: Transaction, most: int | None, texts: Iterable[str], replaced: Sequence[str] = ()) -> None:
    """Raise StorageFull if the workspace cannot hold these texts as well; None means no limit. Documents submitted
    under the `replaced` uris do not count."""
    if most is None:
        return
    found, more = await used(tx, replaced), sum(len(text.encode(errors="replace")) for text in texts)
    if more and found + more > most:
        raise StorageFull(
            f"the workspace may hold {most:,} bytes of text (max_storage_bytes). It has {found:,}, and this adds "
            f"{more:,}. Remove documents, or raise the limit."
        )


async def index_bytes(tx: Transaction) -> int:
    """The bytes that the rows and vectors of the index take, without PostgreSQL's own indexes. Reads all of them."""
    return int(await tx.value("storage.index_bytes"))


async def compact(tx: Transaction) -> None:
    """Merge the counter rows into one."""
    await tx.run("storage.compact")
