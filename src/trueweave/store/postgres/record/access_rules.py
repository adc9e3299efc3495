"""Access rules of a workspace. They and the readers of documents change in one transaction."""

from __future__ import annotations

from trueweave.core.access import AccessRule
from trueweave.core.errors import InvalidArgument, UnknownAccessRule
from trueweave.store.postgres.db import Transaction
from trueweave.store.postgres.locks import nothing_arrives
from trueweave.store.postgres.record.readers import require_exact

MOST = 1000  # rules of a workspace


async def put(tx: Transaction, rule: AccessRule) -> int:
    """Make a rule, or change that of this prefix; returns how many versions of documents have other readers now. Nobody
    stores documents meanwhile."""
    await nothing_arrives(tx)
    await require_exact(tx, rule.readers)
    if await tx.value("access_rule.others", prefix=rule.prefix) >= MOST:
        raise InvalidArgument(f"the workspace has {MOST:,} access rules already. Remove one of them.")
    await tx.run("access_rule.put", prefix=rule.prefix, readers=list(rule.readers))
    return await _keep(tx, rule.prefix)


async def remove(tx: Transaction, prefix: str) -> int:
    """Remove the rule of this prefix; returns how many versions of documents have other readers now. Raises
    UnknownAccessRule if there is none."""
    await nothing_arrives(tx)
    if not await tx.run("access_rule.remove", prefix=prefix):
        raise UnknownAccessRule(
            f"there is no access rule for {prefix!r}.", hint="`trueweave access list` shows all of them."
        )
    return await _keep(tx, prefix)


async def page(tx: Transaction, limit: int, after: str | None = None) -> list[AccessRule]:
    """Rules in the order of their prefixes."""
    rows = await tx.rows("access_rule.page", limit=limit, after=after)
    return [AccessRule(prefix, tuple(readers)) for prefix, readers in rows]


async def _keep(tx: Transaction, prefix: str) -> int:
    changed: int = await tx.value("access_rule.keep", prefix=prefix)
    return changed
