"""`trueweave diff`: what was added, removed or changed between two times or two workspaces."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from trueweave.cli.render.dates import parse_as_of, parse_moment
from trueweave.cli.render.diff import diff_lines
from trueweave.cli.render.progress_bar import progress
from trueweave.cli.session import CommandSession, in_workspace, workspace_command
from trueweave.core.errors import ConfigError

if TYPE_CHECKING:
    from trueweave.core.diff import IndexDiff
    from trueweave.engine.trueweave import AsyncTrueweave

Before = Annotated[str | None, typer.Argument(metavar="A", help="A time, as 2026-05-01, monday or 7d; or a workspace.")]
After = Annotated[str | None, typer.Argument(metavar="B", help="The same; a date to its end. Default: now, and here.")]


@workspace_command
def diff(
    session: CommandSession,
    a: Before = None,
    b: After = None,
    since: Annotated[str | None, typer.Option(metavar="TIME", help="From this time until now; the same as A.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many of each kind to list.")] = 20,
) -> None:
    """Show what was added, removed or changed: documents, entities and relations, with passages on both sides.

    Between two times, the workspace must have kept history since the first (`trueweave history keep`), which is the
    default.
    """
    if a and since:
        raise ConfigError("--since is the same as A. Give one of them.")
    first = a or since
    at, until = _time(first, parse_moment) if first else None, _time(b, parse_as_of) if b else None
    if at or first is None:
        if b and not until:
            raise ConfigError(f"a time and the workspace {b} cannot be compared. Name two times, or two workspaces.")
        found = session(lambda trueweave: _between(trueweave, at, until, limit))
    else:
        if until:
            raise ConfigError(
                f"the workspace {first} and a time cannot be compared. Name two workspaces, or two times."
            )
        settings = session.settings.model_copy(update={"workspace": b}) if b else session.settings
        found = in_workspace(lambda trueweave: trueweave.history.diff_from(first, limit=limit), settings)
    session.reply(asdict(found), *diff_lines(found))


async def _between(trueweave: AsyncTrueweave, since: datetime | None, until: datetime | None, limit: int) -> IndexDiff:
    with progress("Building the past", None) as done:
        return await trueweave.history.diff(since, until, limit=limit, progress=done)


def _time(text: str, parse: Callable[[str], datetime]) -> datetime | None:
    """The time that a text says; None if it says none, and is the name of a workspace."""
    try:
        return parse(text)
    except ConfigError:
        return None
