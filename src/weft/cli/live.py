"""A bar that shows how a run goes on, by looking at the database: other workers may do part of the work."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.text import Text

from weft.cli.amounts import money, short
from weft.cli.output import Pace, count, err

if TYPE_CHECKING:
    from datetime import datetime

    from weft.engine import AsyncWeft
    from weft.store.postgres.headway import Headway
    from weft.types import Budget

_PAUSE = 0.5  # seconds
_SHARE = 20  # a look at a large index takes longer, and may take a twentieth of the time


class Watch:
    """What has been seen of a run so far."""

    def __init__(self, before: Headway, purse: Budget, *, is_priced: bool) -> None:
        self._fewest = before.set_aside
        self._purse = purse
        self._is_priced = is_priced
        self.now = before

    def see(self, now: Headway) -> None:
        # A document that was set aside before is no longer when it is handed in again.
        self._fewest = min(self._fewest, now.set_aside)
        self.now = now

    @property
    def set_aside(self) -> int:
        """How many documents were set aside in this run."""
        return self.now.set_aside - self._fewest

    @property
    def done(self) -> int:
        return self.now.came_in + self.set_aside

    @property
    def total(self) -> int:
        """What is done and what is not, as far as files have been read."""
        return self.done + self.now.waiting + self.now.unsettled

    def notes(self, purse: Budget) -> str:
        """What a person wants to know besides: what it costs, what failed, what is left to do at the end."""
        tokens = purse.tokens - self._purse.tokens
        spent = money(purse.price - self._purse.price) if self._is_priced else f"{short(tokens)} tokens"
        last = self.done == self.total and self.now.descriptions
        parts = (
            f"{spent} spent" if tokens else "",
            f"{self.set_aside:,} set aside" if self.set_aside else "",
            f"{count(self.now.descriptions, 'description')} to sum up" if last else "",
        )
        return ", ".join(filter(None, parts))


class _Done(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text("reading files" if task.total is None else f"{task.completed:,.0f} of {task.total:,.0f}")


@asynccontextmanager
async def watched(weft: AsyncWeft, since: datetime, *, is_priced: bool) -> AsyncIterator[Watch]:
    """A bar on stderr, if that is a terminal, while something runs; and what was seen when it is over."""
    watch = Watch(await weft.headway(since), await weft.budget(), is_priced=is_priced)
    columns = (TextColumn("Adding"), BarColumn(24), _Done(), Pace(), TextColumn("{task.fields[notes]}", style="dim"))
    with Progress(*columns, console=err, disable=not err.is_terminal) as bar:
        task = bar.add_task("", total=None, notes="")

        async def look() -> None:
            watch.see(await weft.headway(since))
            purse = await weft.database.insist(weft.budget)
            bar.update(task, completed=watch.done, total=watch.total or None, notes=watch.notes(purse))

        looking = asyncio.create_task(_look_again_and_again(look))
        try:
            yield watch
        finally:
            looking.cancel()
            with suppress(asyncio.CancelledError):
                await looking
        await look()
        bar.update(task, visible=bool(watch.total))


async def _look_again_and_again(look: Callable[[], Awaitable[None]]) -> None:
    clock = asyncio.get_running_loop()
    while True:
        began = clock.time()
        await look()
        await asyncio.sleep(max(_PAUSE, _SHARE * (clock.time() - began)))
