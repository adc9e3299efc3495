"""The output of commands: text for people or JSON for programs on stdout, errors on stderr, and exit codes."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import typer
from rich.console import RenderableType
from rich.text import Text

from trueweave.cli.render.console import end_unread, err, out, print_to
from trueweave.cli.render.printable import escaped
from trueweave.core.errors import TrueweaveError

INTERRUPTED = 130


class CommandReply:
    """The output of a command, in the format that the user asked for."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json

    def __call__(self, answer: Mapping[str, object], *text: RenderableType) -> None:
        """Print the answer as JSON, or as this text."""
        if self._as_json:
            try:
                print(escaped(json.dumps(answer, default=_plain, ensure_ascii=False)), flush=True)
            except BrokenPipeError:
                end_unread(out)
        else:
            for part in text:
                print_to(out, part)

    def fail(
        self,
        problem: str,
        answer: Mapping[str, object] | None = None,
        *text: RenderableType,
        then: RenderableType | None = None,
    ) -> None:
        """Report an error on stderr, and as JSON for programs: first what was done, and last what to do `then`."""
        self({"error": problem, **(answer or {})}, *text)
        print_to(err, Text.assemble(("error: ", "bold red"), (problem, "red")))
        if then is not None:
            print_to(err, then)


@contextmanager
def replying(as_json: bool, *, runs_until_stopped: bool = False) -> Iterator[CommandReply]:
    """A reply to fill in. An error of Trueweave becomes one line; any other exception is a bug and keeps its
    traceback. Ctrl-C is an error, unless the command runs until it is stopped that way."""
    reply = CommandReply(as_json)
    try:
        yield reply
    except TrueweaveError as error:
        reply.fail(str(error))
        raise typer.Exit(1) from error
    except KeyboardInterrupt:
        if runs_until_stopped:
            print_to(err, "Stopped. Unfinished documents are processed when it runs again.")
        else:
            reply.fail("stopped. What was finished is kept; run the same command again to continue.")
        raise typer.Exit(INTERRUPTED) from None


def _plain(value: object) -> object:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return str(value)
