"""The page on communities does what it says, word for word."""

import os
import re
import shlex
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, blocks, commands, run

PAGE = (ROOT / "docs" / "how-to" / "communities.md").read_text("utf-8")

WARD = """# The ward

Doctor Agnes Reed met Nurse Paul Ward in Leeds. Nurse Paul Ward wrote to Martha Stone in Leeds.
Martha Stone asked Doctor Agnes Reed about pain. Doctor Agnes Reed and Martha Stone left Leeds.
"""


@pytest.fixture
def environment(url: str) -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.upper().startswith("TRUEWEAVE_")}
    return {**clean, "TRUEWEAVE_DATABASE_URL": url, "COLUMNS": "200"}


@pytest.fixture
def folder(tmp_path: Path, environment: dict[str, str]) -> Path:
    """A folder with a document added, and no model anywhere."""
    (tmp_path / "ward.md").write_text(WARD, "utf-8")
    for words in (("init",), ("add", "ward.md")):
        run(tmp_path, environment, "-m", "trueweave", *words)
    return tmp_path


def test_the_commands(folder: Path, environment: dict[str, str]) -> None:
    first, second, *rest = commands(PAGE)
    assert len(rest) == 6
    run(folder, environment, "-m", *shlex.split(first, comments=True))
    listed = run(folder, environment, "-m", *shlex.split(second, comments=True))
    [known, *_] = re.findall(r"\b[0-9a-f]{8}\b", listed)
    for command in rest:
        words = [known if word == "3f2a" else word for word in shlex.split(command, comments=True)]
        if "drift" in words:
            words += ["--set", "part=keyword"]  # nothing is embedded here
        run(folder, environment, "-m", *words)
    assert (folder / "graph.graphml").stat().st_size


def test_the_same_from_python(folder: Path, environment: dict[str, str]) -> None:
    [code] = blocks(PAGE, "python")
    assert "Martha Stone" in run(folder, environment, "-c", code)
