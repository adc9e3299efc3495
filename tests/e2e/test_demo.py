"""`trueweave demo`: each act is judged by what it measured, in one run that most tests share."""

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.commands import PROGRAM, run_command
from trueweave.cli.demo.folder import DemoFolder
from trueweave.cli.demo.script import LETTER, questions

README = Path(__file__).parents[2] / "README.md"


class Demo:
    """A demo in a folder of its own, on a machine without a model and with settings that are not meant for it."""

    def __init__(self, place: Path) -> None:
        self.folder = DemoFolder(place / "demo")
        clean = {name: value for name, value in os.environ.items() if not name.startswith("TRUEWEAVE_")}
        self.environment = {**clean, "HF_HUB_OFFLINE": "1", "HOME": str(place), "COLUMNS": "80"}
        self.others = {
            "TRUEWEAVE_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none",
            "TRUEWEAVE_MODEL": "openai/some-model",
            "TRUEWEAVE_MAX_CHUNK_SIZE": "50",
            "TRUEWEAVE_MIN_CHUNK_SIZE": "20",
        }

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        command = [str(PROGRAM), "demo", "--folder", str(self.folder.path), *arguments]
        environment = {**self.environment, **self.others}
        return subprocess.Popen(command, env=environment, stdout=-1, stderr=-1, text=True)

    def run(self, *arguments: str, code: int = 0) -> str:
        environment = {**self.environment, **self.others}
        place = self.folder.path
        done = run_command(
            "demo", "--folder", place, *arguments, folder=place.parent, environment=environment, code=code
        )
        return done.stdout + done.stderr

    def command(self, *arguments: str, code: int = 0) -> str:
        """Another command, as a user runs it in the folder."""
        done = run_command(*arguments, folder=self.folder.path, environment=self.environment, code=code)
        return done.stdout + done.stderr


@pytest.fixture(scope="module")
def demo() -> Iterator[Demo]:
    # Not in a folder of pytest's, which the user that the server runs as cannot always enter.
    with tempfile.TemporaryDirectory(prefix="trueweave-") as place:
        Path(place).chmod(0o755)
        made = Demo(Path(place))
        try:
            yield made
        finally:
            made.folder.server.stop()


def shown_in_readme() -> list[str]:
    """The lines of the demo that the README shows, without the heading of the first act, which is of a first run, and
    without seconds."""
    [shown] = re.findall(r"^\$ trueweave demo\n(.*?)^```", README.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    return [re.sub(r" +[\d.]+ s$", "", line) for line in shown.splitlines()[1:] if line]


@pytest.fixture(scope="module")
def played(demo: Demo) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(demo.run("--json"))
    return found


def test_everything_is_built_by_the_demos_own_settings(played: dict[str, Any]) -> None:
    built = played["built"]
    assert built["documents"] == built["added"] == 41
    assert built["questions"] == len(questions()) == 25
    assert built["skipped"] == 0
    assert built["entities"] > 80
    assert built["relations"] > 60


def test_weave_finds_the_passages_that_vectors_miss(played: dict[str, Any]) -> None:
    searched = played["searched"]
    assert searched["found"] == {"naive": 1, "weave": 3}
    assert searched["path"] == ["Gull Stack", "Isolde Marrack", "Tobias Wendle", "Ferrin"]


def test_the_false_sentence_is_caught_and_the_true_ones_are_confirmed(played: dict[str, Any]) -> None:
    sentences = played["checked"]["sentences"]
    assert [one["confirmed"] for one in sentences] == [True, True, False]
    assert "Osmunster" in sentences[2]["finding"]
    assert "workshop in Ferrin" in sentences[2]["source"]


def test_without_the_letter_the_answer_and_the_path_are_gone_and_the_index_is_exact(played: dict[str, Any]) -> None:
    removed = played["removed"]
    assert not removed["known"]
    assert removed["path"] == []
    assert removed["exact"]
    assert removed["restored"]
    assert played["holds"]
    assert played["seconds"] == pytest.approx(
        sum(played[act]["seconds"] for act in ("built", "searched", "checked", "removed")), abs=0.01
    )


@pytest.mark.usefixtures("played")
def test_the_shown_commands_work_in_its_folder(demo: Demo) -> None:
    found = demo.command("ask", "--method", "weave", questions()[0].question)
    assert "kept his workshop in Ferrin" in found
    assert "Gull Stack - Isolde Marrack - Tobias Wendle - Ferrin" in demo.command("path", "Gull Stack", "Ferrin")


@pytest.mark.usefixtures("played")
def test_a_question_of_ones_own_is_asked_by_words_where_the_model_is_missing(demo: Demo) -> None:
    asked = demo.command("ask", "What did the conservator find in the gauge?")
    assert "Passages are found by words alone." in asked
    assert "It had been oiled" in asked
    failed = demo.command("ask", "--method", "naive", "What did the conservator find in the gauge?", code=1)
    assert "`trueweave models fetch bge-small-en-v1.5` downloads it" in failed
    checked = demo.command("doctor")
    assert "Nothing is broken, but questions without a vector are answered by words alone." in checked
    assert "reembed" not in demo.command("status")  # the vectors are of the model that the settings name


@pytest.mark.usefixtures("played")
def test_a_run_after_a_killed_one_waits_for_others_and_restores_everything(demo: Demo) -> None:
    demo.command("remove", LETTER)  # killed after that, as it put the folder together
    (demo.folder.path / LETTER).unlink()
    (demo.folder.path / "questions.jsonl").unlink()
    with demo.folder.locked("acts"):
        process = demo.start("--no-ui")
        assert process.stderr
        assert "Another `trueweave demo` is running in this folder" in process.stderr.readline()
    printed, problems = process.communicate()
    assert process.returncode == 0, printed + problems
    assert [line for line in shown_in_readme() if line not in printed] == []
    assert "✗ Tobias Wendle kept his workshop in Osmunster" in printed
    assert printed.count("✓") == 4
    assert len(printed.splitlines()) <= 40
    assert "until 1894, when his sight failed.”" in printed  # the second line of a long quotation
    assert max(map(len, printed.splitlines())) <= 80


@pytest.mark.usefixtures("played")
def test_it_is_removed_but_not_while_it_is_open(demo: Demo) -> None:
    own = demo.folder.path / "notes.txt"
    own.write_text("mine")
    with demo.folder.locked("ui", shared=True):
        assert "is running. Stop it with Ctrl-C first." in demo.run("--remove", code=1)
    assert demo.folder.server.running()
    assert "Files that are not of the demo are left there." in demo.run("--remove")
    assert {file.name for file in demo.folder.path.iterdir()} == {"notes.txt", "trueweave.toml"}
    (demo.folder.path / "trueweave.toml").unlink()  # now it is a folder like any other
    assert "has files that are not of the demo" in demo.run("--no-ui", code=1)
    own.unlink()
    assert "There is no demo" in demo.run("--remove")
