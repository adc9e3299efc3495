"""Advisory locks of a workspace, and the version of its view.

A transaction that changes the view holds the view lock while writing and increments the version. So a plan made without
the lock can be checked for whether it is still valid. One lock is enough: see docs/adr/0003-settling.md.
"""

from __future__ import annotations

from typing import cast

from trueweave.core.errors import WorkspaceLoading
from trueweave.store.postgres.db import Transaction

_OURS = 0x5457 << 48  # "TW": avoids collisions with locks that other programs take in the same database
_VIEW, _NAMES, _LINKING, _COMMUNITIES = range(4)


async def lock_view(tx: Transaction) -> None:
    """Wait for the view lock, exclusively, and hold it until the transaction ends."""
    await tx.run("resolve.lock_alone", lock=_key(tx, _VIEW))


async def share_view(tx: Transaction) -> None:
    """Wait until nobody is changing the view, and keep it unchanged until the transaction ends."""
    await tx.run("resolve.lock_shared", lock=_key(tx, _VIEW))


async def names_may_arrive(tx: Transaction) -> None:
    """Take the lock for storing names or looking for similar ones: the settings cannot change until the transaction
    ends."""
    await tx.run("resolve.lock_shared", lock=_key(tx, _NAMES))


async def nothing_arrives(tx: Transaction) -> None:
    """Take the lock for changing access rules: until the transaction ends, no documents are stored."""
    await tx.run("resolve.lock_alone", lock=_key(tx, _NAMES))


async def nothing_moves(tx: Transaction) -> None:
    """Take the locks for changing settings or sweeping: until the transaction ends, no names are stored and no batch is
    settled."""
    await tx.run("resolve.lock_alone", lock=_key(tx, _NAMES))
    await lock_view(tx)


async def one_linker(tx: Transaction) -> None:
    """Wait until nobody else is linking chunks in this workspace, and lock out others until the transaction ends."""
    await tx.run("resolve.lock_alone", lock=_key(tx, _LINKING))


async def one_grouper(tx: Transaction) -> None:
    """Wait until nobody else is detecting communities in this workspace, and lock out others until the transaction
    ends."""
    await tx.run("resolve.lock_alone", lock=_key(tx, _COMMUNITIES))


async def refuse_during_load(tx: Transaction, doing: str) -> None:
    """Raise WorkspaceLoading if a bulk load of the workspace is running; none can start until the transaction ends."""
    if not await tx.value("bulk.try_without_load"):
        raise WorkspaceLoading(
            f"a bulk load of this workspace is running, and {doing} is not possible during the load. Try again when "
            "it is done. Documents can be added and removed at any time."
        )


async def count_change(tx: Transaction) -> None:
    """Increment the view's version, which invalidates plans made without the lock. Requires the view lock."""
    await tx.run("settle.count_change")


async def version(tx: Transaction) -> int:
    """The view's version: how often it has changed."""
    return cast("int", await tx.value("settle.version"))


def _key(tx: Transaction, what: int) -> int:
    return _OURS | tx.workspace << 16 | what
