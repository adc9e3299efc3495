"""The consoles that commands print to. Nothing that is printed can control the terminal."""

from __future__ import annotations

import logging
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import NoReturn

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from trueweave.cli.render.printable import printable


class SafeConsole(Console):
    """A console on which nothing that is printed can control the terminal: all text for people goes through it. If its
    reader closes the pipe, as `head` does, the command ends silently."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments to print. Rich's own segments that move the cursor are not changed."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(printable(segment.text), segment.style)

    def on_broken_pipe(self) -> None:
        end_unread(self)


# Names come from documents, so nothing in them may be interpreted as markup.
out = SafeConsole(highlight=False, markup=False, emoji=False)
err = SafeConsole(highlight=False, markup=False, emoji=False, stderr=True)
_TOLD = frozenset({"document.failed", "job.failed", "model.retry"})
NOBODY_READS = 141  # a shell's exit code for a program ended by SIGPIPE


def end_unread(console: Console) -> NoReturn:
    """End the command, as the reader of its output is gone."""
    console.quiet = True
    # The rest of the buffer is written when the program ends, which must not fail.
    os.dup2(os.open(os.devnull, os.O_WRONLY), console.file.fileno())
    raise typer.Exit(NOBODY_READS)


def make_stderr_safe() -> None:
    """Escape what goes to stderr without the console, too: log lines and tracebacks. Log records of events that
    commands print themselves are left out."""
    handler = logging.StreamHandler()
    handler.setFormatter(_SafeFormatter())
    handler.addFilter(lambda record: getattr(record, "event", "") not in _TOLD)
    logging.basicConfig(handlers=[handler])
    sys.excepthook = _show_traceback


class _SafeFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record))


def _show_traceback(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    sys.stderr.write(printable("".join(traceback.format_exception(kind, error, trace))))


def say(*text: RenderableType) -> None:
    """Print something on stderr while a command runs."""
    for part in text:
        print_to(err, part)


def say_unbroken(line: str) -> None:
    """Print a line on stderr that people copy, such as an address: even on a narrow terminal it has one line end."""
    err.print(line, soft_wrap=True)


@contextmanager
def spinner(what: str) -> Iterator[None]:
    """A spinner on stderr, if that is a terminal."""
    if not err.is_terminal:
        yield
        return
    with err.status(what):
        yield


@contextmanager
def changing_line(what: str) -> Iterator[Callable[[str], None]]:
    """A spinner with a progress text, which is set by calling the returned function."""
    if not err.is_terminal:
        yield lambda _: None
        return
    with err.status(f"{what} …") as status:
        yield lambda how_far: status.update(f"{what}: {how_far} …")


def print_to(console: Console, part: RenderableType) -> None:
    """Print, breaking lines between words on a terminal, and only at the text's own line breaks elsewhere. A text that
    people copy and that must not be broken has `no_wrap`."""
    is_whole = isinstance(part, Text) and part.no_wrap
    console.print(part, soft_wrap=is_whole or not console.is_terminal)
