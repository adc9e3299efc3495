"""What commands tell at the end: of which documents, how many, and how to see the rest."""

import json
from pathlib import Path

import psycopg
import pytest
from typer.testing import CliRunner

from trueweave.cli import app


@pytest.fixture
def folder(tmp_path: Path, url: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRUEWEAVE_DATABASE_URL", url)
    run("init")
    return tmp_path


def run(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == code, result.output
    return result.output


def test_notes_name_their_documents_and_the_rest_can_be_listed(folder: Path) -> None:
    (folder / "notes").mkdir()
    for n in range(5):
        (folder / "notes" / f"empty{n}.txt").write_text(" \n")
    (folder / "notes" / "full.txt").write_text("Ada Lovelace met Charles Babbage.")
    shown = run("add", "notes")
    assert (
        "5 documents with a note: it has no text (notes/empty0.txt, notes/empty1.txt, notes/empty2.txt and 2 more: "
        "trueweave documents --notes shows them)" in shown
    )
    listed = run("documents", "--notes")
    assert "notes/empty4.txt\n  it has no text" in listed
    assert "full" not in listed
    found = json.loads(run("documents", "--json"))
    assert found["number"] == 6
    assert [one["uri"] for one in found["documents"]][-1] == "notes/full.txt"
    assert found["documents"][-1]["chunks"] == 1


def test_a_question_that_finds_nothing_names_a_command_that_lists_documents(folder: Path) -> None:
    shown = run("ask", "zebra", "--method", "keyword")
    assert "Nothing was found: there are no documents in this workspace yet." in shown
    assert "Next: trueweave add PATH" in shown
    assert "there are none yet" in run("documents")
    (folder / "a.txt").write_text("Ada Lovelace met Charles Babbage.")
    run("add", "a.txt")
    shown = run("ask", "zebra", "--method", "keyword")
    assert "Nothing was found: no word of the question is in the documents that were looked at." in shown
    assert "trueweave documents  (shows which documents are there)" in shown
    assert "a.txt" in run("documents")


def test_a_run_that_goes_on_counts_what_came_in(folder: Path, url: str) -> None:
    (folder / "notes").mkdir()
    for n in range(3):
        (folder / "notes" / f"{n}.txt").write_text(f"Ada Lovelace met Number {n}.")
    assert "3 documents read, 3 new or changed.\n" in run("add", "notes")
    with psycopg.connect(url, autocommit=True) as connection:  # as if the run had been stopped before they were settled
        connection.execute("UPDATE trueweave.document SET visible = false, added = added - interval '1 hour'")
    assert "3 documents read, 0 new or changed; 3 added.\n" in run("add", "notes")
    assert "3 documents read, 0 new or changed.\n" in run("add", "notes")
