"""`trueweave status`: the size of the index, what waits, what failed and what was spent."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from trueweave.cli.options import DatabaseUrl, Json, Workspace
from trueweave.cli.render.status import WorkspaceState, budget_if_used, failed_lines, size_rows, status_advice
from trueweave.cli.render.tables import pairs
from trueweave.cli.reply import replying
from trueweave.cli.session import in_force, in_workspace, load_settings, place

if TYPE_CHECKING:
    from trueweave.engine.trueweave import AsyncTrueweave


def status(
    failed: Annotated[bool, typer.Option("--failed", help="List failed documents and jobs.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="How many of those to list.")] = 1000,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Show the size of the index, what waits, failed and was spent."""
    with replying(json) as reply:
        settings = in_force(load_settings(database_url, workspace))
        found = in_workspace(lambda trueweave: look(trueweave, limit), settings)
        where = {"workspace": settings.workspace, "database": place(settings)}
        shown = (
            failed_lines(found)
            if failed
            else [pairs({**where, **size_rows(found), **budget_if_used(found.budget, settings.currency)})]
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
        reply(answer, *shown, *([] if failed else status_advice(found, settings)))


async def look(trueweave: AsyncTrueweave, limit: int) -> WorkspaceState:
    """The state of a workspace, with so many failed documents and jobs at most."""
    work = await trueweave.maintenance.ingest_progress()
    aside = await trueweave.maintenance.failed_documents(limit) if work.failed else []
    failed, outdated = await trueweave.maintenance.failed_work(limit), await trueweave.maintenance.out_of_date()
    projections = await trueweave.projections.status()
    budget = await trueweave.budget.get()
    return WorkspaceState(await trueweave.status(), work, budget, aside, outdated, failed, projections)
