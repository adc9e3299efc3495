"""The examples run as their page says, and end with the line that it shows."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import httpx2
import pytest

from tests.commands import PROGRAM
from tests.e2e.conftest import ROOT
from tests.servers import free_port
from trueweave.testing import Databases

PAGE = (ROOT / "docs" / "start" / "examples.md").read_text("utf-8")
PACKAGES = ("own_method", "own_loader", "own_connector")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the examples: some write files beside their own."""
    return shutil.copytree(ROOT / "examples", tmp_path_factory.mktemp("examples"), dirs_exist_ok=True)


@pytest.fixture(scope="module")
def variables(databases: Databases) -> Iterator[dict[str, str]]:
    """One database for all of them, so that the documents of the demo are indexed once."""
    made = databases.make()
    clean = {name: value for name, value in os.environ.items() if not name.startswith("TRUEWEAVE_")}
    yield {**clean, "TRUEWEAVE_DATABASE_URL": made, "COLUMNS": "80", "HF_HUB_OFFLINE": "1"}
    databases.drop(made)


@pytest.fixture(scope="module")
def installed(folder: Path, tmp_path_factory: pytest.TempPathFactory, variables: dict[str, str]) -> dict[str, str]:
    """An environment with the packages installed, without the network."""
    target = tmp_path_factory.mktemp("packages")
    install = ("uv", "pip", "install", "--quiet", "--offline", "--no-deps", "--no-build-isolation")
    names = [f"./{name}" for name in PACKAGES]
    command = [sys.executable, "-m", *install, "--python", sys.executable, "--target", str(target), *names]
    subprocess.run(command, cwd=folder, env=variables, check=True)
    return {**variables, "PYTHONPATH": str(target)}


def run(folder: Path, environment: dict[str, str], *command: str | Path) -> list[str]:
    """The lines that a command prints, of which the page shows the last."""
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout.splitlines()


def is_shown(line: str) -> bool:
    """Whether the page has the line in a block of code. Delimiters of passages are random."""
    return bool(line.strip()) and line.strip() in (one.strip() for one in PAGE.splitlines())


def test_an_agent_finds_the_path_by_tools(folder: Path, variables: dict[str, str]) -> None:
    lines = run(folder, variables, sys.executable, "agent_mcp/agent.py")
    assert lines[-1].startswith("Gull Stack > ")
    assert all(map(is_shown, lines)), lines


def test_the_chat_streams_an_answer_with_its_citations(folder: Path, variables: dict[str, str]) -> None:
    port = free_port()
    command = [sys.executable, "-m", "uvicorn", "--app-dir", "chat_app", "app:app", "--port", str(port)]
    with subprocess.Popen(command, cwd=folder, env=variables, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr
            said = next((line for line in process.stderr if "Uvicorn running" in line), "")
            assert said, "it has ended"
            with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
                assert "<form>" in client.get("/").text
                [question] = re.findall(r"""/chat --json '(\{.*?\})'""", PAGE)
                answer = client.post("/chat", json=json.loads(question))
                assert client.post("/chat", json={"question": ""}).status_code == 422
        finally:
            process.terminate()
    events = [json.loads(line.removeprefix("data: ")) for line in answer.text.splitlines() if line]
    assert len(events) > 2, "it comes in pieces"
    *pieces, last = events
    assert all("text" in piece for piece in pieces)
    assert "nineteen prisms" in last["citations"][0]["quote"]
    assert is_shown(f"data: {json.dumps(last, ensure_ascii=False)}"), answer.text


def test_a_package_adds_a_method(folder: Path, installed: dict[str, str]) -> None:
    run(folder, installed, PROGRAM, "init")
    asked = ("ask", "--method", "follow", "--json", "--context-only")
    lines = run(folder, installed, PROGRAM, *asked, "Who taught the woman who ground the lens for Gull Stack?")
    assert "Tobias Wendle" in "\n".join(lines)
    assert is_shown(run(folder, installed, PROGRAM, "methods", "follow")[-1])


def test_a_package_adds_a_file_format(folder: Path, installed: dict[str, str]) -> None:
    here = folder / "own_loader"
    run(here, installed, PROGRAM, "init")
    run(here, installed, PROGRAM, "add", "halcyon.logbook")
    lines = run(here, installed, PROGRAM, "ask", "--context-only", "Where did the bell sound in the fog?")
    assert "Fog. Sounded the bell off Merrow Point for six hours." in lines
    assert is_shown("Fog. Sounded the bell off Merrow Point for six hours.")


def test_a_package_adds_a_source(folder: Path, installed: dict[str, str]) -> None:
    here = folder / "own_connector"
    assert is_shown(run(here, installed, sys.executable, "make_notes.py")[-1])
    run(here, installed, PROGRAM, "init")
    address = f"sqlite://{here}/notes.db"
    run(here, installed, PROGRAM, "add", address)
    lines = run(here, installed, PROGRAM, "ask", "--context-only", "When is the gauge wound?")
    assert "The gauge at the Inner Mole must be wound on Mondays." in lines
    assert is_shown("The gauge at the Inner Mole must be wound on Mondays.")
    assert "2 documents read, 0 new or changed." in run(here, installed, PROGRAM, "sync", address)


def test_the_notebook_compares_methods(
    folder: Path, variables: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import nbformat
    from nbclient import NotebookClient

    monkeypatch.setattr(os, "environ", variables)
    book = nbformat.read(folder / "compare_methods.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    kept = [cell.outputs for cell in book.cells if cell.cell_type == "code"]
    NotebookClient(book, timeout=120, resources={"metadata": {"path": str(folder)}}, record_timing=False).execute()
    outputs = [cell.outputs for cell in book.cells if cell.cell_type == "code"]
    texts = [[one.text for one in each if "text" in one] for each in outputs]
    assert texts == [[one.text for one in each if "text" in one] for each in kept], "what is stored is out of date"
    assert is_shown(texts[-1][-1].splitlines()[-1])
    drawn = [one.data for each in outputs for one in each if "data" in one and "image/svg+xml" in one.data]
    assert len(drawn) == 2


@pytest.mark.nightly
@pytest.mark.skipif(find_spec("ray") is None, reason="bulk loading needs Ray: pip install trueweave[ray]")
def test_a_bulk_load_on_two_nodes(folder: Path, variables: dict[str, str]) -> None:
    assert is_shown(run(folder, variables, sys.executable, "bulk_ray/load.py")[-1])
