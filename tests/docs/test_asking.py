"""The page on asking does what it says, word for word."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, blocks, commands, run
from tests.docs.transcripts import Session, check, terminal
from trueweave.retrieval.methods import registry
from trueweave.testing.model_server import Asked

PATH = ROOT / "docs" / "how-to" / "asking.md"
PAGE = PATH.read_text("utf-8")

DOCUMENT = {
    "title": "The Analytical Engine",
    "text": "Note G by Ada Lovelace is often called the first program.",
    "metadata": {"year": 1843, "kind": "notes"},
    "triples": [["Ada Lovelace", "wrote", "Note G"]],
}

ADD = f"""
import asyncio
from trueweave import AsyncTrueweave
from trueweave.ingest.extract import preannotated

async def add():
    async with AsyncTrueweave.open() as trueweave:
        await trueweave.add_documents([preannotated.document({DOCUMENT!r}, "notes/engine.md")])

asyncio.run(add())
"""


def reply(asked: Asked) -> str:
    """What the model says: the answer on the page."""
    if asked.schema:
        return json.dumps({"low_level": ["first program"], "high_level": ["computing"]})
    quote = "Note G by Ada Lovelace is often called the first program"
    return f'Ada Lovelace wrote it, in a note that is called the first program [1 "{quote}"]. She was paid for it.'


@pytest.fixture(scope="module")
def model_url() -> Iterator[str]:
    command = [sys.executable, "-m", "trueweave.testing.model_server", "--script", f"{__name__}:reply"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env, cwd=ROOT) as process:
        assert process.stdout
        yield process.stdout.readline().strip()
        process.terminate()


@pytest.fixture
def environment(url: str) -> dict[str, str]:
    return {**os.environ, "TRUEWEAVE_DATABASE_URL": url, "COLUMNS": "200"}


@pytest.fixture
def folder(tmp_path: Path, model_url: str, environment: dict[str, str]) -> Path:
    """A folder with the document added, and models in the settings."""
    named = {"model": "vllm/any", "model_url": model_url, "embedding_model": "vllm/embed", "embedding_url": model_url}
    (tmp_path / "trueweave.toml").write_text(
        "\n".join(f"{name} = {json.dumps(value)}" for name, value in named.items())
    )
    run(tmp_path, environment, "-m", "trueweave", "init")
    run(tmp_path, environment, "-c", ADD)
    return tmp_path


def test_the_commands(folder: Path, environment: dict[str, str]) -> None:
    listed = commands(PAGE)
    assert len(listed) == 4
    with terminal():
        assert check(PATH, Session(folder, environment)) == 1, "the answer is the one on the page"
    for command in listed:
        run(folder, environment, "-m", *shlex.split(command, comments=True))


def test_the_same_from_python(folder: Path, environment: dict[str, str]) -> None:
    [code] = blocks(PAGE, "python")
    lines = run(folder, environment, "-c", code).splitlines()
    assert "not checked: She was paid for it. it cites no passage" in lines
    assert any(line.startswith("1 notes/engine.md 0 56 Note G by Ada Lovelace") for line in lines)
    assert [line.split()[0] for line in lines[-3:]] == ["keyword", "naive", "local"]


def test_every_option_that_the_page_names_is_there() -> None:
    here = dict(os.environ)
    shown = "".join(run(ROOT, here, "-m", "trueweave", name, "--help") for name in ("ask", "chat", "compare"))
    for option in set(re.findall(r"`(--[a-z-]+)", PAGE)):
        assert option in shown, option


def test_every_method_has_its_section() -> None:
    page = (ROOT / "docs" / "reference" / "methods.md").read_text("utf-8")
    own = [entry.name for entry in distribution("trueweave").entry_points.select(group=registry.GROUP)]
    assert "weave" in own
    for name in own:
        assert f"\n## {name}\n" in page
