"""A progress bar with a rate and the time left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.text import Text

from trueweave.cli.render.console import err

if TYPE_CHECKING:
    from trueweave.core.events import ModelDownload


@contextmanager
def progress(what: str, total: int | None) -> Iterator[Callable[[int], None]]:
    """A bar on stderr, if that is a terminal. Call the yielded function with the number of further units done. The
    total may be unknown."""
    figures = "{task.completed:,.0f}" + ("" if total is None else " of {task.total:,.0f}")
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn(figures))
    with Progress(*columns, Rate(), console=err, disable=not err.is_terminal) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.advance(task, done)


@contextmanager
def stages() -> Iterator[Callable[[str, int, int], None]]:
    """A bar on stderr, if that is a terminal, for each stage of a long task. Call the yielded function with a stage,
    the number of units done, and their total."""
    columns = (TextColumn("{task.description}"), BarColumn(16), TextColumn("{task.completed:,.0f}/{task.total:,.0f}"))
    with Progress(*columns, Rate(), console=err, disable=not err.is_terminal) as shown:
        tasks: dict[str, TaskID] = {}

        def told(stage: str, done: int, total: int) -> None:
            if stage not in tasks:
                tasks[stage] = shown.add_task(stage, total=total)
            shown.update(tasks[stage], completed=done)

        yield told


@contextmanager
def downloading() -> Iterator[Callable[[ModelDownload], None]]:
    """A bar on stderr, if that is a terminal, for each file of a model. Call the yielded function with the progress of
    a file."""
    bar = BarColumn(24 if err.width >= 100 else 12)
    columns = TextColumn("Downloading {task.description}"), bar, DownloadColumn(), TransferSpeedColumn()
    with Progress(*columns, TimeRemainingColumn(), console=err, disable=not err.is_terminal) as shown:
        tasks: dict[str, TaskID] = {}

        def told(event: ModelDownload) -> None:
            name = PurePosixPath(event.file).name
            if name not in tasks:
                tasks[name] = shown.add_task(name, total=event.total)
            shown.update(tasks[name], completed=event.done)

        yield told


class Rate(ProgressColumn):
    """The average rate since the start, the elapsed time, and the remaining time at that rate."""

    def render(self, task: Task) -> Text:
        elapsed = task.elapsed or 0.0
        rate = task.completed / elapsed if elapsed else 0.0
        left = f", {_clock((task.remaining or 0) / rate)} left" if rate and task.remaining else ""
        return Text(f"{_rate(rate)}  {_clock(elapsed)}{left}", style="cyan")


def _rate(rate: float) -> str:
    """The rate per second, or per minute if it is below one per second."""
    return f"{60 * rate:,.0f}/min" if 0 < rate < 1 else f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s"


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))
