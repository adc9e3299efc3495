"""`trueweave communities changes`: which communities were added, changed or removed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType

from trueweave.cli.communities.lines import behind_lines, change_lines, no_communities
from trueweave.cli.options import Limit
from trueweave.cli.render.dates import local_time, parse_moment
from trueweave.cli.render.lines import next_step, warning
from trueweave.cli.session import CommandSession, workspace_command

if TYPE_CHECKING:
    from datetime import datetime

    from trueweave.core.graph import Community, Hierarchy, RetiredCommunity
    from trueweave.engine.trueweave import AsyncTrueweave


Since = Annotated[str, typer.Option(metavar="DATE", help="2026-07-01, 2026-07-01T14:30, or how long ago: 12h, 7d, 2w.")]
_MOST_CHANGES = 1000


@workspace_command
def changes(
    session: CommandSession,
    since: Since,
    limit: Limit = 10,
) -> None:
    """Show which communities were added, changed or removed.

    `trueweave communities build` detects changes. Removed communities are listed for a year.
    """
    moment = parse_moment(since)
    found = session(lambda trueweave: _changes(trueweave, moment))
    added = [one for one in found.there if one.since >= moment]
    changed = [one for one in found.there if one.since < moment]
    answer = {"since": moment, "added": added, "changed": changed, "removed": found.removed}
    if not found.hierarchy:
        session.reply(answer, *no_communities(found.hierarchy))
    elif not (found.there or found.removed):
        session.reply(answer, f"No community has changed since {local_time(moment)}.", *behind_lines(found.hierarchy))
    else:
        shown = change_lines(added, changed, found.removed, limit)
        advice = next_step("trueweave communities show ID", "shows one of them")
        session.reply(answer, *shown, *_left_out(found), *behind_lines(found.hierarchy), advice)


@dataclass(frozen=True)
class _Changes:
    """Communities that were added or changed, and those that were removed."""

    hierarchy: Hierarchy | None
    there: Sequence[Community]
    removed: Sequence[RetiredCommunity]


async def _changes(trueweave: AsyncTrueweave, since: datetime) -> _Changes:
    there = await trueweave.communities.select(since=since, limit=_MOST_CHANGES)
    return _Changes(
        await trueweave.communities.hierarchy(),
        there,
        await trueweave.communities.retired(since, _MOST_CHANGES),
    )


def _left_out(found: _Changes) -> list[RenderableType]:
    """A line that says that there may be more changes than were read."""
    if max(len(found.there), len(found.removed)) < _MOST_CHANGES:
        return []
    return [warning(f"There may be more: only the first {_MOST_CHANGES:,} were looked at.")]
