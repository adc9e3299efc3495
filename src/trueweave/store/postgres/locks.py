"""Advisory locks of a workspace, and the version of its view.

Whoever changes the view holds the view lock while writing and counts the version up; so whoever planned without the
lock can tell whether the plan still holds. One lock is enough: see docs/adr/0003-settling.md.
"""

from __future__ import annotations

from typing import cast

from trueweave.core.errors import WorkspaceLoading
from trueweave.store.postgres.db import Transaction

_OURS = 0x5457 << 48  # "TW": keeps clear of the locks that other programs take in the same database
_VIEW, _NAMES, _LINKING, _COMMUNITIES = range(4)


async def lock_view(tx: Transaction) -> None:
    """Wait until nobody else changes the view or shares its lock, and keep the lock until the transaction ends."""
    await tx.run("resolve.lock_alone", lock=_key(tx, _VIEW))


async def share_view(tx: Transaction) -> None:
    """Wait until nobody changes the view, and keep it as it is until the transaction ends."""
    await tx.run("resolve.lock_shared", lock=_key(tx, _VIEW))


async def names_may_arrive(tx: Transaction) -> None:
    """Taken by all who store names or look for alike ones: the settings stay as they are meanwhile."""
    await tx.run("resolve.lock_shared", lock=_key(tx, _NAMES))


async def nothing_moves(tx: Transaction) -> None:
    """Taken by those who change settings or sweep: no name arrives and no batch settles meanwhile."""
    await tx.run("resolve.lock_alone", lock=_key(tx, _NAMES))
    await lock_view(tx)


async def one_linker(tx: Transaction) -> None:
    """Wait until nobody else links chunks of this workspace, and keep others away until the transaction ends."""
    await tx.run("resolve.lock_alone", lock=_key(tx, _LINKING))


async def one_grouper(tx: Transaction) -> None:
    """Wait until nobody else finds communities in this workspace, and keep others away until the transaction ends."""
    await tx.run("resolve.lock_alone", lock=_key(tx, _COMMUNITIES))


async def refuse_during_load(tx: Transaction, doing: str) -> None:
    """WorkspaceLoading if a bulk load of the workspace runs; none begins before the end of the transaction."""
    if not await tx.value("bulk.try_without_load"):
        raise WorkspaceLoading(
            f"a bulk load of this workspace is running, and {doing} is not possible during the load. Try again when "
            "it is done. Documents can be added and removed at any time."
        )


async def count_change(tx: Transaction) -> None:
    """Tell those who planned without the lock that what they read has changed. The transaction holds the view lock."""
    await tx.run("settle.count_change")


async def version(tx: Transaction) -> int:
    """How often the view has changed so far."""
    return cast("int", await tx.value("settle.version"))


def _key(tx: Transaction, what: int) -> int:
    return _OURS | tx.workspace << 16 | what
