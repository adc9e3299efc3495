"""Who can read documents: groups given with a document, or by the access rule for its uri.

See docs/adr/0056-access-rights.md.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from uuid import UUID

from trueweave.core.errors import ConfigError
from trueweave.store.postgres.binary_params import Ids
from trueweave.store.postgres.db import Transaction


async def give_readers(tx: Transaction, given: Mapping[UUID, Sequence[str] | None]) -> int:
    """Give these versions their readers, except where none are given (None); returns how many readers changed."""
    wanted = {id_: list(readers) for id_, readers in given.items() if readers is not None}
    if not wanted:
        return 0
    ids = Ids(wanted)
    await tx.run("readers.give", ids=ids, readers=[json.dumps(one) for one in wanted.values()])
    changed: int = await tx.value("readers.keep", ids=ids)
    return changed


async def require_exact(tx: Transaction, readers: Sequence[str] | None) -> None:
    """Raise ConfigError if there are readers and the workspace resolves names approximately. The caller holds the lock
    of `names_may_arrive`, or a stronger one, so that this cannot change."""
    if readers and await tx.value("readers.mode") == "fuzzy":
        raise ConfigError(
            "documents cannot have readers in a workspace with fuzzy resolution: a name in a document that a caller "
            "cannot read could connect two names that the caller sees, and so reveal itself. Set `trueweave resolution "
            "exact` first, or put these documents in a workspace of their own."
        )


async def require_no_readers(tx: Transaction) -> None:
    """Raise ConfigError if a document has readers, or an access rule would give it some. The caller holds the lock of
    `nothing_moves`."""
    if await tx.value("readers.any"):
        raise ConfigError(
            "this workspace cannot have fuzzy resolution, because some of its documents have readers, or an access "
            "rule has: a name in a document that a caller cannot read could connect two names that the caller sees, "
            "and so reveal itself. Remove the readers and the rules first."
        )
