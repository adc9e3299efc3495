"""Progress of a run, read from the database, as other workers may do part of the work."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.text import Text

from trueweave.cli.render.console import err
from trueweave.cli.render.lines import count
from trueweave.cli.render.money import short_number
from trueweave.cli.render.printable import printable
from trueweave.cli.render.progress_bar import Rate
from trueweave.cli.render.run_summary import IngestTally, ReportTally
from trueweave.core.errors import DatabaseUnavailable
from trueweave.core.money import money

if TYPE_CHECKING:
    from datetime import datetime

    from trueweave.core.events import Working
    from trueweave.core.jobs import IngestProgress
    from trueweave.core.money import Budget
    from trueweave.engine.trueweave import AsyncTrueweave

_PAUSE = 0.5  # seconds
_SHARE = 20  # a look at a large index takes longer, and may take a twentieth of the time


class IngestWatch:
    """What is known of a run so far. Spending is shown in a currency, or without one in tokens."""

    def __init__(self, before: IngestProgress, budget: Budget, currency: str | None) -> None:
        self._fewest = before.failed
        self._budget = budget
        self._currency = currency
        self.now = before

    def see(self, now: IngestProgress) -> None:
        # A failed document no longer counts as failed when it is submitted again.
        self._fewest = min(self._fewest, now.failed)
        self.now = now

    @property
    def failed(self) -> int:
        """How many documents failed in this run."""
        return self.now.failed - self._fewest

    @property
    def done(self) -> int:
        return self.now.indexed + self.failed

    @property
    def total(self) -> int:
        """What is done and what is not, as far as files have been read."""
        return self.done + self.now.waiting + self.now.indexing

    def shown(self, working: Sequence[Working]) -> tuple[int, int, str]:
        """How far the bar is, of how much, and of what: chunks where there is one document, and else documents."""
        if self.total == 1 and working and working[0].total:
            return working[0].done, working[0].total, " chunks"
        return self.done, self.total, ""

    def notes(self, budget: Budget, working: Sequence[Working] = ()) -> str:
        """What is shown beside the bar: what it costs, how far a long document is, what failed, what is left to do at
        the end."""
        last = self.done == self.total and self.now.descriptions
        parts = (
            _spent(self._budget, budget, self._currency),
            _how_far(working[0]) if working else "",
            f"{self.now.indexing:,} being indexed" if self.now.indexing and not self.now.waiting else "",
            f"{self.failed:,} failed" if self.failed else "",
            f"{count(self.now.descriptions, 'description')} to summarise" if last else "",
        )
        return ", ".join(filter(None, parts))


def _how_far(working: Working) -> str:
    name = printable(PurePosixPath(working.uri).name)
    return (
        f"{name}: {working.done:,} of {working.total:,} chunks" if working.total else f"{name}: being cut into chunks"
    )


class _Done(ProgressColumn):
    def render(self, task: Task) -> Text:
        if task.total is None:
            return Text("reading files")
        return Text(f"{task.completed:,.0f} of {task.total:,.0f}{task.fields.get('unit', '')}")


@asynccontextmanager
async def watching_ingest(
    trueweave: AsyncTrueweave, since: datetime, currency: str | None, tally: IngestTally
) -> AsyncIterator[IngestWatch]:
    """A bar on stderr, if that is a terminal, while something runs whose events `tally` gets; and what was seen at the
    end."""
    watch = IngestWatch(await trueweave.maintenance.ingest_progress(since), await trueweave.budget.get(), currency)
    with _bar("Adding") as bar:
        task = bar.add_task("", total=None, notes="")

        async def look() -> None:
            watch.see(await trueweave.maintenance.ingest_progress(since))
            budget = await _budget(trueweave)
            working = [*tally.working.values()]
            done, total, unit = watch.shown(working)
            notes = str(tally.countdown) or watch.notes(budget, working)
            bar.update(task, completed=done, total=total or None, unit=unit, notes=notes)

        async with _looking(look):
            yield watch
        bar.update(task, visible=bool(watch.total))


@asynccontextmanager
async def writing_reports(
    trueweave: AsyncTrueweave, tally: ReportTally, wanted: int, currency: str | None
) -> AsyncIterator[None]:
    """A bar on stderr, if that is a terminal, while so many reports are written, which `tally` counts."""
    before = await trueweave.budget.get()
    with _bar("Writing") as bar:
        task = bar.add_task("", total=wanted, notes="")

        async def look() -> None:
            budget = await _budget(trueweave)
            notes = str(tally.countdown) or _spent(before, budget, currency)
            bar.update(task, completed=tally.reports, notes=notes)

        async with _looking(look):
            yield


async def _budget(trueweave: AsyncTrueweave) -> Budget:
    """What may be spent. A database that is away is waited for, as `ingest_progress` does."""
    while True:
        try:
            return await trueweave.budget.get()
        except DatabaseUnavailable:
            await trueweave.maintenance.ingest_progress()


def _bar(what: str) -> Progress:
    bar = BarColumn(24 if err.width >= 100 else 12)  # so that all of it is on one line
    columns = TextColumn(what), bar, _Done(), Rate(), TextColumn("{task.fields[notes]}", style="dim")
    return Progress(*columns, console=err, disable=not err.is_terminal)


def _spent(before: Budget, now: Budget, currency: str | None) -> str:
    """What was spent between the two, in money where prices are known; empty where nothing was."""
    tokens = now.tokens - before.tokens
    spent = money(now.price - before.price, currency) if currency else f"{short_number(tokens)} tokens"
    return f"{spent} spent" if tokens else ""


@asynccontextmanager
async def _looking(look: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
    """Look repeatedly meanwhile, and once more at the end."""
    over = asyncio.Event()
    looking = asyncio.create_task(_look_again_and_again(look, over))
    try:
        yield
    finally:
        over.set()
        looking.cancel()
        with suppress(asyncio.CancelledError):
            await looking
    await look()


async def _look_again_and_again(look: Callable[[], Awaitable[None]], over: asyncio.Event) -> None:
    clock = asyncio.get_running_loop()
    while not over.is_set():  # a cancellation may be lost while the pool lends a connection
        began = clock.time()
        await look()
        await asyncio.sleep(max(_PAUSE, _SHARE * (clock.time() - began)))
