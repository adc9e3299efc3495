"""`trueweave retry`: try failed documents and jobs again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from trueweave.cli.options import DatabaseUrl, Json, Workspace
from trueweave.cli.render.lines import next_step
from trueweave.cli.reply import replying
from trueweave.cli.session import in_workspace, load_settings
from trueweave.cli.status import look

if TYPE_CHECKING:
    from trueweave.cli.render.status import WorkspaceState
    from trueweave.engine.trueweave import AsyncTrueweave


def retry(workspace: Workspace = None, database_url: DatabaseUrl = None, json: Json = False) -> None:
    """Try failed documents and jobs again.

    Exits with 0 when none is left, and with 1 when some failed again.
    """
    with replying(json) as reply:
        settings = load_settings(database_url, workspace)

        async def try_again(trueweave: AsyncTrueweave) -> tuple[int, WorkspaceState]:
            return await trueweave.maintenance.retry(), await look(trueweave, 1000)

        tried, left = in_workspace(try_again, settings)
        failed = len(left.aside) + len(left.failed)
        reply(
            {"tried": tried, "failed": failed},
            f"{tried:,} tried again, {failed:,} failed.",
            *([next_step("trueweave status --failed", "shows why")] if failed else []),
        )
        if failed:
            raise typer.Exit(1)
