"""The `trueweave` command, in this process or in one of its own."""

import fcntl
import json
import os
import pty
import re
import select
import subprocess
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal

from tests.commands import PROGRAM, run_command
from trueweave.cli.render import console as consoles
from trueweave.testing.model_server.__main__ import described

Trueweave = Callable[..., subprocess.CompletedProcess[str]]

ROOT = Path(__file__).parents[2]
WIDTH = 200  # columns


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Consoles in this process are wide whatever runs the tests: Rich reads COLUMNS once, on import."""
    for console in (consoles.out, consoles.err):
        monkeypatch.setattr(console, "_width", WIDTH)


@pytest.fixture
def environment(url: str) -> dict[str, str]:
    """An environment that names the test's database, and nothing else of Trueweave's."""
    clean = {
        name: value for name, value in os.environ.items() if not name.upper().startswith(("TRUEWEAVE_", "OPENAI_"))
    }
    return {**clean, "TRUEWEAVE_DATABASE_URL": url, "COLUMNS": str(WIDTH)}


@pytest.fixture
def trueweave(tmp_path: Path, environment: dict[str, str]) -> Trueweave:
    """Runs the command in this process. Tests of signals, terminals and pipes, and a few others, run PROGRAM in a
    process of its own."""

    def run(
        *arguments: str | Path, code: int = 0, stdin: str = "", folder: Path = tmp_path
    ) -> subprocess.CompletedProcess[str]:
        return run_command(*arguments, folder=folder, environment=environment, code=code, stdin=stdin)

    return run


def answer(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The JSON object that is all of stdout."""
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


@contextmanager
def model_server(*arguments: str) -> Iterator[str]:
    """A model server in a thread, as the arguments of its command describe it; its URL. Its script may be a function of
    a test. A process of its own would take a second of processor time to start."""
    server = described(arguments)
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(server):
        yield server.url


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
        try:
            ended = process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()  # or it would be waited for without end
            pytest.fail(f"it did not end. It showed:\n{shown}")
        assert ended == code, shown
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
