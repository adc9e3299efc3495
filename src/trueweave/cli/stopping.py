"""The end of an interrupted run: what stopped it, what is kept, and how to continue."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Protocol

import typer
from rich.console import RenderableType
from rich.text import Text

from trueweave.cli.render.lines import next_step
from trueweave.cli.reply import INTERRUPTED, CommandReply
from trueweave.cli.session import in_workspace
from trueweave.core.errors import BudgetReached, RemovalNotConfirmed, TrueweaveError

if TYPE_CHECKING:
    from datetime import datetime

    from trueweave.cli.render.money import Allowance
    from trueweave.core.money import Spent
    from trueweave.core.settings import Settings
    from trueweave.engine.trueweave import AsyncTrueweave


class PaidRun:
    """A run of a command that calls models and can be resumed. It keeps the error that stops it for the reply."""

    def __init__(self, settings: Settings, allowance: Allowance | None) -> None:
        self.settings = settings
        self.allowance = allowance
        self.receipt: Sequence[Spent] = ()
        self.error: TrueweaveError | None = None
        self.is_interrupted = False
        self._since: datetime | None = None

    def work(self, act: Callable[[AsyncTrueweave], Awaitable[None]]) -> None:
        """Call `act` in the workspace, within the budget of this run if it has one, and read what the run cost."""
        try:
            in_workspace(lambda trueweave: self._within_budget(trueweave, act), self.settings)
        except KeyboardInterrupt:
            self.is_interrupted = True
        if since := self._since:
            self.receipt = in_workspace(lambda trueweave: trueweave.budget.receipt(since), self.settings)

    @contextmanager
    def noting_errors(self) -> Iterator[None]:
        """Keep an error of Trueweave for the reply instead of raising it."""
        try:
            yield
        except TrueweaveError as error:
            self.error = error

    async def _within_budget(self, trueweave: AsyncTrueweave, act: Callable[[AsyncTrueweave], Awaitable[None]]) -> None:
        async with budgeted(trueweave, self.allowance):
            self._since = await trueweave.maintenance.clock()
            await act(trueweave)


class Run(Protocol):
    """A run of a command that can be interrupted and resumed."""

    allowance: Allowance | None
    error: TrueweaveError | None
    is_interrupted: bool


def end_if_stopped(
    reply: CommandReply, run: Run, answer: dict[str, object], text: Sequence[RenderableType], again: str
) -> None:
    """If a run was stopped, report what was done and how to continue, and exit. `again` is the command that continues
    it."""
    if run.is_interrupted:
        reply.fail("stopped. What is done is kept.", answer, *text, then=next_step(again, heading="To continue"))
        raise typer.Exit(INTERRUPTED)
    if run.error:
        reply.fail(str(run.error), answer, *text, then=_way_on(run.error, again, has_budget=run.allowance is not None))
        raise typer.Exit(1)


def _way_on(error: TrueweaveError, again: str, *, has_budget: bool) -> Text:
    """What to do about an error that stopped a run. `again` continues with the same budget."""
    if isinstance(error, RemovalNotConfirmed):
        return next_step(f"{again} --yes", "removes them")
    if not isinstance(error, BudgetReached):
        return next_step("trueweave doctor", f"then continue with {again}")
    if error.of_run and has_budget:
        return next_step(again, "the same amount again, or more; nothing is paid for twice", heading="To continue")
    return next_step("trueweave budget AMOUNT", f"allows more; then continue with {again}", heading="To continue")


@asynccontextmanager
async def budgeted(trueweave: AsyncTrueweave, allowance: Allowance | None) -> AsyncIterator[None]:
    """A run with a budget of its own, if one was given."""
    if allowance is None or (allowance.price is None and allowance.tokens is None):
        yield
        return
    async with trueweave.budget.for_run(price=allowance.price, tokens=allowance.tokens):
        yield
