"""The `weft` command, run as a user runs it."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Weft = Callable[..., subprocess.CompletedProcess[str]]

PROGRAM = Path(sys.executable).with_name("weft")


@pytest.fixture
def environment(url: str) -> dict[str, str]:
    """An environment that names the test's database, and nothing else of Weft's."""
    clean = {name: value for name, value in os.environ.items() if not name.upper().startswith(("WEFT_", "OPENAI_"))}
    return {**clean, "WEFT_DATABASE_URL": url, "COLUMNS": "200"}


@pytest.fixture
def weft(tmp_path: Path, environment: dict[str, str]) -> Weft:
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
