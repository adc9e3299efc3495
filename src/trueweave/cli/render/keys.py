"""Keys of the server, for people to read."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from trueweave.cli.render.dates import local_time
from trueweave.cli.render.tables import TextTable, table

if TYPE_CHECKING:
    from trueweave.store.postgres.access.api_keys import ApiKeyInfo


def key_table(found: Sequence[ApiKeyInfo]) -> TextTable:
    """Keys, one a line."""
    made = table("prefix", "name", "scope", "~workspaces", "made", "last used", "a day", "state", styles=("cyan",))
    for one in found:
        workspaces = "all" if one.workspaces is None else ", ".join(one.workspaces) or "none that is there"
        used = str(one.last_used) if one.last_used else "never"
        made.add_row(
            one.prefix, one.name, one.scope, workspaces, local_time(one.created), used, _limits(one), _state(one)
        )
    return made


def _limits(one: ApiKeyInfo) -> str:
    """What was used today of what may be used in a day."""
    told = []
    if one.max_tokens_per_day is not None:
        told.append(f"{one.tokens_today:,} of {one.max_tokens_per_day:,} tokens")
    if one.max_spend_per_day is not None:
        told.append(f"{one.spend_today.normalize():f} of {one.max_spend_per_day.normalize():f} in money")
    return ", ".join(told) or "as for all"


def _state(one: ApiKeyInfo) -> str:
    if one.revoked:
        return f"revoked {local_time(one.revoked)}"
    if one.expires is None:
        return "valid"
    return f"{'expired' if one.expires < datetime.now(UTC) else 'valid until'} {local_time(one.expires)}"
