"""`trueweave sync`: bring the index up to date with folders."""

from __future__ import annotations

import shlex
import sys
from dataclasses import asdict
from typing import Annotated

import typer

from trueweave.cli.ingest_run import IngestRun, agreed, tell
from trueweave.cli.inputs import Inputs
from trueweave.cli.options import (
    All,
    Budget,
    Extractor,
    FollowLinks,
    Model,
    NoIgnore,
    Yes,
)
from trueweave.cli.pricing import is_paid, of_documents, read_budget
from trueweave.cli.render.console import say, spinner
from trueweave.cli.render.lines import count
from trueweave.cli.render.run_summary import IngestTally, sync_plan
from trueweave.cli.session import CommandSession, workspace_command
from trueweave.core.errors import ConfigError

Folders = Annotated[list[str], typer.Argument(metavar="FOLDER", help="The folders to synchronise.")]


@workspace_command
def sync(
    session: CommandSession,
    folders: Folders,
    budget: Budget = None,
    extractor: Extractor = None,
    model: Model = None,
    follow_links: FollowLinks = False,
    no_ignore: NoIgnore = False,
    show_all: All = False,
    yes: Yes = False,
) -> None:
    """Bring the index up to date with folders: add, update, remove.

    New and changed files are added as by `trueweave add`. Documents whose files no longer exist in these folders are
    removed, and so are rows that were deleted from their .jsonl or .csv file. The changes are shown first, and on a
    terminal you are asked to confirm them; without a terminal, --yes is required for removals. The documents of an
    unreadable file are kept.

    Exits with 0 when the index is up to date, with 1 when a file could not be read, documents were refused or failed,
    or the run was stopped; everything else is up to date.
    """
    session = session.with_workspace_settings(
        extractor=extractor, model=model, follow_links=follow_links, no_ignore=no_ignore
    )
    models = of_documents(session.settings)
    allowance = read_budget(budget, session.settings, models)
    tally = IngestTally(show_all=show_all)
    with spinner("Comparing …"):
        plan = session(lambda trueweave: trueweave.plan_sync(*folders, listener=tally))
    if not (plan.new or plan.changed or plan.gone):
        said = f"Up to date: {count(plan.unchanged, 'document')}, all unchanged."
        session.reply({**asdict(plan), "removed": [], **tally.answer()}, said, *tally.lines())
        if tally.is_incomplete:
            raise typer.Exit(1)
        return
    say(*sync_plan(plan, show_all=show_all))
    run = IngestRun(session.settings, Inputs((), tuple(folders)), allowance, IngestTally(show_all=show_all), plan=plan)
    if plan.gone and not yes and not _may_remove(len(plan.gone)):
        raise typer.Exit(1)
    if plan.new + plan.changed and is_paid(session.settings, models) and not agreed(run, yes):
        raise typer.Exit(1)
    run.fetch_model()
    run.add_files()
    again = ["trueweave", "sync", *folders, *(("--budget", budget) if budget else ())]
    tell(session.reply, run, shlex.join([*again, *(("--no-ignore",) if no_ignore else ())]))


def _may_remove(documents: int) -> bool:
    if not sys.stdin.isatty():
        raise ConfigError(
            f"{count(documents, 'document')} would be removed. Confirm with --yes, or use `trueweave add`, which "
            "removes nothing."
        )
    return typer.confirm(f"Remove {count(documents, 'document')}?", err=True)
