"""How many bytes of text a workspace holds: those of its chunks, counted as they come and go, and of what waits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trueweave.core.errors import StorageFull
from trueweave.store.postgres.db import Transaction

_MOST_ROWS = 500  # that are added up each time; more are put together first


async def used(tx: Transaction, replaced: Sequence[str] = ()) -> int:
    """The bytes of text in the record and in what waits to be worked, without what waits under these uris."""
    [(size, rows)] = await tx.rows("storage.used", replaced=list(replaced))
    if rows > _MOST_ROWS:
        await tx.run("storage.compact")
    return int(size)


async def check_room(tx: Transaction, most: int | None, texts: Iterable[str], replaced: Sequence[str] = ()) -> None:
    """StorageFull where these texts are more than the workspace may hold besides what it has; None is no limit. What
    waits under the uris that are `replaced` does not count."""
    if most is None:
        return
    found, more = await used(tx, replaced), sum(len(text.encode(errors="replace")) for text in texts)
    if more and found + more > most:
        raise StorageFull(
            f"the workspace may hold {most:,} bytes of text (max_storage_bytes). It has {found:,}, and this adds "
            f"{more:,}. Remove documents, or raise the limit."
        )


async def compact(tx: Transaction) -> None:
    """Put the rows of the count together."""
    await tx.run("storage.compact")
