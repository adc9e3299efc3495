"""`trueweave sync`: bring the index up to date with folders and addresses."""

from __future__ import annotations

import shlex
import sys
from dataclasses import asdict
from typing import Annotated

import typer

from trueweave.cli.ingest_run import IngestRun, agreed, tell
from trueweave.cli.inputs import Inputs, named_secrets
from trueweave.cli.options import (
    All,
    Budget,
    Extractor,
    FollowLinks,
    Model,
    NoIgnore,
    Secrets,
    Yes,
)
from trueweave.cli.pricing import is_paid, of_documents, read_budget
from trueweave.cli.render.console import say, spinner
from trueweave.cli.render.lines import count
from trueweave.cli.render.run_summary import IngestTally, sync_plan
from trueweave.cli.session import CommandSession, workspace_command
from trueweave.core.errors import ConfigError, RemovalNotConfirmed
from trueweave.text.uris import is_address

Folders = Annotated[
    list[str], typer.Argument(metavar="FOLDER", help="The folders or addresses (https://…) to synchronise.")
]


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
    secret: Secrets = [],  # noqa: B006 (read by Typer)
    yes: Yes = False,
) -> None:
    """Bring the index up to date with folders or addresses: add, update, remove.

    New and changed files are added as by `trueweave add`. Documents whose files no longer exist in these folders are
    removed, and so are rows that were deleted from their .jsonl or .csv file. The changes are shown first, and on a
    terminal you are asked to confirm them; without a terminal, --yes is required for removals. The documents of an
    unreadable file are kept.

    Addresses are compared while they are read: what has not changed is not fetched. Documents that are no longer there
    are removed; if they are more than a fifth, you are asked first, or --yes is required. If a part of the list could
    not be read, nothing is removed.

    Exits with 0 when the index is up to date, with 1 when a file could not be read, documents were refused or failed,
    or the run was stopped; everything else is up to date.
    """
    session = session.with_workspace_settings(
        extractor=extractor, model=model, follow_links=follow_links, no_ignore=no_ignore
    )
    models = of_documents(session.settings)
    allowance = read_budget(budget, session.settings, models)
    tally = IngestTally(show_all=show_all)
    if any(map(is_address, folders)):
        if not all(map(is_address, folders)):
            raise ConfigError("folders and addresses are synchronised separately. Run one command for each.")
        inputs = Inputs((), tuple(folders))
        run = IngestRun(session.settings, inputs, allowance, tally, secrets=named_secrets(secret), is_sync=True)
        sync_addresses(run, is_paid=is_paid(session.settings, models), yes=yes)
        words = ["trueweave", "sync", *folders, *(word for one in secret for word in ("--secret", one))]
        tell(session.reply, run, shlex.join([*words, *(("--budget", budget) if budget else ())]))
        return
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


def sync_addresses(run: IngestRun, *, is_paid: bool, yes: bool) -> None:
    """Synchronise addresses; ask before a large part of their documents is removed."""
    if is_paid and not agreed(run, yes):
        raise typer.Exit(1)
    run.fetch_model()
    run.confirmed = yes
    run.add_files()
    if isinstance(run.error, RemovalNotConfirmed) and sys.stdin.isatty():
        say(run.error.fact)
        if typer.confirm(f"Remove {count(run.error.gone, 'document')}?", err=True):
            run.confirmed, run.error = True, None
            run.add_files()


def _may_remove(documents: int) -> bool:
    if not sys.stdin.isatty():
        raise ConfigError(
            f"{count(documents, 'document')} would be removed. Confirm with --yes, or use `trueweave add`, which "
            "removes nothing."
        )
    return typer.confirm(f"Remove {count(documents, 'document')}?", err=True)
