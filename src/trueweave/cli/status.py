"""`trueweave status`: the size of the index, what waits, what failed and what was spent."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from trueweave.cli.render.status import WorkspaceState, budget_if_used, failed_lines, size_rows, status_advice
from trueweave.cli.render.tables import pairs
from trueweave.cli.session import Session, place, workspace_command

if TYPE_CHECKING:
    from trueweave.engine.trueweave import AsyncTrueweave


@workspace_command
def status(
    session: Session,
    failed: Annotated[bool, typer.Option("--failed", help="List failed documents and jobs.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="How many of those to list.")] = 1000,
) -> None:
    """Show the size of the index, what waits, failed and was spent."""
    session = session.with_workspace_settings()
    found = session(lambda trueweave: look(trueweave, limit))
    where = {"workspace": session.settings.workspace, "database": place(session.settings)}
    shown = (
        failed_lines(found)
        if failed
        else [pairs({**where, **size_rows(found), **budget_if_used(found.budget, session.settings.currency)})]
    )
    answer = {
        **where,
        **asdict(found.index),
        "waiting_to_be_worked": found.work.waiting,
        "waiting_to_be_summed_up": found.work.descriptions,
        "failed_documents": found.aside,
        "out_of_date": found.outdated,
        "failed_work": found.failed,
        "budget": asdict(found.budget),
        "projections": found.projections,
    }
    session.reply(answer, *shown, *([] if failed else status_advice(found, session.settings)))


async def look(trueweave: AsyncTrueweave, limit: int) -> WorkspaceState:
    """The state of a workspace, with so many failed documents and jobs at most."""
    work = await trueweave.maintenance.ingest_progress()
    aside = await trueweave.maintenance.failed_documents(limit) if work.failed else []
    failed, outdated = await trueweave.maintenance.failed_work(limit), await trueweave.maintenance.out_of_date()
    projections = await trueweave.projections.status()
    budget = await trueweave.budget.get()
    return WorkspaceState(await trueweave.status(), work, budget, aside, outdated, failed, projections)
