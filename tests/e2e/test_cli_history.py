"""`trueweave history` and --as-of: the index as it was."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.e2e.conftest import Trueweave, answer

NOTE = Path("corpus") / "note.md"


@pytest.fixture
def before(trueweave: Trueweave, url: str, tmp_path: Path) -> str:
    """A time at which a note, which has been replaced since, said something else."""
    trueweave("init", "--database-url", url, "--workspace", "default")
    (tmp_path / "trueweave.toml").write_text(
        f'workspace = "default"\ndatabase_url = "{url}"\nextractor = "capitals"\nembedding_model = ""\n'
    )
    (tmp_path / NOTE).parent.mkdir()
    (tmp_path / NOTE).write_text("The harbour was led by Ada Lovelace.")
    trueweave("add", "corpus")
    kept = trueweave("history", "keep", "--days", "90").stdout
    assert "and former versions for 90 days." in kept
    then = datetime.now(UTC).isoformat()
    (tmp_path / NOTE).write_text("The harbour was led by Charles Babbage.")
    trueweave("add", "corpus")
    return then


def test_questions_lookups_and_exports_show_what_was_known(trueweave: Trueweave, before: str, tmp_path: Path) -> None:
    asked = "ask", "Who led the harbour?", "--context-only", "--json"
    assert [one["text"] for one in answer(trueweave(*asked))["evidence"]["passages"]] == [
        "The harbour was led by Charles Babbage."
    ]
    found = answer(trueweave(*asked, "--as-of", before))["evidence"]["passages"]
    assert [one["text"] for one in found] == ["The harbour was led by Ada Lovelace."]
    assert "Ada Lovelace" in trueweave("entities", "--as-of", before).stdout
    assert "Ada Lovelace" not in trueweave("entities").stdout
    assert "Charles Babbage" in trueweave("entities", "--as-of", f"{datetime.now(UTC):%Y-%m-%d}").stdout
    trueweave("export", "then.graphml", "--as-of", before)
    assert "Ada Lovelace" in (tmp_path / "then.graphml").read_text("utf-8")
    assert "keyword" in trueweave("compare", "harbour", "--methods", "keyword", "--as-of", before).stdout


def test_a_diff_shows_both_sides(trueweave: Trueweave, before: str) -> None:
    told = trueweave("diff", before).stdout
    assert "~ corpus/note.md" in told
    assert "+ Charles Babbage" in told
    assert "- Ada Lovelace" in told
    assert "- corpus/note.md: The harbour was led by Ada Lovelace." in told
    found = answer(trueweave("diff", "--since", before, "--json"))
    assert found["counts"]["document"] == {"added": 0, "removed": 0, "changed": 1}
    assert "No difference." in trueweave("diff", before, before).stdout
    trueweave("init", "--workspace", "empty")
    assert "+ corpus/note.md" in trueweave("diff", "empty").stdout
    assert "- corpus/note.md" in trueweave("diff", "default", "empty").stdout
    assert "cannot be compared" in trueweave("diff", before, "empty", code=1).stderr
    assert trueweave("diff").stdout == told
    assert "Give one of them" in trueweave("diff", "monday", "--since", "monday", code=1).stderr
    assert "there is no workspace 'nowhere'" in trueweave("diff", "nowhere", code=1).stderr


def test_versions_are_listed_and_erased(trueweave: Trueweave, before: str) -> None:
    versions = answer(trueweave("history", "versions", str(NOTE), "--json"))["versions"]
    assert [one["until"] is None for one in versions] == [True, False]
    assert "now" in trueweave("history", "versions", str(NOTE)).stdout
    assert "1 document removed." in trueweave("remove", "corpus").stdout
    assert "not found" in trueweave("remove", "corpus", code=1).stderr
    assert "2 former versions" in trueweave("history", "status").stdout
    assert "1 document removed." in trueweave("remove", "--erase", "corpus").stdout
    assert "0 former versions" in trueweave("history", "status").stdout
    assert "No history is kept." in trueweave("history", "end").stdout
    refused = trueweave("entities", "--as-of", before, code=1).stderr
    assert "this workspace keeps no history" in refused
    assert "is not a date" in trueweave("entities", "--as-of", "soon", code=1).stderr
