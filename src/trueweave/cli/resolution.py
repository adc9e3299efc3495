"""`trueweave resolution`: show or change when two names are one entity."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from trueweave.cli.render.tables import pairs
from trueweave.cli.session import CommandSession, workspace_command
from trueweave.core.record import Resolution, ResolutionSettings, Sameness

if TYPE_CHECKING:
    from trueweave.engine.trueweave import AsyncTrueweave


@workspace_command
def resolution(
    session: CommandSession,
    mode: Annotated[
        Resolution | None,
        typer.Argument(
            help="exact merges names that differ only in case, accents, punctuation, spacing and legal forms (Inc, "
            "GmbH); fuzzy also merges similar names; off merges none."
        ),
    ] = None,
    threshold: Annotated[
        int | None,
        typer.Option(
            min=70,
            max=100,
            metavar="PERCENT",
            help="How similar names must be if fuzzy, or to be suggested: 70 (loose) to 100.",
        ),
    ] = None,
    same: Annotated[
        Sameness | None,
        typer.Option(help="What must match for two names to be one entity: name and type, or only the name."),
    ] = None,
) -> None:
    """Show or change when two names are one entity.

    A change resolves all names of the workspace again.
    """

    async def show_or_change(trueweave: AsyncTrueweave) -> ResolutionSettings:
        now = await trueweave.rules.resolution()
        wanted = ResolutionSettings(mode or now.mode, threshold or now.threshold, same or now.same)
        if wanted != now:
            await trueweave.rules.change_resolution(wanted)
        return wanted

    found = session(show_or_change)
    session.reply(asdict(found), pairs(asdict(found)))
