"""`trueweave worker`: process queued documents until it is stopped."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import TYPE_CHECKING

from trueweave.cli.log_form import logged, with_operations
from trueweave.cli.options import DatabaseUrl, Json, LogFormat, MetricsPort, Workspace
from trueweave.cli.render.console import say
from trueweave.cli.render.lines import count, next_step
from trueweave.cli.reply import INTERRUPTED, replying
from trueweave.cli.session import in_database, in_workspace, load_settings
from trueweave.cli.signals import until_stopped
from trueweave.cli.worker_log import WorkerLog, live_line

if TYPE_CHECKING:
    from trueweave.core.events import Event, Listener
    from trueweave.core.settings import Settings
    from trueweave.engine.trueweave import AsyncTrueweave
    from trueweave.store.postgres.db import Database


def worker(
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    metrics_port: MetricsPort = None,
    log_format: LogFormat = None,
    json: Json = False,
) -> None:
    """Process queued documents of all workspaces, until Ctrl-C or SIGTERM; with --workspace, of that one.

    Workspaces take turns, so none waits for all the jobs of another. Any number of workers may run, on any number of
    machines. A worker finishes the jobs that it has started before it stops; a second signal stops it immediately, and
    only model calls in progress are lost.
    """
    from trueweave.server.tracing import sent_traces

    with replying(json) as reply:
        settings = with_operations(load_settings(database_url, workspace), metrics_port, log_format)
        with logged(settings):
            say(
                f"Processing {settings.workspace}." if workspace else "Processing all workspaces.",
                next_step("Ctrl-C", "finishes running jobs; twice: stops immediately", heading="To stop"),
            )
            with live_line() as live, sent_traces("trueweave-worker"):
                log = WorkerLog(live)
                if workspace:
                    stopped_at_once = in_workspace(lambda trueweave: _work(trueweave, settings, log), settings)
                else:
                    stopped_at_once = in_database(lambda opened: _work_for_all(opened, settings, log), settings)
        said = f"{count(log.added.extracted, 'document')} processed, {log.added.failed:,} failed."
        reply({"documents": log.added.extracted, **asdict(log.added)}, said)
        if stopped_at_once:
            raise SystemExit(INTERRUPTED)


async def _work(trueweave: AsyncTrueweave, settings: Settings, log: WorkerLog) -> bool:
    """Process one workspace until a signal; returns whether there was a second signal."""
    from trueweave.server.metrics_port import measured_worker

    watching = asyncio.create_task(log.watch(trueweave))
    try:
        with measured_worker(settings, trueweave.workspace.database) as count:
            heard = _both(log, count)
            return await until_stopped(lambda stop: trueweave.work(heard, stop), log.line)
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


async def _work_for_all(database: Database, settings: Settings, log: WorkerLog) -> bool:
    """The same in all workspaces."""
    from trueweave.engine.worker import work_for_all
    from trueweave.server.metrics_port import measured_worker

    with measured_worker(settings, database) as count:
        heard = _both(log, count)
        return await until_stopped(lambda stop: work_for_all(database, settings, heard, stop), log.line)


def _both(first: Listener, second: Listener) -> Listener:
    def heard(event: Event) -> None:
        first(event)
        second(event)

    return heard
