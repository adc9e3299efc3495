"""A page of the documentation, and what it shows."""

import re
import subprocess
import sys
from pathlib import Path

from tests.commands import run_command

ROOT = Path(__file__).parents[2]


def blocks(page: str, language: str) -> list[str]:
    """The blocks of code in a language, in order."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    return [block for of, block in found if of == language]


def commands(page: str) -> list[str]:
    """The commands of Trueweave on a page whose output it does not show."""
    return [line for block in blocks(page, "sh") for line in block.splitlines() if line.startswith("trueweave ")]


def run(folder: Path, environment: dict[str, str], *words: str) -> str:
    """What Python prints for these words; it must end well. Commands of Trueweave run in this process."""
    if words[:2] == ("-m", "trueweave"):
        return run_command(*words[2:], folder=folder, environment=environment).stdout
    done = subprocess.run([sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout
