"""The page of all commands, from the command line itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import typer
from written import cell

from trueweave.cli import _PANELS, app
from trueweave.cli.render.console import NOBODY_READS
from trueweave.cli.reply import INTERRUPTED

_INTRO = f"""# Commands

`trueweave COMMAND --help` shows the same text in the terminal. Most commands take `--json` and then print one JSON
object for programs. This page is written by `make reference`.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | it failed, or some documents failed; the message is on standard error, and with `--json` also in `error` |
| 2 | the command line is invalid |
| {INTERRUPTED} | stopped by Ctrl-C: what was finished is kept, and the same command continues |
| {NOBODY_READS} | the program that read the output has ended |
"""


def commands_page() -> str:
    """Every command with its arguments and options, in the order of `trueweave --help`."""
    top: Any = typer.main.get_command(app)
    told = [_INTRO]
    for panel, names in _PANELS.items():
        told.append(f"\n## {panel}\n")
        for name in names:
            told += _command(f"trueweave {name}", top.commands[name])
    return "".join(told)


def _command(name: str, command: Any) -> Iterator[str]:
    yield f"\n### `{name}`\n\n{_paragraphs(command.help or '')}\n"
    below = getattr(command, "commands", {})
    if not below or command.invoke_without_command:
        context = typer.Context(command, info_name=name)
        pieces = [piece for piece in command.collect_usage_pieces(context) if not piece.startswith("COMMAND")]
        yield f"\n```text\n{' '.join((name, *pieces))}\n```\n"
        records = [parameter.get_help_record(context) for parameter in command.params]
        rows = [f"| `{cell(shown)}` | {cell(_text(about))} |\n" for shown, about in filter(None, records)]
        yield "".join(("\n| argument or option | meaning |\n|---|---|\n", *rows)) if rows else ""
    for part, one in below.items():
        yield from _command(f"{name} {part}", one)


def _paragraphs(text: str) -> str:
    """A help text as Markdown. Paragraphs that keep their lines begin with a backspace there."""
    parts = text.strip().split("\n\n")
    kept = "\b\n"
    return "\n\n".join(
        f"```text\n{one.removeprefix(kept)}\n```" if one.startswith(kept) else _text(one) for one in parts
    )


def _text(text: str) -> str:
    return re.sub(r"<(?=\w)", "&lt;", " ".join(text.split())).replace("*", "\\*")
