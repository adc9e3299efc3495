"""What commands say: text for people or JSON for programs on stdout, errors and progress on stderr."""

from __future__ import annotations

import dataclasses
import json
import logging
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from types import TracebackType
from typing import NoReturn

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.padding import Padding
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.segment import Segment
from rich.text import Text

from trueweave.cli.printable import escaped, printable
from trueweave.cli.tables import Table
from trueweave.errors import TrueweaveError

INTERRUPTED = 130
NOBODY_READS = 141  # what a shell says of a program that SIGPIPE ended


class SafeConsole(Console):
    """A console on which nothing that is printed can steer the terminal: all text for people goes through it. Its
    reader may leave, as `head` does: then the command ends, and says nothing more."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments to print. Those of Rich's own that move the cursor stay as they are."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(printable(segment.text), segment.style)

    def on_broken_pipe(self) -> None:
        _end_unread(self)


# Names come from documents, so nothing in them may be taken for markup.
out = SafeConsole(highlight=False, markup=False, emoji=False)
err = SafeConsole(highlight=False, markup=False, emoji=False, stderr=True)


def _end_unread(console: Console) -> NoReturn:
    console.quiet = True
    # What is still in the buffer is written when the program ends, which must not fail.
    os.dup2(os.open(os.devnull, os.O_WRONLY), console.file.fileno())
    raise typer.Exit(NOBODY_READS)


def make_stderr_safe() -> None:
    """Have what goes to stderr past the console, log lines and the tracebacks of bugs, printed safely, too."""
    handler = logging.StreamHandler()
    handler.setFormatter(_SafeFormatter())
    logging.basicConfig(handlers=[handler])
    sys.excepthook = _show_traceback


class _SafeFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record))


def _show_traceback(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    sys.stderr.write(printable("".join(traceback.format_exception(kind, error, trace))))


class Reply:
    """What a command answers, in the form that the user asked for."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json

    def __call__(self, answer: Mapping[str, object], *text: RenderableType) -> None:
        """Give the answer as JSON, or as this text."""
        if self._as_json:
            try:
                print(escaped(json.dumps(answer, default=_plain, ensure_ascii=False)), flush=True)
            except BrokenPipeError:
                _end_unread(out)
        else:
            for part in text:
                _print(out, part)

    def fail(
        self,
        problem: str,
        answer: Mapping[str, object] | None = None,
        *text: RenderableType,
        then: RenderableType | None = None,
    ) -> None:
        """Say what went wrong, on stderr, and to a program as JSON too; what there is to tell all the same comes first,
        and what to do `then` last."""
        self({"error": problem, **(answer or {})}, *text)
        _print(err, Text.assemble(("error: ", "bold red"), (problem, "red")))
        if then is not None:
            _print(err, then)


@contextmanager
def replying(as_json: bool) -> Iterator[Reply]:
    """A reply to be given. What Trueweave raises on purpose becomes one line; anything else is a bug and keeps its
    trace."""
    reply = Reply(as_json)
    try:
        yield reply
    except TrueweaveError as error:
        reply.fail(str(error))
        raise typer.Exit(1) from error
    except KeyboardInterrupt:
        reply.fail("stopped. What was finished is kept; run the same command again to go on.")
        raise typer.Exit(INTERRUPTED) from None


def say(*text: RenderableType) -> None:
    """Tell people something on the way, on stderr."""
    for part in text:
        _print(err, part)


@contextmanager
def spinning(what: str) -> Iterator[None]:
    """A sign of life on stderr, if that is a terminal."""
    if not err.is_terminal:
        yield
        return
    with err.status(what):
        yield


@contextmanager
def progress(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar on stderr, if that is a terminal; call what it gives with how many more are done."""
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:,.0f} of {task.total:,.0f}"))
    with Progress(*columns, Rate(), console=err, disable=not err.is_terminal) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.advance(task, done)


class Rate(ProgressColumn):
    """How many a second since the beginning, how long it has taken, and how long it will take at that rate."""

    def render(self, task: Task) -> Text:
        elapsed = task.elapsed or 0.0
        rate = task.completed / elapsed if elapsed else 0.0
        left = f", {_clock((task.remaining or 0) / rate)} left" if rate and task.remaining else ""
        return Text(f"{_rate(rate)}  {_clock(elapsed)}{left}", style="cyan")


def _rate(rate: float) -> str:
    """So many a second, or a minute where that is fewer than one."""
    return f"{60 * rate:,.0f}/min" if 0 < rate < 1 else f"{rate:,.0f}/s" if rate >= 10 else f"{rate:.1f}/s"


def _clock(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))


def table(*headings: str, gap: int = 2, styles: Sequence[str] = ()) -> Table:
    """A table in the house style: > before a heading is for numbers, ~ for descriptions, which are cut to fit."""
    return Table(headings, gap=gap, styles=styles)


def pairs(values: Mapping[str, object]) -> Table:
    """Names and values, one pair a line."""
    made = Table(("name", "value"), styles=("dim",), headed=False)
    for name, value in values.items():
        made.add_row(name, str(value))
    return made


def next_step(command: str, why: str = "", heading: str = "Next") -> Text:
    """One line that says what to type now."""
    return Text.assemble((f"{heading}: ", "dim"), (command, "bold cyan"), (f"  ({why})" if why else "", "dim"))


def marked(text: str) -> Text:
    """A line that should not be overlooked."""
    return Text(text, style="yellow")


def indented(text: str, columns: int = 2) -> RenderableType:
    """A line under another, and under itself where it is broken."""
    return Padding(text, (0, 0, 0, columns)) if out.is_terminal else Text(f"{' ' * columns}{text}")


def count(number: int, noun: str) -> str:
    """A number with its noun: `1 document`, `1,200 documents`, `12 entities`."""
    return f"{number:,} {noun if number == 1 else _plural(noun)}"


def _plural(noun: str) -> str:
    return f"{noun[:-1]}ies" if noun.endswith(("ty", "ly")) else f"{noun}s"


def _print(console: Console, part: RenderableType) -> None:
    """Print with lines broken between words on a terminal, and only where the text has them elsewhere."""
    console.print(part, soft_wrap=not console.is_terminal)


def _plain(value: object) -> object:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return str(value)
