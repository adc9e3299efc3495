"""`trueweave communities build`: detect communities and write a report on each."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType

from trueweave.cli.model_files import fetch_model_if_possible
from trueweave.cli.options import Budget, Model, Yes
from trueweave.cli.pricing import confirmed, is_paid, is_priced, of_reports, read_budget
from trueweave.cli.render.console import say, spinner
from trueweave.cli.render.lines import count, next_step, warning
from trueweave.cli.render.money import Allowance, receipt_table, report_estimate
from trueweave.cli.render.run_summary import ReportTally
from trueweave.cli.reply import CommandReply
from trueweave.cli.session import CommandSession, workspace_command
from trueweave.cli.stopping import PaidRun, end_if_stopped
from trueweave.core.errors import ConfigError

if TYPE_CHECKING:
    from trueweave.core.graph import CommunityChanges
    from trueweave.core.money import ReportEstimate
    from trueweave.core.settings import Settings
    from trueweave.engine.trueweave import AsyncTrueweave

EstimateOnly = Annotated[
    bool, typer.Option("--estimate", help="Show what the reports would cost without writing them.")
]
NoReports = Annotated[bool, typer.Option("--no-reports", help="Only detect communities, without calling a model.")]


@workspace_command
def build(
    session: CommandSession,
    estimate: EstimateOnly = False,
    no_reports: NoReports = False,
    budget: Budget = None,
    model: Model = None,
    yes: Yes = False,
) -> None:
    """Detect communities, and write a report on each.

    Unchanged communities keep their reports, so only changes since the last run are written. You can resume an
    interrupted run by running it again; nothing is paid for twice.

    If a model costs money, the maximum cost is shown first, and on a terminal you are asked to confirm it. Without a
    model, reports consist of sentences selected from the documents.
    """
    if estimate and no_reports:
        raise ConfigError("--estimate is about reports, and --no-reports leaves them out. Give one of them.")
    session = session.with_workspace_settings(model=model)
    fetch_model_if_possible(session.settings)
    allowance = read_budget(budget, session.settings, of_reports(session.settings))
    with spinner("Finding communities …"):
        found = session(lambda trueweave: trueweave.communities.find())
    if no_reports or not _community_count(found):
        session.reply(_answer(found), _found_line(found), *_next_lines(found))
        return
    with spinner("Counting …"):
        wanted = session(lambda trueweave: trueweave.communities.estimate_reports())
    if estimate:
        why = "--budget AMOUNT keeps it from spending more" if wanted.model else "writes them"
        advice = next_step(_again(model, budget), why)
        session.reply(
            {**_answer(found), "estimate": wanted},
            _found_line(found),
            *report_estimate(wanted, session.settings.currency),
            advice,
        )
        return
    if not _agreed(wanted, session.settings, yes):
        raise typer.Exit(1)
    run = _Run(session.settings, found, wanted, allowance)
    run.work(run.write)
    _tell(session.reply, run, _again(model, budget))


class _Run(PaidRun):
    """Reports being written by one call of `trueweave communities build`."""

    def __init__(
        self, settings: Settings, found: CommunityChanges, wanted: ReportEstimate, allowance: Allowance | None
    ) -> None:
        super().__init__(settings, allowance)
        self.found = found
        self.wanted = wanted
        self.tally = ReportTally()

    @property
    def others(self) -> int:
        """The number of reports that this run has not written yet."""
        return max(self.wanted.reports - self.tally.reports, 0)

    async def write(self, trueweave: AsyncTrueweave) -> None:
        from trueweave.cli.run_progress import writing_reports

        currency = self.settings.currency if is_priced(self.settings, of_reports(self.settings)) else None
        async with writing_reports(trueweave, self.tally, self.wanted.reports, currency):
            with self.noting_errors():
                await trueweave.communities.write_reports(self.tally)


def _agreed(wanted: ReportEstimate, settings: Settings, yes: bool) -> bool:
    """Show the maximum cost; returns whether to continue."""
    if not wanted.calls or not is_paid(settings, of_reports(settings)):
        return True
    say(*report_estimate(wanted, settings.currency))
    return confirmed(yes)


def _tell(reply: CommandReply, run: _Run, again: str) -> None:
    is_stopped = run.is_interrupted or run.error is not None
    answer = {
        **_answer(run.found),
        "model": run.wanted.model,
        "reports": run.tally.reports,
        "without_model": run.tally.without_model,
        "waiting": run.others if is_stopped else 0,
        "receipt": run.receipt,
    }
    text = [_found_line(run.found), *_written_lines(run.tally, run.wanted, run.others, is_stopped=is_stopped)]
    if run.receipt:
        text.append(receipt_table(run.receipt, run.settings.currency))
    end_if_stopped(reply, run, answer, text, again)
    reply(answer, *text, *_next_lines(run.found, is_written=True))


def _answer(found: CommunityChanges) -> dict[str, object]:
    return {"communities": _community_count(found), **asdict(found)}


def _again(model: str | None, budget: str | None) -> str:
    """The command that continues the run, with the same budget again."""
    options = (*(("--model", model) if model else ()), *(("--budget", budget) if budget else ()))
    return shlex.join(["trueweave", "communities", "build", *options])


def _community_count(found: CommunityChanges) -> int:
    """How many communities there are now."""
    return found.added + found.changed + found.unchanged


def _found_line(found: CommunityChanges) -> str:
    """How many communities there are, and how that changed."""
    number = count(_community_count(found), "community")
    if not (found.added or found.changed or found.removed):
        return f"{number}, as before." if found.unchanged else "There are no communities: no two entities are related."
    changes = {"added": found.added, "changed": found.changed, "unchanged": found.unchanged, "removed": found.removed}
    return f"{number}: {', '.join(f'{many:,} {what}' for what, many in changes.items())}."


def _written_lines(
    tally: ReportTally, wanted: ReportEstimate, others: int, *, is_stopped: bool
) -> list[RenderableType]:
    """What was written, by whom, and what was not: so many `others` of the reports that were to be written."""
    done = tally.reports
    if is_stopped:
        return [f"{count(done, 'report')} written, {others:,} to go.", *_without_model(tally)]
    if not (done or wanted.reports):
        upto = f"{count(wanted.current, 'report')} up to date, none to write."
        return [upto if wanted.current else "They are too small to be written about."]
    author = f"by {wanted.model}" if wanted.model else "without a model: sentences picked out of the documents"
    elsewhere = [f"{others:,} more by other workers."] if others else []
    return [f"{count(done, 'report')} written {author}.", *elsewhere, *_without_model(tally)]


def _without_model(tally: ReportTally) -> list[RenderableType]:
    if not tally.without_model:
        return []
    failed = f"{tally.without_model:,} of them without the model, whose replies were unusable"
    return [warning(f"{failed}: sentences picked out of the documents.")]


def _next_lines(found: CommunityChanges, *, is_written: bool = False) -> list[RenderableType]:
    """What to run next."""
    if not _community_count(found):
        return [next_step("trueweave add PATH", "adds documents")]
    shown = next_step("trueweave communities", "shows them")
    return (
        [shown, next_step("trueweave ask QUESTION --method community", "asks the reports")] if is_written else [shown]
    )
