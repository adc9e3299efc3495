"""`trueweave worker`: works what others have handed in, until it is told to stop."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rich.text import Text

from trueweave.cli.options import DatabaseUrl, Json, Workspace
from trueweave.cli.output import INTERRUPTED, count, err, next_step, replying, say
from trueweave.cli.session import in_database, in_workspace, load_settings

if TYPE_CHECKING:
    from rich.status import Status

    from trueweave.config import Settings
    from trueweave.engine import AsyncTrueweave
    from trueweave.events import Event
    from trueweave.store.postgres.db import Database


_LOOK_AGAIN = 2.0  # seconds


def worker(workspace: Workspace = None, database_url: DatabaseUrl = None, json: Json = False) -> None:
    """Work documents that wait in all workspaces, until Ctrl-C or SIGTERM; with --workspace, in that one.

    Workspaces take turns, so that none waits for all that another has to do. Any number of workers may run, on any
    number of machines. What is begun is brought to its end before one stops; a second signal stops it at once, and
    nothing is lost but the calls that were under way.
    """
    with replying(json) as reply:
        settings = load_settings(database_url, workspace)
        say(
            f"Working in {settings.workspace}." if workspace else "Working in all workspaces.",
            next_step("Ctrl-C", "ends what is begun; twice: at once", heading="To stop"),
        )
        with _live() as live:
            log = _Log(live)
            if workspace:
                stopped_at_once = in_workspace(lambda trueweave: _work(trueweave, log), settings)
            else:
                stopped_at_once = in_database(lambda opened: _work_for_all(opened, settings, log), settings)
        said = f"{count(log.added.extracted, 'document')} worked, {log.added.failed:,} failed."
        reply({"documents": log.added.extracted, **asdict(log.added)}, said)
        if stopped_at_once:
            raise SystemExit(INTERRUPTED)


@contextmanager
def _live() -> Iterator[Status | None]:
    """A line that changes, on a terminal."""
    if not err.is_terminal:
        yield None
        return
    with err.status("waiting for work …") as status:
        yield status


class _Log:
    """A listener that tells what a person should know of, a line each, and counts the rest."""

    def __init__(self, live: Status | None) -> None:
        from trueweave.events import Added

        self.added = Added()
        self._live = live
        self._reason = ""
        self._waiting = 0
        self._noted: set[str] = set()

    def __call__(self, event: Event) -> None:
        from trueweave.events import Extracted, Failed, Noted, Reported, Waiting, WorkFailed

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
            now = await trueweave.ingest_progress()
            self._waiting = now.waiting + now.unsettled
            self._show()
            await asyncio.sleep(_LOOK_AGAIN)

    def _show(self) -> None:
        if self._live:
            aside = f", {self.added.failed:,} failed" if self.added.failed else ""
            self._live.update(f"{count(self.added.extracted, 'document')} worked{aside}, {self._waiting:,} waiting")

    def line(self, text: str, style: str = "") -> None:
        say(Text.assemble((f"{datetime.now().astimezone():%H:%M:%S} ", "dim"), (text, style)))


async def _work(trueweave: AsyncTrueweave, log: _Log) -> bool:
    """Work in one workspace until a signal comes; whether a second one came, too."""
    watching = asyncio.create_task(log.watch(trueweave))
    try:
        return await _until_stopped(lambda stop: trueweave.work(log, stop), log)
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


async def _work_for_all(database: Database, settings: Settings, log: _Log) -> bool:
    """The same in all workspaces."""
    from trueweave.serving import work_for_all

    return await _until_stopped(lambda stop: work_for_all(database, settings, log, stop), log)


async def _until_stopped(work: Callable[[asyncio.Event], Coroutine[Any, Any, None]], log: _Log) -> bool:
    stop = asyncio.Event()
    working = asyncio.create_task(work(stop))

    def on_signal() -> None:
        if stop.is_set():
            working.cancel()
        else:
            log.line("stopping: what is begun is brought to its end")
        stop.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, on_signal)
    try:
        await working
    except asyncio.CancelledError:
        if not stop.is_set():
            raise
        return True
    return False
