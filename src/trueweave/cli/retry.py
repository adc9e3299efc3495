"""`trueweave retry`: retry failed documents and jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from trueweave.cli.render.lines import next_step
from trueweave.cli.session import CommandSession, workspace_command
from trueweave.cli.status import look

if TYPE_CHECKING:
    from trueweave.cli.status import WorkspaceState
    from trueweave.engine.trueweave import AsyncTrueweave


@workspace_command
def retry(session: CommandSession) -> None:
    """Retry failed documents and jobs.

    Exits with 0 when none is left, and with 1 when some failed again.
    """

    async def try_again(trueweave: AsyncTrueweave) -> tuple[int, WorkspaceState]:
        return await trueweave.maintenance.retry(), await look(trueweave, 1000)

    tried, left = session(try_again)
    failed = len(left.aside) + len(left.failed)
    session.reply(
        {"tried": tried, "failed": failed},
        f"{tried:,} retried, {failed:,} failed.",
        *([next_step("trueweave status --failed", "shows why")] if failed else []),
    )
    if failed:
        raise typer.Exit(1)
