"""`trueweave sync`: bring the index up to date with folders and addresses."""

from __future__ import annotations

import shlex
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from trueweave.cli.ingest_run import IngestRun, agreed, tell
from trueweave.cli.inputs import Inputs, named_groups, named_secrets
from trueweave.cli.options import (
    All,
    Budget,
    Extractor,
    FollowLinks,
    Model,
    NoIgnore,
    Readers,
    Secrets,
    Yes,
)
from trueweave.cli.pricing import is_paid, of_documents, read_budget
from trueweave.cli.render.console import say, spinner
from trueweave.cli.render.lines import count, next_step
from trueweave.cli.render.run_summary import IngestTally, sync_plan
from trueweave.cli.reply import INTERRUPTED
from trueweave.cli.session import CommandSession, workspace_command
from trueweave.cli.watching import are_there, changes
from trueweave.core.errors import ConfigError, RemovalNotConfirmed
from trueweave.text.uris import is_address

if TYPE_CHECKING:
    from trueweave.cli.render.money import Allowance
    from trueweave.core.jobs import SyncPlan

Watch = Annotated[
    bool, typer.Option("--watch", help="Keep watching the folders, and synchronise whenever something changes.")
]
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
    readers: Readers = None,
    yes: Yes = False,
    watch: Watch = False,
) -> None:
    """Bring the index up to date with folders or addresses: add, update, remove.

    New and changed files are added as by `trueweave add`. Documents whose files no longer exist in these folders are
    removed, and so are rows that were deleted from their .jsonl or .csv file. The changes are shown first, and on a
    terminal you are asked to confirm them; without a terminal, --yes is required for removals. The documents of an
    unreadable file are kept.

    Addresses are compared while they are read: what has not changed is not fetched. Documents that are no longer there
    are removed; if they are more than a fifth, you are asked first, or --yes is required. If a part of the list could
    not be read, nothing is removed.

    With --watch, folders are synchronised now and whenever something changes in them, until Ctrl-C. Nothing is asked:
    it stops if more than a fifth of the documents would be removed, or if the model costs money, unless --yes is given.
    While a folder is missing, its documents are kept.

    Exits with 0 when the index is up to date, with 1 when a file could not be read, documents were refused or failed,
    or the run was stopped; everything else is up to date.
    """
    session = session.with_workspace_settings(
        extractor=extractor, model=model, follow_links=follow_links, no_ignore=no_ignore
    )
    models = of_documents(session.settings)
    allowance = read_budget(budget, session.settings, models)
    tally = IngestTally(show_all=show_all)
    again_readers = () if readers is None else ("--readers", readers)
    if any(map(is_address, folders)):
        if not all(map(is_address, folders)):
            raise ConfigError("folders and addresses are synchronised separately. Run one command for each.")
        if watch:
            raise ConfigError("--watch is for folders. `trueweave sources add` synchronises addresses on a schedule.")
        inputs = Inputs((), tuple(folders))
        run = IngestRun(
            session.settings,
            inputs,
            allowance,
            tally,
            secrets=named_secrets(secret),
            readers=named_groups(readers),
            is_sync=True,
        )
        sync_addresses(run, is_paid=is_paid(session.settings, models), yes=yes)
        words = ["trueweave", "sync", *folders, *(word for one in secret for word in ("--secret", one)), *again_readers]
        tell(session.reply, run, shlex.join([*words, *(("--budget", budget) if budget else ())]))
        return
    words = ["trueweave", "sync", *folders, *again_readers, *(("--budget", budget) if budget else ())]
    again = shlex.join([*words, *(("--no-ignore",) if no_ignore else ()), *(("--watch",) if watch else ())])
    one = _FolderSync(
        session, folders, allowance, again, is_paid(session.settings, models), yes, show_all, named_groups(readers)
    )
    if watch:
        one.watch()
    else:
        one.run()


