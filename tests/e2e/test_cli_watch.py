"""`trueweave watch`: questions that are asked again, and their alerts."""

from pathlib import Path

import pytest

from tests.e2e.conftest import Trueweave, answer

NOTE = Path("corpus") / "note.md"
ADD = "watch", "add", "Who led the harbour?", "--name", "harbour", "--passages", "1"


@pytest.fixture
def index(trueweave: Trueweave, url: str, tmp_path: Path) -> Path:
    """A note that answers a question."""
    trueweave("init", "--database-url", url, "--workspace", "default")
    (tmp_path / "trueweave.toml").write_text(
        f'workspace = "default"\ndatabase_url = "{url}"\nextractor = "capitals"\nembedding_model = ""\n'
    )
    (tmp_path / NOTE).parent.mkdir()
    (tmp_path / NOTE).write_text("The harbour was led by Ada Lovelace.")
    trueweave("add", "corpus")
    return tmp_path / NOTE


def test_watches_are_listed_asked_and_removed(trueweave: Trueweave, index: Path) -> None:
    assert "there is none yet" in trueweave("watch", "list").stdout
    made = answer(trueweave(*ADD, "--where", "kind!=mail", "--as-group", "*", "--json"))["watch"]
    assert (made["name"], made["passages"], made["groups"]) == ("harbour", 1, ["*"])
    listed = trueweave("watch", "list").stdout
    assert "harbour" in listed
    assert "Who led the harbour?" in listed
    assert "The index has not changed." in trueweave("watch", "check").stdout
    index.write_text("The harbour was led by Charles Babbage.")
    trueweave("add", "corpus")
    assert answer(trueweave("watch", "check", "--json")) == {"asked": 1, "alerts": 1}
    shown = trueweave("watch", "alerts", "harbour", "--limit", "1").stdout
    assert "1 passage added, 1 removed" in shown
    assert "“The harbour was led by Charles Babbage.”" in shown
    [alert] = answer(trueweave("watch", "alerts", "--limit", "1", "--json"))["alerts"]
    assert (alert["watch"], alert["added"], alert["removed"]) == ("harbour", 1, 1)
    assert "Removed harbour and its alerts." in trueweave("watch", "remove", "harbour").stdout
    assert "There are no alerts." in trueweave("watch", "alerts").stdout


def test_what_is_wrong_is_said(trueweave: Trueweave, index: Path) -> None:
    assert index.exists()
    assert "no watch 'other'" in trueweave("watch", "remove", "other", code=1).stderr
    assert "no key to sign with" in trueweave(*ADD, "--webhook", "https://example.org/", code=1).stderr
    assert "no language model is set" in trueweave(*ADD, "--answer", code=1).stderr
    assert "there is no method 'guesswork'" in trueweave(*ADD, "--method", "guesswork", code=1).stderr
