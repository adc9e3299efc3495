"""The pages on looking things up and on pictures do what they say, word for word."""

import json
import os
import shlex
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, blocks, commands, run

PAGE = (ROOT / "docs" / "how-to" / "looking-things-up.md").read_text("utf-8")
PICTURES = (ROOT / "docs" / "how-to" / "pictures.md").read_text("utf-8")
DOCUMENTS = (
    {
        "uri": "notes/engine.md",
        "title": "The Analytical Engine",
        "text": "Ada Lovelace wrote letters about the engine, the first computer, to Charles Babbage.",
        "metadata": {"year": 1843, "date": "2024-05-05"},
        "entities": [
            {"name": "Ada Lovelace", "type": "person"},
            {"name": "Analytical Engine, the first computer"},
        ],
        "triples": [["Ada Lovelace", "wrote letters about engines to", "Charles Babbage"]],
    },
    {
        "uri": "notes/byron.md",
        "text": "She was a child of Byron.",
        "entities": [{"name": "Ada Lovelace", "type": "person"}],
        "triples": [["Lord Byron", "had", "Ada Lovelace"]],
    },
)


@pytest.fixture
def environment(url: str) -> dict[str, str]:
    return {**os.environ, "TRUEWEAVE_DATABASE_URL": url, "COLUMNS": "200"}


@pytest.fixture
def folder(tmp_path: Path, environment: dict[str, str]) -> Path:
    """A folder with the documents added, and no embedding model in its settings."""
    (tmp_path / "trueweave.toml").write_text('workspace = "notes"\n', "utf-8")
    (tmp_path / "documents.jsonl").write_text("\n".join(map(json.dumps, DOCUMENTS)), "utf-8")
    run(tmp_path, environment, "-m", "trueweave", "init")
    run(tmp_path, environment, "-m", "trueweave", "import", "documents.jsonl")
    return tmp_path


def test_the_commands(folder: Path, environment: dict[str, str]) -> None:
    listed = commands(PAGE)
    assert len(listed) == 8
    shown = [run(folder, environment, "-m", *shlex.split(command, comments=True)) for command in listed]
    told = (
        "notes/engine.md",
        "wrote letters about the engine",
        "Ada Lovelace",
        "Analytical Engine, the first computer",
        "Charles Babbage",
        "wrote letters about engines to",
        "Lord Byron",
        "Ada Lovelace - Lord Byron  1 relation",
    )
    for command, text, expected in zip(listed, shown, told, strict=True):
        assert expected in text, (command, text)


def test_the_same_from_python(folder: Path, environment: dict[str, str]) -> None:
    [code] = blocks(PAGE, "python")
    shown = run(folder, environment, "-c", code)
    assert "wrote letters about engines to" in shown
    assert "{'date': '2024-05-05', 'year': 1843}" in shown or "{'year': 1843, 'date': '2024-05-05'}" in shown
    assert "DocumentInfo(uri='notes/engine.md'" in shown


def test_pictures_are_written_as_their_page_says(folder: Path, environment: dict[str, str]) -> None:
    for command in (listed := commands(PICTURES)):
        run(folder, environment, "-m", *shlex.split(command, comments=True))
    assert len(listed) == 3
    assert {one.name for one in folder.glob("*.*") if one.suffix in (".html", ".svg")} == {
        "graph.html",
        "ada.svg",
        "p.html",
    }
    [code] = blocks(PICTURES, "python")
    run(folder, environment, "-c", code)
    assert (folder / "path.html").exists()
