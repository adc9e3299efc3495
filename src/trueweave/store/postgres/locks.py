"""Advisory locks: who may settle what at the same time.

Names are spread over shards. A settler locks the shards of all names that its batch can affect, in ascending order, so
settlers of different names work at once and none waits in a ring. What would need most shards takes the workspace alone
instead, which also keeps the number of locks bounded.
"""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from trueweave.store.postgres.db import Transaction

SHARDS = 1024
MOST_LOCKS = 256
WHOLE = -1  # stands for all shards

_OURS = 0x5457 << 48  # "TW": keeps clear of the locks that other programs take in the same database
_WHOLE_LOCK = SHARDS
_NAMES_LOCK = SHARDS + 1
_LINKING_LOCK = SHARDS + 2
_GROUPING_LOCK = SHARDS + 3


def shards_of(names: Iterable[UUID]) -> frozenset[int]:
    """The shards of these names, or {WHOLE} when they are too many to lock one by one."""
    shards = frozenset(name.int % SHARDS for name in names)
    return shards if len(shards) <= MOST_LOCKS else frozenset((WHOLE,))


def covered(need: frozenset[int], held: frozenset[int]) -> bool:
    return WHOLE in held or need <= held


async def lock(tx: Transaction, shards: frozenset[int]) -> None:
    """Wait until no other settler has any of these shards, and keep them until the transaction ends."""
    whole = _key(tx, _WHOLE_LOCK)
    if WHOLE in shards:
        await tx.run("resolve.lock_alone", lock=whole)
    else:
        await tx.run("resolve.lock_shared", lock=whole)
        await tx.run("settle.lock_shards", locks=[_key(tx, shard) for shard in sorted(shards)])


async def names_may_arrive(tx: Transaction) -> None:
    """Taken by all who store names or look for alike ones: the settings stay as they are meanwhile."""
    await tx.run("resolve.lock_shared", lock=_key(tx, _NAMES_LOCK))


async def nothing_moves(tx: Transaction) -> None:
    """Taken by those who change settings or sweep: no name arrives and no batch settles meanwhile."""
    await tx.run("resolve.lock_alone", lock=_key(tx, _NAMES_LOCK))
    await lock(tx, frozenset((WHOLE,)))


async def one_linker(tx: Transaction) -> None:
    """Wait until nobody else links chunks of this workspace, and keep others away until the transaction ends."""
    await tx.run("resolve.lock_alone", lock=_key(tx, _LINKING_LOCK))


async def one_grouper(tx: Transaction) -> None:
    """Wait until nobody else finds communities in this workspace, and keep others away until the transaction ends."""
    await tx.run("resolve.lock_alone", lock=_key(tx, _GROUPING_LOCK))


async def bump(tx: Transaction, shards: frozenset[int]) -> None:
    """Tell those who planned without a lock that what they read has changed."""
    await tx.run("settle.bump", shards=sorted(shards))


async def versions(tx: Transaction) -> dict[int, int]:
    """How often each shard has changed so far."""
    return dict(await tx.rows("settle.versions"))


def _key(tx: Transaction, what: int) -> int:
    return _OURS | tx.workspace << 16 | what
