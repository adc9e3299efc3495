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
    DatabaseUrl,
    Extractor,
    FollowLinks,
    Json,
    Model,
    NoIgnore,
    Workspace,
    Yes,
)
from trueweave.cli.pricing import check_priced, is_paid, of_documents
from trueweave.cli.render.console import say, spinner
from trueweave.cli.render.lines import count
from trueweave.cli.render.money import parse_allowance
from trueweave.cli.render.run_summary import IngestTally, sync_plan
from trueweave.cli.reply import replying
from trueweave.cli.session import in_force, in_workspace, load_settings
from trueweave.core.errors import ConfigError

Folders = Annotated[list[str], typer.Argument(metavar="FOLDER", help="The folders to synchronise.")]


def sync(
    folders: Folders,
    budget: Budget = None,
    extractor: Extractor = None,
    model: Model = None,
    follow_links: FollowLinks = False,
    no_ignore: NoIgnore = False,
    show_all: All = False,
    yes: Yes = False,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Bring the index up to date with folders: add, update, remove.

    New and changed files are added as by `trueweave add`. Documents whose files no longer exist in these folders are
    removed, and so are rows that were deleted from their .jsonl or .csv file. The changes are shown first, and on a
    terminal you are asked to confirm them; without a terminal, --yes is required for removals. The documents of an
    unreadable file are kept.

    Exits with 0 when the index is up to date, with 1 when a file could not be read, documents were refused or failed,
    or the run was stopped; everything else is up to date.
    """
    with replying(json) as reply:
        settings = in_force(
            load_settings(
                database_url,
                workspace,
                extractor=extractor,
                model=model,
                follow_links=follow_links,
                no_ignore=no_ignore,
            )
        )
        allowance = parse_allowance(budget) if budget else None
        if allowance and allowance.price is not None:
            check_priced(settings, of_documents(settings))
        tally = IngestTally(show_all=show_all)
        with spinner("Comparing …"):
            plan = in_workspace(lambda trueweave: trueweave.plan_sync(*folders, listener=tally), settings)
        if not (plan.new or plan.changed or plan.gone):
            said = f"Up to date: {count(plan.unchanged, 'document')}, all unchanged."
            reply({**asdict(plan), "removed": [], **tally.answer()}, said, *tally.lines())
            if tally.is_incomplete:
                raise typer.Exit(1)
            return
        say(*sync_plan(plan, show_all=show_all))
        run = IngestRun(settings, Inputs((), tuple(folders)), allowance, IngestTally(show_all=show_all), plan=plan)
        if plan.gone and not yes and not _may_remove(len(plan.gone)):
            raise typer.Exit(1)
        if plan.new + plan.changed and is_paid(settings, of_documents(settings)) and not agreed(run, yes):
            raise typer.Exit(1)
        run.fetch_model()
        run.add_files()
        again = ["trueweave", "sync", *folders, *(("--budget", budget) if budget else ())]
        tell(reply, run, shlex.join([*again, *(("--no-ignore",) if no_ignore else ())]))


def _may_remove(documents: int) -> bool:
    if not sys.stdin.isatty():
        raise ConfigError(
            f"{count(documents, 'document')} would be removed. Confirm with --yes, or use `trueweave add`, which "
            "removes nothing."
        )
    return typer.confirm(f"Remove {count(documents, 'document')}?", err=True)
