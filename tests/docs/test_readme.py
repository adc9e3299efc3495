"""The README does what it says, word for word."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import run

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
COSTS = (ROOT / "docs" / "explanation" / "costs.md").read_text("utf-8")


def blocks(page: str, language: str) -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    return [text for kind, text in found if kind == language]


LETTER = "# A letter\n\nAda Lovelace, the Countess of Lovelace, wrote to Charles Babbage from London.\n"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder to work in, with a folder of notes."""
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "letter.md").write_text(LETTER, "utf-8")
    return tmp_path


def test_the_commands(url: str, notes: Path) -> None:
    environment = {**os.environ, "TRUEWEAVE_DATABASE_URL": url, "COLUMNS": "200"}
    commands = [
        line for block in blocks(README, "")[:1] for line in block.splitlines() if line.startswith("trueweave ")
    ]
    assert len(commands) == 3
    for command in commands:
        run(notes, environment, "-m", *shlex.split(command, comments=True))


def test_one_string_is_changed(url: str, notes: Path) -> None:
    """What is shown for a server does the same in a database, whose address is the one string."""
    code, moved = blocks(README, "python")
    filled = code.replace("Trueweave()", f"Trueweave({url!r}, 'acme', make=True)")
    first = subprocess.run([sys.executable, "-c", filled], cwd=notes, capture_output=True, text=True, check=True)
    assert "notes/letter.md # A letter" in first.stdout
    here = moved.replace('"http://127.0.0.1:8000"', repr(url))
    assert here != moved
    done = subprocess.run([sys.executable, "-c", here], cwd=notes, capture_output=True, text=True, check=True)
    assert "wrote to Charles Babbage" in done.stdout


@pytest.mark.parametrize(
    ("page", "figure"),
    [(README, r"\*\*([\d.,]+)\*\*"), (COSTS, r"(?<![\d.])(\d+\.\d+)(?![\d.]*\.\d|%)")],
    ids=["readme", "costs"],
)
def test_every_figure_is_in_the_results(page: str, figure: str) -> None:
    """Numbers in bold, and all decimal fractions on the page about costs, are copied from benchmarks/results."""
    results = " ".join(file.read_text("utf-8") for file in (ROOT / "benchmarks" / "results").glob("*.json"))
    known = {float(n) for n in re.findall(r"-?\d+(?:\.\d+)?", results)}
    figures = [float(n.replace(",", "")) for n in re.findall(figure, page)]
    assert figures
    assert all(figure in known for figure in figures), [f for f in figures if f not in known]
