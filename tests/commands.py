"""Runs the `trueweave` command in this process, which saves the time that Python takes to start and to import."""

import os
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest
import typer
from typer import testing
from typer.testing import CliRunner, Result

from trueweave.cli import app

PROGRAM = Path(sys.executable).with_name("trueweave")


def run_command(
    *arguments: str | Path, folder: Path, environment: Mapping[str, str], code: int = 0, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """What the command prints in this folder and with this environment only; it must end with this code."""
    done = invoke(*arguments, folder=folder, environment=environment, stdin=stdin)
    assert done.exit_code == code, done.stderr + done.stdout
    return subprocess.CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)


_command = cache(lambda: typer.main.get_command(app))  # 0.1 s of processor time: there are hundreds of options


def parse_command(*arguments: str) -> None:
    """Parse a command without carrying it out: `click.UsageError` if it is wrong."""
    command, parent, name, words = _command(), None, PROGRAM.name, list(arguments)
    while True:
        context = command.make_context(name, words, parent=parent)
        words = [*context._protected_args, *context.args]
        if not words or not hasattr(command, "resolve_command"):
            return
        found, command, words = command.resolve_command(context, words)
        name, parent = found or name, context


def invoke(*arguments: str | Path, folder: Path, environment: Mapping[str, str], stdin: str = "") -> Result:
    """How the command ends in this folder and with this environment only, and all that it prints."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "excepthook", sys.excepthook)  # the command sets one, for its process
        patch.chdir(folder)
        for name in os.environ.keys() - environment.keys():
            patch.delenv(name)
        for name, value in environment.items():
            patch.setenv(name, value)
        patch.setattr(testing, "_get_command", lambda _: _command())
        done = CliRunner().invoke(app, [str(one) for one in arguments], stdin, prog_name=PROGRAM.name)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done