@dataclass(frozen=True)
class _FolderSync:
    """Synchronises folders, once or whenever they change. `again` is the command that continues it."""

    session: CommandSession
    folders: list[str]
    allowance: Allowance | None
    again: str
    is_paid: bool
    yes: bool
    show_all: bool
    readers: list[str] | None

    def run(self) -> None:
        """Compare, ask, and then add and remove what has changed."""
        if (plan := self._compared()) is None:
            return
        say(*sync_plan(plan, show_all=self.show_all))
        run = self._run(plan)
        if plan.removed and not self.yes and not _may_remove(len(plan.removed)):
            raise typer.Exit(1)
        if plan.new + plan.changed and self.is_paid and not agreed(run, self.yes):
            raise typer.Exit(1)
        self._carry_out(run)

    def watch(self) -> None:
        """Synchronise whenever something changes, without asking, until Ctrl-C."""
        if self.is_paid and not self.yes:
            raise ConfigError(
                "the model costs money, and nothing is asked while folders are watched. Confirm with --yes; --budget "
                "limits what each change may cost."
            )
        try:
            for _ in changes(self.folders, say):
                try:
                    self._follow()
                except typer.Exit as end:
                    if end.exit_code != 1:  # what is wrong with some files has been reported, and may be fixed
                        raise
                say(f"Watching {', '.join(self.folders)} for changes. Ctrl-C stops it.")
        except KeyboardInterrupt:
            say("Stopped. What was added is kept.", next_step(self.again, heading="To continue"))
            raise typer.Exit(INTERRUPTED) from None

    def _follow(self) -> None:
        from trueweave.ingest.connectors.reading import MOST_REMOVED

        try:
            plan = self._compared()
        except ConfigError:
            if are_there(self.folders):
                raise
            return  # a folder has just disappeared
        if plan is None or not are_there(self.folders):
            return
        known = len(plan.removed) + plan.changed + plan.unchanged
        if len(plan.removed) > MOST_REMOVED * known and not self.yes:
            where = ", ".join(self.folders)
            raise ConfigError(
                f"{len(plan.removed):,} of the {known:,} documents of {where} are no longer there. "
                "Nothing was removed, because that is more than a fifth of them, and watching has ended. Check the "
                f"folder; to remove them, run: {self.again} --yes"
            )
        self._carry_out(self._run(plan))

    def _compared(self) -> SyncPlan | None:
        """What has changed; None, and a reply, if nothing has."""
        tally = IngestTally(show_all=self.show_all)
        with spinner("Comparing …"):
            plan = self.session(
                lambda trueweave: trueweave.plan_sync(*self.folders, listener=tally, readers=self.readers)
            )
        if plan.new or plan.changed or plan.removed or plan.readers:
            return plan
        said = f"Up to date: {count(plan.unchanged, 'document')}, all unchanged."
        self.session.reply({**asdict(plan), **tally.answer()}, said, *tally.lines())
        if tally.is_incomplete:
            raise typer.Exit(1)
        return None

    def _run(self, plan: SyncPlan) -> IngestRun:
        inputs, tally = Inputs((), tuple(self.folders)), IngestTally(show_all=self.show_all)
        return IngestRun(self.session.settings, inputs, self.allowance, tally, plan=plan, readers=self.readers)

    def _carry_out(self, run: IngestRun) -> None:
        run.fetch_model()
        run.add_files()
        tell(self.session.reply, run, self.again)


def sync_addresses(run: IngestRun, *, is_paid: bool, yes: bool) -> None:
    """Synchronise addresses; ask before a large part of their documents is removed."""
    if is_paid and not agreed(run, yes):
        raise typer.Exit(1)
    run.fetch_model()
    run.confirmed = yes
    run.add_files()
    if isinstance(run.error, RemovalNotConfirmed) and sys.stdin.isatty():
        say(run.error.fact)
        if typer.confirm(f"Remove {count(run.error.missing, 'document')}?", err=True):
            run.confirmed, run.error = True, None
            run.add_files()


def _may_remove(documents: int) -> bool:
    if not sys.stdin.isatty():
        raise ConfigError(
            f"{count(documents, 'document')} would be removed. Confirm with --yes, or use `trueweave add`, which "
            "removes nothing."
        )
    return typer.confirm(f"Remove {count(documents, 'document')}?", err=True)
