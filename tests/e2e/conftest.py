"""The `trueweave` command, run as a user runs it."""

import fcntl
import json
import os
import pty
import re
import select
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

Trueweave = Callable[..., subprocess.CompletedProcess[str]]

PROGRAM = Path(sys.executable).with_name("trueweave")
ROOT = Path(__file__).parents[2]


@pytest.fixture
def environment(url: str) -> dict[str, str]:
    """An environment that names the test's database, and nothing else of Trueweave's."""
    clean = {
        name: value for name, value in os.environ.items() if not name.upper().startswith(("TRUEWEAVE_", "OPENAI_"))
    }
    return {**clean, "TRUEWEAVE_DATABASE_URL": url, "COLUMNS": "200"}


@pytest.fixture
def trueweave(tmp_path: Path, environment: dict[str, str]) -> Trueweave:
    """Runs the command."""

    def run(*arguments: str | Path, code: int = 0, stdin: str = "") -> subprocess.CompletedProcess[str]:
        command = [PROGRAM, *arguments]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, input=stdin, text=True, capture_output=True, check=False
        )
        assert done.returncode == code, done.stderr + done.stdout
        assert "Traceback" not in done.stderr
        return done

    return run


def answer(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The JSON object that is all of stdout."""
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


@contextmanager
def model_server(*arguments: str) -> Iterator[str]:
    """A model server in a process of its own; its URL. Its script may be a function of a test."""
    command = [sys.executable, "-m", "trueweave.testing.model_server", *arguments]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env, cwd=ROOT) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def typed(
    folder: Path, environment: Mapping[str, str], arguments: Sequence[str], answers: Mapping[str, str], code: int
) -> str:
    """All that the command writes to a terminal, where each answer is typed when its cue has shown."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [str(PROGRAM), *arguments],
        cwd=folder,
        env={**environment, "TERM": "xterm"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        preexec_fn=_own_terminal,
    ) as process:
        os.close(theirs)
        shown = _converse(ours, dict(answers))
        assert process.wait(60) == code, shown
    os.close(ours)
    return re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", shown)


def _own_terminal() -> None:
    """Let the terminal be the one that Ctrl-C is typed at."""
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _converse(terminal: int, answers: dict[str, str]) -> str:
    shown, end = "", time.monotonic() + 60
    while time.monotonic() < end:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                shown += os.read(terminal, 65536).decode(errors="replace")
            except OSError:  # the other side is closed
                break
        for cue in [cue for cue in answers if cue in shown]:
            os.write(terminal, answers.pop(cue).encode())
    return shown
