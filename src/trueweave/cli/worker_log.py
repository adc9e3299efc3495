"""What a worker does: a line for each notable event."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING

from rich.text import Text

from trueweave.cli.render.console import err, say
from trueweave.cli.render.lines import count

if TYPE_CHECKING:
    from rich.status import Status

    from trueweave.core.events import Event
    from trueweave.engine.trueweave import AsyncTrueweave

_LOOK_AGAIN = 2.0  # seconds


@contextmanager
def live_line() -> Iterator[Status | None]:
    """A line that changes, on a terminal."""
    if not err.is_terminal:
        yield None
        return
    with err.status("waiting for work …") as status:
        yield status


class WorkerLog:
    """A listener that prints a line for each notable event, and counts the rest."""

    def __init__(self, live: Status | None) -> None:
        from trueweave.core.events import Added

        self.added = Added()
        self._live = live
        self._reason = ""
        self._waiting = 0
        self._noted: set[str] = set()

    def __call__(self, event: Event) -> None:
        from trueweave.core.events import Extracted, Failed, Noted, Reported, Waiting, WorkFailed

        self.added = self.added.after(event)
        match event:
            case Failed(uri, error, final):
                self.line(f"{uri}: {'failed for good' if final else 'failed, and is tried again'}: {error}", "yellow")
            case WorkFailed(kind, about, error):
                self.line(f"{kind}{f' of {about}' if about else ''} failed: {error}", "yellow")
            case Waiting(reason) if reason != self._reason:
                self._reason = reason
                self.line(f"waiting: {reason}", "yellow")
            case Noted(what) if what not in self._noted:
                self._noted.add(what)
                self.line(what, "yellow")
            case Extracted() if self._reason:
                self._reason = ""
                self.line("going on", "green")
            case Reported(reports, without):
                alone = f", {without:,} of them without the model" if without else ""
                self.line(f"{count(reports, 'report')} about communities written{alone}", "dim")
            case Extracted(_, _, notes) if notes:
                self.line(f"{event.uri}: {'; '.join(notes)}", "dim")
        self._show()

    async def watch(self, trueweave: AsyncTrueweave) -> None:
        """Keep the live line up to date with what waits."""
        while self._live:
            now = await trueweave.maintenance.ingest_progress()
            self._waiting = now.waiting + now.indexing
            self._show()
            await asyncio.sleep(_LOOK_AGAIN)

    def _show(self) -> None:
        if self._live:
            aside = f", {self.added.failed:,} failed" if self.added.failed else ""
            self._live.update(f"{count(self.added.extracted, 'document')} processed{aside}, {self._waiting:,} waiting")

    def line(self, text: str, style: str = "") -> None:
        say(Text.assemble((f"{datetime.now().astimezone():%H:%M:%S} ", "dim"), (text, style)))
