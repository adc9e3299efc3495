"""Who can read which documents: the access rules of a workspace."""

from __future__ import annotations

from collections.abc import Sequence

from trueweave.core.access import AccessRule, rule_prefix
from trueweave.engine.core import OpenWorkspace
from trueweave.engine.restricted import refuse_restricted
from trueweave.store.postgres.public_errors import own_errors
from trueweave.store.postgres.record import access_rules


@own_errors
@refuse_restricted("access")
class AsyncAccessGroup:
    """The access rules of a workspace: `trueweave.access`."""

    def __init__(self, core: OpenWorkspace) -> None:
        self._core = core

    async def set(self, prefix: str, readers: Sequence[str]) -> int:
        """Let only these groups read the documents whose uris begin with `prefix`, now and later, unless readers were
        given with them; with no groups, everybody. `hr/**` means the same as `hr/`. The rule with the longest prefix
        applies. Returns how many documents have other readers now. No model is called.

        Groups are those of the keys and tokens of a server's callers, and of `acting_as`.
        """
        rule = AccessRule.of(prefix, readers)
        async with self._core.workspace.transaction(unhurried=True, restricts=bool(rule.readers)) as tx:
            return await access_rules.put(tx, rule)

    async def all(self, limit: int = 1000) -> list[AccessRule]:
        """The access rules in the order of their prefixes."""
        async with self._core.workspace.transaction() as tx:
            return await access_rules.page(tx, limit)

    async def remove(self, prefix: str) -> int:
        """Remove the access rule of this prefix. Returns how many documents have other readers now. Raises
        UnknownAccessRule if there is none."""
        prefix = rule_prefix(prefix)
        async with self._core.workspace.transaction(unhurried=True, restricts=True) as tx:
            return await access_rules.remove(tx, prefix)
