"""`trueweave communities build`: communities are found, and reports written about them."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType

from trueweave.cli import estimate as estimating
from trueweave.cli.amounts import Allowance, parse_allowance
from trueweave.cli.money import receipt_table
from trueweave.cli.options import Budget, DatabaseUrl, Json, Model, Workspace, Yes
from trueweave.cli.output import Reply, count, marked, next_step, replying, say, spinning
from trueweave.cli.pricing import check_priced, is_paid, is_priced, of_reports
from trueweave.cli.progress_bar import writing
from trueweave.cli.run_summary import ReportTally
from trueweave.cli.session import in_force, in_workspace, load_settings
from trueweave.cli.stopping import end_if_stopped
from trueweave.errors import ConfigError, TrueweaveError

if TYPE_CHECKING:
    from datetime import datetime

    from trueweave.config import Settings
    from trueweave.engine import AsyncTrueweave
    from trueweave.types import CommunityChanges, ReportEstimate, Spent

EstimateOnly = Annotated[
    bool, typer.Option("--estimate", help="Show what the reports would cost, and do not write them.")
]
NoReports = Annotated[bool, typer.Option("--no-reports", help="Find communities alone. No model is asked for that.")]


def build(
    estimate: EstimateOnly = False,
    no_reports: NoReports = False,
    budget: Budget = None,
    model: Model = None,
    yes: Yes = False,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Find communities, and write a report about each.

    Communities that are as they were keep their reports, so only what has changed since the last time is written. A run
    that was stopped is simply run again, and what is done is not paid for twice.

    Where a model has to be paid, what it will cost at most is shown first, and asked about on a terminal. Without a
    model, reports are made of sentences that are picked out of the documents.
    """
    with replying(json) as reply:
        if estimate and no_reports:
            raise ConfigError("--estimate is about reports, and --no-reports leaves them out. Give one of them.")
        settings = in_force(load_settings(database_url, workspace, model=model))
        allowance = parse_allowance(budget) if budget else None
        if allowance and allowance.price is not None:
            check_priced(settings, of_reports(settings))
        with spinning("Finding communities …"):
            found = in_workspace(lambda trueweave: trueweave.find_communities(), settings)
        if no_reports or not _number(found):
            reply(_answer(found), _found(found), *_next(found))
            return
        with spinning("Counting …"):
            wanted = in_workspace(lambda trueweave: trueweave.estimate_reports(), settings)
        if estimate:
            why = "--budget AMOUNT keeps it from spending more" if wanted.model else "writes them"
            advice = next_step(_again(model, budget), why)
            reply(
                {**_answer(found), "estimate": wanted},
                _found(found),
                *estimating.reports_shown(wanted, settings.currency),
                advice,
            )
            return
        if not _agreed(wanted, settings, yes):
            raise typer.Exit(1)
        run = _Run(settings, found, wanted, allowance)
        run.write()
        _tell(reply, run, _again(model, budget))


class _Run:
    """Reports being written by one call of `trueweave communities build`."""

    def __init__(
        self, settings: Settings, found: CommunityChanges, wanted: ReportEstimate, allowance: Allowance | None
    ) -> None:
        self.settings = settings
        self.found = found
        self.wanted = wanted
        self.allowance = allowance
        self.tally = ReportTally()
        self.receipt: Sequence[Spent] = ()
        self.error: TrueweaveError | None = None
        self.is_interrupted = False
        self._since: datetime | None = None

    @property
    def others(self) -> int:
        """How many of the reports that were to be written this run has not written."""
        return max(self.wanted.reports - self.tally.reports, 0)

    def write(self) -> None:
        """Write the reports. What stops it is kept to be told."""
        try:
            in_workspace(self._write, self.settings)
        except KeyboardInterrupt:
            self.is_interrupted = True
        if since := self._since:
            self.receipt = in_workspace(lambda trueweave: trueweave.receipt(since), self.settings)

    async def _write(self, trueweave: AsyncTrueweave) -> None:
        if self.allowance:
            await trueweave.allow(price=self.allowance.price, tokens=self.allowance.tokens)
        self._since = await trueweave.clock()
        currency = self.settings.currency if is_priced(self.settings, of_reports(self.settings)) else None
        async with writing(trueweave, self.tally, self.wanted.reports, currency):
            try:
                await trueweave.write_reports(self.tally)
            except TrueweaveError as error:
                self.error = error


def _agreed(wanted: ReportEstimate, settings: Settings, yes: bool) -> bool:
    """Show what it will cost at most; whether to go on."""
    if not wanted.calls or not is_paid(settings, of_reports(settings)):
        return True
    say(*estimating.reports_shown(wanted, settings.currency))
    return yes or not sys.stdin.isatty() or typer.confirm("Go on?", err=True)


def _tell(reply: Reply, run: _Run, again: str) -> None:
    answer = {
        **_answer(run.found),
        "model": run.wanted.model,
        "reports": run.tally.reports,
        "without_model": run.tally.without_model,
        "waiting": run.others if run.is_interrupted or run.error else 0,
        "receipt": run.receipt,
    }
    text = [_found(run.found), *_written(run)]
    if run.receipt:
        text.append(receipt_table(run.receipt, run.settings.currency))
    end_if_stopped(reply, run, answer, text, again)
    reply(answer, *text, *_next(run.found, is_written=True))


def _answer(found: CommunityChanges) -> dict[str, object]:
    return {"communities": _number(found), **asdict(found)}


def _number(found: CommunityChanges) -> int:
    return found.came + found.changed + found.same


def _found(found: CommunityChanges) -> str:
    number = count(_number(found), "community")
    if not (found.came or found.changed or found.gone):
        return f"{number}, as before." if found.same else "There are no communities: no two entities are related."
    changes = {"came": found.came, "changed": found.changed, "stayed": found.same, "went": found.gone}
    return f"{number}: {', '.join(f'{many:,} {what}' for what, many in changes.items())}."


def _written(run: _Run) -> list[RenderableType]:
    """What was written, by whom, and what was not."""
    done, wanted = run.tally.reports, run.wanted
    if run.is_interrupted or run.error:
        return [f"{count(done, 'report')} written, {run.others:,} to go.", *_without_model(run)]
    if not (done or wanted.reports):
        upto = f"{count(wanted.current, 'report')} up to date, none to write."
        return [upto if wanted.current else "They are too small to be written about."]
    author = f"by {wanted.model}" if wanted.model else "without a model: sentences picked out of the documents"
    others = [f"{run.others:,} more by other workers."] if run.others else []
    return [f"{count(done, 'report')} written {author}.", *others, *_without_model(run)]


def _without_model(run: _Run) -> list[RenderableType]:
    if not run.tally.without_model:
        return []
    failed = f"{run.tally.without_model:,} of them without the model, whose replies were of no use"
    return [marked(f"{failed}: sentences picked out of the documents.")]


def _next(found: CommunityChanges, *, is_written: bool = False) -> list[RenderableType]:
    if not _number(found):
        return [next_step("trueweave add PATH", "brings documents in")]
    shown = next_step("trueweave communities", "shows them")
    return (
        [shown, next_step("trueweave ask QUESTION --method community", "asks the reports")] if is_written else [shown]
    )


def _again(model: str | None, budget: str | None) -> str:
    """The command that goes on, with as much to spend again."""
    options = (*(("--model", model) if model else ()), *(("--budget", budget) if budget else ()))
    return shlex.join(["trueweave", "communities", "build", *options])
