"""The page on moving in and out does what it says, word for word."""

import os
import shlex
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, blocks, commands, run
from tests.unit.formats.test_importing import TURTLE, write_graphrag, write_lightrag

PAGE = (ROOT / "docs" / "how-to" / "moving.md").read_text("utf-8")
READ, NETWORKX, EXPORT = blocks(PAGE, "python")


@pytest.fixture
def environment(url: str) -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.upper().startswith("TRUEWEAVE_")}
    return {**clean, "TRUEWEAVE_DATABASE_URL": url, "COLUMNS": "200"}


@pytest.fixture
def folder(tmp_path: Path, environment: dict[str, str]) -> Path:
    """A folder with what other systems have written, and a workspace with no model."""
    write_graphrag(tmp_path / "ragtest" / "output")
    (tmp_path / "rag_storage").mkdir()
    write_lightrag(tmp_path / "rag_storage")
    (tmp_path / "graph.ttl").write_text(TURTLE)
    run(tmp_path, environment, "-m", "trueweave", "init")
    return tmp_path


def test_the_commands(folder: Path, environment: dict[str, str]) -> None:
    shown = commands(PAGE)
    assert [line.split()[1] for line in shown] == ["import"] * 3 + ["export"] * 2
    for line in shown:
        run(folder, environment, "-m", *shlex.split(line, comments=True))
    assert (folder / "all.jsonl").is_file()
    assert (folder / "graph.graphml").is_file()


def test_reading_in_python(folder: Path, environment: dict[str, str]) -> None:
    told, entities = run(folder, environment, "-c", READ).splitlines()
    assert told.startswith("Noted(what='1 entity and 0 relations have no text that is there.")
    assert entities == "2"


def test_a_networkx_graph(folder: Path, environment: dict[str, str]) -> None:
    assert "Ada Lovelace wrote to Charles Babbage." in run(folder, environment, "-c", NETWORKX)
    names = run(folder, environment, "-c", EXPORT)
    assert names == "['Ada Lovelace', 'Charles Babbage']\n"
    assert (folder / "all.jsonl").is_file()
