"""The fifteen failures that new users meet most often: each is made to happen, and ends in a sentence that says what to
do. docs/start/troubleshooting.md lists the same fifteen."""

import json
import re
import socket
import subprocess
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.e2e.conftest import ROOT, Trueweave, model_server
from tests.scanned import PdfPage, page_image, write_pdf
from tests.without_extras import make_core_environment

PAGE = (ROOT / "docs" / "start" / "troubleshooting.md").read_text("utf-8")
MESSAGES = re.findall(r"^\| `([^`]+)` \|", PAGE, re.MULTILINE)


@dataclass(frozen=True)
class Scene:
    """A folder with one document, in which a command is about to fail."""

    folder: Path
    environment: dict[str, str]
    url: str
    trueweave: Trueweave

    def model(self, url: str) -> None:
        self.environment["OPENAI_API_KEY"] = "sk-any"
        (self.folder / "trueweave.toml").write_text(f'model = "openai/any"\nmodel_url = "{url}"\n', "utf-8")

    def said(self, *words: str, code: int = 1) -> str:
        """What a command that fails prints."""
        done = self.trueweave(*words, code=code)
        return " ".join((done.stdout + done.stderr).split())

    def added(self, *options: str) -> str:
        """What is printed when adding the document fails."""
        self.trueweave("init")
        return self.said("add", "notes", *options)


@pytest.fixture
def scene(trueweave: Trueweave, environment: dict[str, str], tmp_path: Path, url: str) -> Scene:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "ada.md").write_text("Ada Lovelace worked with Charles Babbage.", "utf-8")
    return Scene(tmp_path, environment, url, trueweave)


def no_database(scene: Scene) -> str:
    del scene.environment["TRUEWEAVE_DATABASE_URL"]
    scene.environment["TRUEWEAVE_DATA_DIRECTORY"] = str(scene.folder / "data")
    return scene.said("ask", "Who?")


def no_workspace(scene: Scene) -> str:
    scene.trueweave("init")
    return scene.said("status", "--workspace", "papers")


def unreachable_database(scene: Scene) -> str:
    return scene.said("status", "--database-url", "postgresql://ada@127.0.0.1:1/papers")


def wrong_password(scene: Scene) -> str:
    parts = urlsplit(scene.url)
    with closing(psycopg.connect(scene.url, autocommit=True)) as connection:
        connection.execute("CREATE ROLE mistyping LOGIN PASSWORD 'right'")
    try:
        address = f"postgresql://mistyping:wrong@{parts.hostname}:{parts.port}{parts.path}"
        return scene.said("status", "--database-url", address)
    finally:
        with closing(psycopg.connect(scene.url, autocommit=True)) as connection:
            connection.execute("DROP ROLE mistyping")


def misspelt_setting(scene: Scene) -> str:
    (scene.folder / "trueweave.toml").write_text('modle = "ollama/any"\n', "utf-8")
    return scene.said("status")


def broken_settings(scene: Scene) -> str:
    (scene.folder / "trueweave.toml").write_text("model = ollama/any\n", "utf-8")
    return scene.said("status")


def no_key(scene: Scene) -> str:
    return scene.added("--model", "openai/gpt-4.1-mini", "--yes")


def wrong_key(scene: Scene) -> str:
    with model_server("--fault", "bad-key:1") as url:
        scene.model(url)
        return scene.added("--yes")


def model_not_running(scene: Scene) -> str:
    scene.model("http://127.0.0.1:1/v1")
    with (scene.folder / "trueweave.toml").open("a", encoding="utf-8") as file:
        file.write("tries = 1\n")
    return scene.added("--yes")


def unknown_model(scene: Scene) -> str:
    with model_server("--fault", "no-model:1") as url:
        scene.model(url)
        return scene.added("--yes")


def no_download(scene: Scene) -> str:
    scene.environment["HOME"] = str(scene.folder)
    scene.environment["HF_ENDPOINT"] = "http://127.0.0.1:1"
    scene.environment["TRUEWEAVE_EMBEDDING_MODEL"] = "local/bge-small-en-v1.5"
    scene.trueweave("init")
    done = scene.trueweave("add", "notes")  # without vectors, it is found by words
    return " ".join((done.stdout + done.stderr).split())


def missing_extra(scene: Scene) -> str:
    (scene.folder / "a.pdf").write_bytes(b"%PDF-1.7")
    cases = [{"words": words, "variables": {}} for words in (["init"], ["add", "a.pdf"])]
    done = subprocess.run(
        [make_core_environment(scene.folder / "core"), ROOT / "tests" / "core_commands.py"],
        input=json.dumps(cases),
        env=scene.environment,
        cwd=scene.folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return " ".join(json.loads(done.stdout)[1]["text"].split())


def scan_without_ocr(scene: Scene) -> str:
    write_pdf(scene.folder / "notes" / "scan.pdf", [PdfPage(image=page_image(["Ada Lovelace lived in London."]))])
    scene.environment["TRUEWEAVE_OCR"] = "off"
    return scene.added()


def budget_reached(scene: Scene) -> str:
    with model_server() as url:
        scene.model(url)
        return scene.added("--budget", "100 tokens", "--yes")


def taken_port(scene: Scene) -> str:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return scene.said("serve", "--port", str(taken.getsockname()[1]))


FAILURES: list[tuple[Callable[[Scene], str], str]] = [
    (no_database, "Run `trueweave init` to create one"),
    (no_workspace, "Run `trueweave init --workspace papers` to make it"),
    (unreachable_database, "Connection refused. Check that it runs, that the URL is right"),
    (wrong_password, "Check user and password in the database's address."),
    (misspelt_setting, "modle is not a setting. Did you mean model? `trueweave settings --all` lists all of them."),
    (broken_settings, 'Fix it (text needs quotation marks, as in model = "ollama/llama3.1:8b")'),
    (missing_extra, 'pip install "trueweave[documents]"'),
    (scan_without_ocr, "it contains no text, only images; text recognition is off; set ocr to auto"),
    (no_download, "run `trueweave models fetch bge-small-en-v1.5 --to FOLDER` on a machine that has one and copy it"),
    (no_key, "openai/gpt-4.1-mini needs a key. Set OPENAI_API_KEY to yours."),
    (wrong_key, "Set OPENAI_API_KEY to a key that is valid and may use this model."),
    (unknown_model, "the model any does not exist. Check the model's name."),
    (model_not_running, "Is it running, and the URL right? Next: trueweave doctor"),
    (budget_reached, "Completed work is kept; raise the budget to continue. To continue: trueweave add notes --budget"),
    (taken_port, "Choose another, as in `--port "),
]


@pytest.mark.parametrize(("failure", "remedy"), FAILURES, ids=[failure.__name__ for failure, _ in FAILURES])
def test_a_common_failure_ends_in_a_sentence_that_helps(
    scene: Scene, failure: Callable[[Scene], str], remedy: str
) -> None:
    said = failure(scene)
    assert remedy in said
    assert "Traceback" not in said
    listed = [message for message in MESSAGES if all(part.strip() in said for part in message.split("…"))]
    assert len(listed) == 1, f"the page has one row for it: {said}"


def test_the_page_lists_no_other() -> None:
    assert len(MESSAGES) == len(FAILURES) == 15
