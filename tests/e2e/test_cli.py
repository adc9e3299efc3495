"""The `weft` command as a user runs it, in a folder of its own, on a real database."""

import asyncio
import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from weft import AsyncWeft
from weft.extract import given

LINES = (
    {
        "uri": "notes/1",
        "text": "Ada Lovelace worked with Charles Babbage.",
        "entities": [{"name": "Ada Lovelace", "type": "person"}, {"name": "Charles Babbage", "type": "person"}],
        "triples": [["Ada Lovelace", "worked with", "Charles Babbage"]],
    },
    {
        "uri": "notes/2",
        "text": "The Countess met [Mary] Somerville.",
        "entities": [{"name": "The Countess", "type": "person"}, {"name": "[Mary] Somerville"}],
    },
)

Weft = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def weft(tmp_path: Path, url: str) -> Weft:
    """Runs the command; the environment names the test's database."""
    clean = {name: value for name, value in os.environ.items() if not name.upper().startswith("WEFT_")}
    environment = {**clean, "WEFT_DATABASE_URL": url, "COLUMNS": "200"}

    def run(*arguments: str | Path, code: int = 0, stdin: str = "") -> subprocess.CompletedProcess[str]:
        command = [Path(sys.executable).with_name("weft"), *arguments]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, input=stdin, text=True, capture_output=True, check=False
        )
        assert done.returncode == code, done.stderr + done.stdout
        assert "Traceback" not in done.stderr
        return done

    return run


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Two documents, as JSON lines."""
    path = tmp_path / "notes.jsonl"
    path.write_text("\n".join(map(json.dumps, LINES)))
    return path


@pytest.fixture
def filled(url: str, file: Path) -> None:
    """The default workspace, with these documents in it."""

    async def fill() -> None:
        async with AsyncWeft.open(url) as index:
            await index.add_documents(given.read(file))

    asyncio.run(fill())


def answer(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The JSON object that is all of stdout."""
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def test_init_makes_the_workspace_and_writes_the_settings_once(weft: Weft, url: str, tmp_path: Path) -> None:
    first = weft("init", "--database-url", url, "--workspace", "acme")
    assert "Workspace acme is ready" in first.stdout
    assert "Next: weft add" in first.stdout
    written = (tmp_path / "weft.toml").read_text()
    assert answer(weft("status", "--json"))["workspace"] == "acme"
    again = weft("init", "--workspace", "other")
    assert "as it was.\nIt has other settings" in again.stdout
    assert (tmp_path / "weft.toml").read_text() == written


def test_documents_come_and_go(weft: Weft, file: Path, tmp_path: Path) -> None:
    weft("init")
    added = weft("add", file)
    assert "2 documents read, 2 new or changed." in added.stdout
    packed = tmp_path / "packed.jsonl.gz"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert answer(weft("add", packed, "--json")) == {"documents": 2, "new": 0}
    assert "[Mary] Somerville" in weft("entities").stdout
    removed = weft("remove", "notes/2", "notes/9").stdout
    assert removed == "1 document removed.\n1 uri not found in workspace default.\n"
    assert answer(weft("sweep", "--json")) == {"swept": 2}
    status = answer(weft("status", "--json"))
    assert (status["documents"], status["entities"], status["relations"], status["waiting_documents"]) == (1, 2, 1, 0)


@pytest.mark.usefixtures("filled")
def test_a_rule_holds_until_it_is_undone(weft: Weft) -> None:
    rule = answer(weft("rule", "merge", "Ada Lovelace::person", "The Countess::person", "--json"))["rule"]
    assert rule["names"] == [{"name": "Ada Lovelace", "type": "person"}, {"name": "The Countess", "type": "person"}]
    assert answer(weft("entities", "--json", "--limit", "1"))["entities"][0]["aliases"] == ["The Countess"]
    assert "Undone: merge" in weft("rule", "undo", rule["id"][:8]).stdout
    assert answer(weft("entities", "--json", "--limit", "1"))["entities"][0]["aliases"] == []


@pytest.mark.usefixtures("filled")
def test_verify_finds_what_was_changed_by_hand(weft: Weft, url: str) -> None:
    assert "Exact: the index is what its 2 documents say." in weft("verify").stdout
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE weft.relation SET weight = weight + 1")
    shown = weft("verify", code=1).stdout
    assert all(part in shown for part in ("section", "in the index", "rebuilt", "relations", '"worked with"'))
    found = answer(weft("verify", "--json", code=1))
    [difference] = found["differences"]
    assert not found["exact"]
    assert json.loads(difference["index"])[4] == json.loads(difference["rebuilt"])[4] + 1


@pytest.mark.usefixtures("filled")
def test_resolution_is_shown_and_changed(weft: Weft) -> None:
    assert answer(weft("resolution", "--mode", "exact", "--json"))["mode"] == "exact"
    assert weft("resolution").stdout.split() == ["mode", "exact", "threshold", "90", "same", "name_and_type"]


@pytest.mark.usefixtures("filled")
def test_a_workspace_is_dropped_only_when_that_is_confirmed(weft: Weft) -> None:
    assert "its 2 documents" in weft("workspace", "drop", "default", stdin="n\n", code=1).stderr
    assert answer(weft("workspace", "drop", "default", "--yes", "--json")) == {"dropped": "default", "documents": 2}
    unknown = weft("status", code=1)
    assert unknown.stderr.startswith("error: there is no workspace 'default'. Run `weft init")


@pytest.mark.usefixtures("filled")
def test_a_broken_line_is_named(weft: Weft, file: Path) -> None:
    file.write_text(file.read_text() + "\n{broken")
    done = weft("add", file, "--json", code=1)
    assert f"{file}, line 3: " in answer(done)["error"]
    assert done.stderr == f"error: {answer(done)['error']}\n"


def test_an_unreachable_database_is_named_without_its_password(weft: Weft) -> None:
    done = weft("status", "--database-url", "postgresql://ada:secret@127.0.0.1:1/nowhere", code=1)
    assert done.stdout == ""
    assert done.stderr.startswith("error: cannot work with the database at 127.0.0.1:1/nowhere: ")
    assert "secret" not in done.stderr


def test_an_unknown_setting_is_named(weft: Weft, tmp_path: Path) -> None:
    (tmp_path / "weft.toml").write_text('databse_url = "x"')
    assert f"error: {tmp_path / 'weft.toml'} sets databse_url, which" in weft("status", code=1).stderr
