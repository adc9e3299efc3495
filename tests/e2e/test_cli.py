"""The `trueweave` command as a user runs it, in a folder of its own, on a real database."""

import asyncio
import json
import re
import signal
import subprocess
import time
import tomllib
from pathlib import Path

import psycopg
import pytest

from tests.commands import PROGRAM
from tests.e2e.conftest import ROOT, Trueweave, answer, model_server, typed
from trueweave import AsyncTrueweave
from trueweave.ingest.extract import preannotated
from trueweave.retrieval.methods import registry

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


MODEL = "openai/any"


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
        async with AsyncTrueweave.open(url) as index:
            await index.add_documents(preannotated.read(file))

    asyncio.run(fill())


def test_init_makes_the_workspace_and_writes_the_settings_once(trueweave: Trueweave, url: str, tmp_path: Path) -> None:
    first = trueweave("init", "--database-url", url, "--workspace", "acme")
    assert "Workspace acme is ready" in first.stdout
    assert "Next: trueweave add" in first.stdout
    written = (tmp_path / "trueweave.toml").read_text()
    assert answer(trueweave("status", "--json"))["workspace"] == "acme"
    again = trueweave("init", "--workspace", "other")
    assert "exists and was not changed.\nIts settings differ" in again.stdout
    assert (tmp_path / "trueweave.toml").read_text() == written


def test_two_projects_of_one_name_have_a_workspace_each_and_name_files_from_their_folders(
    trueweave: Trueweave, tmp_path: Path
) -> None:
    def run(folder: Path, *words: str) -> str:
        return trueweave(*words, folder=folder).stdout

    for above, name in (("one", "my-notes-2024"), ("two", "my-notes-2024-2")):
        project = tmp_path / above / "My Notes (2024)"
        (project / "notes").mkdir(parents=True)
        (project / "notes" / "a.md").write_text(f"Ada Lovelace is in {above}.")
        assert f"Workspace {name} is ready" in run(project, "init")
        assert f'\nworkspace = "{name}"\n' in (project / "trueweave.toml").read_text()
        assert "1 document read, 1 new" in run(project / "notes", "add", "a.md")
    status = json.loads(run(project / "notes", "status", "--json"))
    assert (status["workspace"], status["documents"]) == ("my-notes-2024-2", 1)
    assert json.loads(run(project, "add", "notes", "--json"))["unchanged"] == 1


@pytest.mark.usefixtures("notes")
def test_an_index_follows_its_folder_and_what_goes_is_shown_first(trueweave: Trueweave, tmp_path: Path) -> None:
    trueweave("init")
    trueweave("add", "notes")
    (tmp_path / "notes" / "john.txt").unlink()
    (tmp_path / "notes" / "new.txt").write_text("Mary Somerville met John Herschel.")
    refused = trueweave("sync", "notes", code=1).stderr
    assert "1 new, 0 changed, 2 unchanged, 1 gone" in refused
    assert "1 document to be removed, whose files no longer exist:\n  notes/john.txt" in refused
    assert "Confirm with --yes" in refused
    synced = answer(trueweave("sync", "notes", "--yes", "--json"))
    assert (synced["new"], synced["removed"]) == (1, ["notes/john.txt"])
    assert "Up to date: 3 documents" in trueweave("sync", "notes").stdout


def test_a_file_that_cannot_be_read_is_in_the_exit_code(trueweave: Trueweave, notes: Path, broken: Path) -> None:
    trueweave("init")
    assert "3 documents read" in trueweave("add", "notes", code=1).stdout
    assert "Up to date: 3 documents" in trueweave("sync", "notes", code=1).stdout
    (notes / "new.txt").write_text("Mary Somerville met John Herschel.")
    assert "1 file could not be read" in trueweave("sync", "notes", code=1).stdout
    broken.unlink()
    assert "4 documents read" in trueweave("add", "notes").stdout  # the picture is skipped
    trueweave("sync", "notes")


def test_documents_come_and_go(trueweave: Trueweave, file: Path) -> None:
    trueweave("init", "--workspace", "acme")
    added = trueweave("add", file)
    assert "2 documents read, 2 new or changed." in added.stdout
    again = answer(trueweave("add", "./notes.jsonl", "--json"))
    assert (again["documents"], again["new"], again["unchanged"]) == (2, 0, 2)
    assert "[Mary] Somerville" in trueweave("entities").stdout
    removed = trueweave("remove", f"{file}#notes/2", "notes/9", code=1)
    assert removed.stdout == "1 document removed.\n"
    assert removed.stderr == "error: not found in workspace acme: notes/9\n"
    assert not any(answer(trueweave("sweep", "--json")).values()), "removing has forgotten its names already"
    status = answer(trueweave("status", "--json"))
    assert (status["documents"], status["entities"], status["relations"], status["waiting_documents"]) == (1, 2, 1, 0)


@pytest.mark.usefixtures("filled")
def test_a_rule_holds_until_it_is_undone(trueweave: Trueweave) -> None:
    rule = answer(trueweave("rules", "merge", "Ada Lovelace::person", "The Countess::person", "--json"))["rule"]
    assert rule["names"] == [{"name": "Ada Lovelace", "type": "person"}, {"name": "The Countess", "type": "person"}]
    assert answer(trueweave("entities", "--json", "--limit", "1"))["entities"][0]["aliases"] == ["The Countess"]
    assert "Undone: merge" in trueweave("rules", "undo", rule["id"][:8]).stdout
    assert answer(trueweave("entities", "--json", "--limit", "1"))["entities"][0]["aliases"] == []


@pytest.mark.usefixtures("filled")
def test_verify_finds_what_was_changed_by_hand(trueweave: Trueweave, url: str) -> None:
    assert "Exact: the index matches its 2 documents." in trueweave("verify").stdout
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE trueweave.relation SET weight = weight + 1")
    shown = trueweave("verify", code=1).stdout
    assert all(part in shown for part in ("section", "in the index", "rebuilt", "relations", '"worked with"'))
    found = answer(trueweave("verify", "--json", code=1))
    [difference] = found["differences"]
    assert not found["exact"]
    assert json.loads(difference["index"])[5] == json.loads(difference["rebuilt"])[5] + 1


def test_status_tells_which_documents_would_be_worked_otherwise_now(trueweave: Trueweave, tmp_path: Path) -> None:
    trueweave("init")
    (tmp_path / "a.md").write_text("Ada Lovelace met Charles Babbage.")
    trueweave("add", "a.md")
    assert "out of date" not in trueweave("status").stdout
    settings = tmp_path / "trueweave.toml"
    settings.write_text("max_chunk_size = 500\n" + settings.read_text())
    shown = trueweave("status").stdout
    assert "1 document worked by other settings (max_chunk_size)" in shown
    assert "Next: trueweave add PATH" in shown
    assert answer(trueweave("status", "--json"))["out_of_date"] == [{"documents": 1, "settings": ["max_chunk_size"]}]
    trueweave("add", "--refresh", "a.md")
    assert "out of date" not in trueweave("status").stdout


def test_another_embedding_model_takes_over_and_is_written_into_the_settings(
    trueweave: Trueweave, file: Path, tmp_path: Path
) -> None:
    with model_server() as url:
        settings = tmp_path / "trueweave.toml"
        settings.write_text(f'embedding_model = "vllm/old"\nembedding_url = "{url}"\n[prices]\n"vllm/x" = [1, 1]\n')
        trueweave("init")
        trueweave("add", file)
        settings.write_text(settings.read_text().replace("vllm/old", "vllm/new"))
        assert "Next: trueweave reembed vllm/new" in trueweave("status").stdout
        assert "`trueweave reembed vllm/new`" in trueweave("doctor", code=1).stdout
        file.write_text(file.read_text().replace("Babbage.", "Babbage!"))
        assert "`trueweave reembed MODEL`" in trueweave("add", file, code=1).stderr
        counted = answer(trueweave("reembed", "vllm/other", "--estimate", "--json"))
        assert counted["texts"] > 0
        done = trueweave("reembed", "vllm/other").stdout
        assert f"{counted['texts']} texts embedded by vllm/other" in done
        assert 'trueweave.toml now has embedding_model = "vllm/other".' in done
        assert settings.read_text().startswith('embedding_model = "vllm/other"\nembedding_url')
        trueweave("add", file)
        status = answer(trueweave("status", "--json"))
        assert (status["embedding_model"], status["waiting_documents"]) == ("vllm/other", 0)


@pytest.mark.usefixtures("filled")
def test_resolution_is_shown_and_changed(trueweave: Trueweave) -> None:
    assert trueweave("resolution").stdout.split() == ["mode", "exact", "threshold", "90", "same", "name_and_type"]
    assert answer(trueweave("resolution", "fuzzy", "--json"))["mode"] == "fuzzy"
    assert trueweave("resolution").stdout.split()[1] == "fuzzy"


@pytest.mark.usefixtures("filled")
def test_a_rule_says_which_names_it_met_and_which_it_waits_for(trueweave: Trueweave) -> None:
    said = trueweave("rules", "merge", "Ada Lovelace", "The Countess", "Lady Byron").stdout
    assert "In the documents now: Ada Lovelace (person), The Countess (person)." in said
    assert "No document mentions Lady Byron yet, written just so; the rule waits for one." in said
    assert answer(trueweave("entities", "--json", "--limit", "1"))["entities"][0]["aliases"] == ["The Countess"]


def test_alike_names_are_suggested_accepted_and_rejected(trueweave: Trueweave, tmp_path: Path) -> None:
    lines = [
        {"uri": name, "text": f"It was {name} who came.", "entities": [{"name": name, "type": "person"}]}
        for name in ("Paul Muller", "Paula Muller", "Marten Aldous", "Marten Aldouse")
    ]
    (tmp_path / "people.jsonl").write_text("\n".join(map(json.dumps, lines)))
    trueweave("init")
    trueweave("add", tmp_path / "people.jsonl")
    shown = trueweave("rules", "suggest").stdout
    assert "Paul Muller::person (1 mention)  |  Paula Muller::person (1 mention)  95.7 % alike" in shown
    assert "Paula Muller: It was Paula Muller who came." in shown
    first, second = answer(trueweave("rules", "suggest", "--json"))["suggestions"]
    assert first["one"]["name"]["name"].startswith("Marten")
    assert "are one entity now. Rule " in trueweave("rules", "accept", first["id"][:8]).stdout
    assert "not suggested again" in trueweave("rules", "reject", "2").stdout
    assert trueweave("rules", "suggest").stdout == "There is nothing to suggest.\n"
    [again] = answer(trueweave("rules", "suggest", "--rejected", "--json"))["suggestions"]
    assert again["id"] == second["id"]
    wrong = trueweave("rules", "accept", "7", code=1).stderr
    assert wrong.startswith("error: there is no suggestion '7' in the last list.")
    assert "No names are that alike." in trueweave("rules", "suggest", "--auto", "90").stdout


@pytest.mark.usefixtures("filled")
def test_a_workspace_is_dropped_only_when_that_is_confirmed(trueweave: Trueweave) -> None:
    assert "its 2 documents" in trueweave("workspace", "drop", "default", stdin="n\n", code=1).stderr
    assert answer(trueweave("workspace", "drop", "default", "--yes", "--json")) == {
        "dropped": "default",
        "documents": 2,
    }
    unknown = trueweave("status", code=1)
    assert unknown.stderr.startswith("error: there is no workspace 'default'. Run `trueweave init")


@pytest.mark.usefixtures("filled")
def test_a_broken_line_is_named_and_the_others_come_in(trueweave: Trueweave, file: Path) -> None:
    file.write_text("{broken\n" + file.read_text())
    done = answer(trueweave("add", file, "--json", code=1))
    assert f"{file}, line 1: " in done["refused"][0]["reason"]
    assert done["unchanged"] == 2


def test_an_unreachable_database_is_named_without_its_password(trueweave: Trueweave) -> None:
    done = trueweave("status", "--database-url", "postgresql://ada:secret@127.0.0.1:1/nowhere", code=1)
    assert done.stdout == ""
    assert done.stderr.startswith("error: cannot work with the database at 127.0.0.1:1/nowhere: ")
    assert "secret" not in done.stderr


def test_an_unknown_setting_is_named(trueweave: Trueweave, tmp_path: Path) -> None:
    (tmp_path / "trueweave.toml").write_text('databse_url = "x"')
    assert (
        f"error: {tmp_path / 'trueweave.toml'}: databse_url is not a setting. Did you mean database_url?"
        in trueweave("status", code=1).stderr
    )


# --- from files -----------------------------------------------------------------------------------------


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder with three documents and one file that nobody reads."""
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "ada.md").write_text("# Ada Lovelace\n\nAda Lovelace worked with Charles Babbage.\n")
    (folder / "mary.txt").write_text("Mary Somerville knew Ada Lovelace.")
    (folder / "john.txt").write_text("John Herschel knew Charles Babbage.")
    (folder / "portrait.webp").write_bytes(b"")
    return folder


@pytest.fixture
def broken(notes: Path) -> Path:
    """One more file, which cannot be read."""
    (notes / "old.txt").write_bytes("Это".encode("cp1251"))
    return notes / "old.txt"


def settle_for(tmp_path: Path, url: str, price: str = "[0.5, 2.0]", **more: object) -> None:
    """Set the model at that URL."""
    lines = [f'model = "{MODEL}"', f'model_url = "{url}"', *(f"{name} = {value}" for name, value in more.items())]
    prices = ["[prices]", f'"{MODEL}" = {price}'] if price else []
    (tmp_path / "trueweave.toml").write_text("\n".join([*lines, *prices]))


@pytest.mark.usefixtures("notes")
def test_settings_secrets_and_ignored_files_stay_out_of_the_index(trueweave: Trueweave, tmp_path: Path) -> None:
    trueweave("init")
    trueweave("add", "notes/ada.md")
    trueweave("graph", "show", "Ada Lovelace")
    (tmp_path / "id_rsa").write_text("Secret One lived in London.")
    (tmp_path / "setup.sh").write_text("export TOKEN=ghp_aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xY1zA2")
    (tmp_path / ".gitignore").write_text("drafts/\n")
    (tmp_path / "drafts").mkdir()
    (tmp_path / "drafts" / "draft.md").write_text("Draft Two lived in London.")
    planned = answer(trueweave("estimate", ".", "--json"))["skipped"]
    added = trueweave("add", ".").stdout
    assert "2 files skipped: Trueweave's own (graph.html, trueweave.toml)" in added
    assert "1 file skipped: named like a key or secret; --no-ignore reads them (id_rsa)" in added
    assert "1 file skipped: containing an access token; --no-ignore reads them (setup.sh)" in added
    assert "1 file skipped: ignored by .gitignore; --no-ignore reads them (drafts)" in added
    listed = {one["uri"] for one in answer(trueweave("documents", "--json"))["documents"]}
    assert all(uri.startswith("notes/") for uri in listed)
    assert answer(trueweave("sync", ".", "--json"))["skipped"] == planned
    assert answer(trueweave("add", ".", "--no-ignore", "--json"))["new"] == 3
    listed = {one["uri"] for one in answer(trueweave("documents", "--json"))["documents"]}
    assert {uri for uri in listed if not uri.startswith("notes/")} == {"drafts/draft.md", "id_rsa", "setup.sh"}


@pytest.mark.usefixtures("broken")
def test_a_folder_comes_in_without_any_model_and_what_was_left_out_is_told(trueweave: Trueweave) -> None:
    begun = trueweave("init").stdout
    assert re.search(r"extractor +capitals", begun)
    assert 'model = "ollama/' in begun
    added = trueweave("add", "notes", "notes/*.md", code=1).stdout
    assert "4 documents read, 3 new or changed." in added
    assert "1 file could not be read:\n  notes/old.txt is not UTF-8" in added
    assert "1 file skipped: there is no reader for .webp files" in added
    assert "Next: trueweave entities" in added
    again = answer(trueweave("add", "notes", "--json", code=1))
    assert (again["new"], again["unchanged"], again["waiting"], again["receipt"]) == (0, 3, 0, [])
    assert [one["path"] for one in again["unreadable"]] == ["notes/old.txt"]
    assert "Ada Lovelace" in trueweave("entities").stdout
    assert trueweave("remove", "notes/ada.md").stdout == "1 document removed.\n"


def test_a_text_on_stdin_is_a_document_of_the_name_that_it_is_given(trueweave: Trueweave) -> None:
    trueweave("init")
    trueweave("add", "-", "--uri", "today", stdin="Ada Lovelace met Mary Somerville.")
    assert answer(trueweave("status", "--json"))["documents"] == 1
    assert "needs a name" in trueweave("add", "-", stdin="Ada", code=1).stderr
    assert trueweave("remove", "today").stdout == "1 document removed.\n"


def test_when_nothing_can_be_read_the_exit_code_says_so(trueweave: Trueweave, broken: Path) -> None:
    trueweave("init")
    assert "0 documents read" in trueweave("add", broken, code=1).stdout
    assert "error: nowhere does not exist" in trueweave("add", "nowhere", code=1).stderr


@pytest.mark.usefixtures("notes")
def test_an_estimate_comes_first_and_a_receipt_last(trueweave: Trueweave, tmp_path: Path) -> None:
    with model_server() as url:
        settle_for(tmp_path, url)
        trueweave("init")
        estimate = answer(trueweave("estimate", "notes", "--json"))
        assert (estimate["documents"], estimate["calls"], estimate["unchanged"]) == (3, 3, 0)
        assert float(estimate["price"]) < float(estimate["most_price"])
        done = trueweave("add", "notes")
        assert "3 to openai/any" in done.stderr
        assert re.search(r"extract +openai/any +3 ", done.stdout)
        assert answer(trueweave("receipt", "--json"))["receipt"][0]["calls"] == 3
        assert len(answer(trueweave("receipt", "--by-document", "--json"))["documents"]) == 3
        assert "3 unchanged" in trueweave("estimate", "notes").stdout


@pytest.mark.usefixtures("notes")
def test_a_run_that_reached_its_budget_says_how_to_go_on_and_does(trueweave: Trueweave, tmp_path: Path) -> None:
    with model_server() as url:
        settle_for(tmp_path, url, calls_at_once=1)
        trueweave("init")
        stopped = trueweave("add", "notes", "--budget", "100 tokens", code=1)
        assert "0 documents added, 3 waiting." in stopped.stdout
        assert "error: the budget is reached" in stopped.stderr
        assert "To continue: trueweave add notes --budget '100 tokens'" in stopped.stderr
        status = answer(trueweave("status", "--json"))
        assert (status["waiting_to_be_worked"], status["budget"]["token_cap"]) == (3, None)
        trueweave("budget", "100 tokens")
        stopped = trueweave("add", "notes", "--budget", "900k tokens", code=1)
        assert "To continue: trueweave budget AMOUNT" in stopped.stderr
        assert "100 tokens left" in trueweave("budget").stdout
        assert "From now on: no limit." in trueweave("budget", "none").stdout
        assert answer(trueweave("add", "notes", "--json"))["came_in"] == 3


@pytest.mark.usefixtures("notes")
def test_a_budget_in_money_needs_a_price(trueweave: Trueweave, tmp_path: Path) -> None:
    settle_for(tmp_path, "http://127.0.0.1:9/v1", price="")
    trueweave("init")
    assert (
        "the price of openai/any is not known. Set it under [prices]"
        in trueweave("add", "notes", "--budget", "2", code=1).stderr
    )
    assert "is not a budget" in trueweave("budget", "500k", code=1).stderr


@pytest.mark.usefixtures("notes")
def test_documents_that_fail_for_good_are_set_aside_and_shown(trueweave: Trueweave, tmp_path: Path) -> None:
    with model_server("--fault", "wrong-schema:1") as url:
        settle_for(tmp_path, url, tries=1)
        trueweave("init")
        failed = trueweave("add", "notes", code=1)
        assert "3 documents failed:\n  notes/ada.md" in failed.stdout
        assert re.search(r"failed +3 documents", trueweave("status").stdout)
        assert "notes/mary.txt\n" in trueweave("status", "--failed").stdout
        assert "3 retried, 3 failed." in trueweave("retry", code=1).stdout
    with model_server() as url:
        settle_for(tmp_path, url)
        assert answer(trueweave("add", "notes", "--model", "openai/better", "--json"))["came_in"] == 3
    assert answer(trueweave("status", "--json"))["failed_documents"] == []
    assert "0 retried, 0 failed." in trueweave("retry").stdout


@pytest.mark.usefixtures("notes")
def test_a_wrong_key_stops_a_run_at_once_and_is_never_shown(
    trueweave: Trueweave, tmp_path: Path, environment: dict[str, str]
) -> None:
    environment["OPENAI_API_KEY"] = "sk-secret"
    with model_server("--fault", "bad-key:1") as url:
        settle_for(tmp_path, url)
        trueweave("init")
        done = trueweave("add", "notes", code=1)
        assert "Set OPENAI_API_KEY to a key that is valid" in done.stderr
        assert "trueweave doctor" in done.stderr
        checked = answer(trueweave("doctor", "--json", code=1))
        [wrong] = [check for check in checked["checks"] if check["ok"] is False]
        assert wrong["what"] == "openai/any answers"
        assert "sk-secret" not in done.stdout + done.stderr + json.dumps(checked)


def test_doctor_finds_all_well_and_names_what_is_not(trueweave: Trueweave, tmp_path: Path, url: str) -> None:
    trueweave("init")
    well = trueweave("doctor").stdout
    assert all(
        part in well
        for part in (
            "pgvector",
            "row-level security in force",
            "schema up to date",
            "Nothing is broken, but without an",
        )
    )
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert [extra for extra in extras if extra not in ("all", "desktop") and f"✓ {extra}: " not in well] == []
    sizes = "connections = 500\nworker_jobs = 7\nindex_memory_bytes = 104857600\n"
    (tmp_path / "trueweave.toml").write_text(f'{sizes}extractor = "nlp"\npipeline = "xx_missing"\nworkspace = "other"')
    broken = answer(trueweave("doctor", "--json", code=1))
    wrong = {check["what"]: check["fix"] for check in broken["checks"] if check["ok"] is False}
    assert wrong["workspace other"].startswith("Run `trueweave init --workspace other`")
    assert "spacy download xx_missing" in wrong["spaCy pipeline xx_missing"]
    assert wrong["connections of a process"].startswith("Lower connections")
    details = {check["what"]: check["detail"] for check in broken["checks"]}
    assert details["connections of a process"] == "up to 500; PostgreSQL accepts 197 over all processes"
    assert details["jobs of a worker"] == "up to 7 at once"
    assert details["memory to build an index"] == "100 MB; up to 4 are built at once"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA trueweave CASCADE")
    assert "Run `trueweave init` to make it" in trueweave("doctor", code=1).stdout
    away = trueweave("doctor", "--database-url", "postgresql://ada:secret@127.0.0.1:1/nowhere", code=1)
    assert "✗ database: 127.0.0.1:1/nowhere" in away.stdout
    assert "secret" not in away.stdout


@pytest.mark.parametrize("command", [("status",), ("ask", "Who?"), ("add", "notes"), ("doctor",), ("migrate",)])
def test_only_init_and_db_start_make_a_database(
    trueweave: Trueweave, environment: dict[str, str], notes: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    del environment["TRUEWEAVE_DATABASE_URL"]
    environment["TRUEWEAVE_DATA_DIRECTORY"] = str(tmp_path / "data")
    done = trueweave(*command, code=1)
    assert "there is no database yet in" in " ".join((done.stdout + done.stderr).split())
    assert "`trueweave init`" in done.stdout + done.stderr
    assert not (tmp_path / "data").exists()


@pytest.mark.usefixtures("notes")
def test_an_estimate_needs_no_key(trueweave: Trueweave) -> None:
    trueweave("init")
    counted = answer(trueweave("estimate", "notes", "--model", "openai/gpt-4o-mini", "--json"))
    assert (counted["model"], counted["calls"] > 0) == ("openai/gpt-4o-mini", True)
    assert "Set OPENAI_API_KEY" in trueweave("add", "notes", "--model", "openai/gpt-4o-mini", "--yes", code=1).stderr


@pytest.mark.usefixtures("notes")
@pytest.mark.parametrize("more", [(), ("--budget", "2.00"), ("--budget", "500k tokens")])
def test_a_mistyped_provider_is_named_with_and_without_a_budget(trueweave: Trueweave, more: tuple[str, ...]) -> None:
    trueweave("init")
    done = trueweave("add", "notes", "--model", "opnai/gpt-4o-mini", *more, code=1)
    assert "of a provider that Trueweave does not know: opnai" in " ".join(done.stderr.split())


def test_doctor_looks_at_the_settings_of_the_workspace(trueweave: Trueweave, url: str) -> None:
    trueweave("init")
    assert "settings of the workspace" not in trueweave("doctor").stdout
    trueweave("workspace", "settings", "extractor=nlp", "pipeline=xx_missing", "model=nowhere/any")
    told = trueweave("doctor", code=1).stdout
    assert "✓ settings of the workspace  extractor, model, pipeline" in told
    assert "✗ spaCy pipeline xx_missing" in told
    assert "✗ language model: nowhere/any" in told
    with psycopg.connect(url, autocommit=True) as connection:  # as another version of Trueweave may have left it
        connection.execute("""UPDATE trueweave.workspace SET settings = '{"colour": "red"}'""")
    checks = answer(trueweave("doctor", "--json", code=1))["checks"]
    [wrong] = [check for check in checks if check["ok"] is False]
    assert wrong["what"] == "settings of the workspace"
    assert "colour is not a setting of a workspace" in wrong["fix"]
    assert "`trueweave workspace settings --unset NAME` removes one" in wrong["fix"]
    trueweave("workspace", "settings", "--unset", "colour")
    assert "Nothing is broken, but without an embedding model" in trueweave("doctor").stdout


def test_doctor_names_what_packages_bring_along_and_cannot_be_loaded(
    trueweave: Trueweave, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "site" / "short_ones-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: short-ones\nVersion: 1\n")
    (info / "entry_points.txt").write_text(
        "[trueweave.methods]\nshortest = nowhere:Shortest\n[trueweave.loaders]\nnote = nowhere:Note\n"
    )
    monkeypatch.syspath_prepend(tmp_path / "site")
    registry._methods.cache_clear()
    try:
        trueweave("init")
        checks = answer(trueweave("doctor", "--json", code=1))["checks"]
        assert "shortest of the package short-ones cannot be loaded" in trueweave("methods").stdout
    finally:
        registry._methods.cache_clear()
    wrong = {check["what"]: check["fix"] for check in checks if check["ok"] is False}
    assert wrong.keys() == {"method shortest", "loader note"}
    assert wrong["loader note"].startswith("the loader note of the package short-ones cannot be loaded: nowhere:Note")


def test_a_workspace_has_settings_of_its_own(trueweave: Trueweave) -> None:
    trueweave("init", "--workspace", "acme")
    settings = ("workspace", "settings", "--workspace", "acme")
    assert "has no settings" in trueweave(*settings).stdout
    changed = trueweave(*settings, "max_gleaning=2", "model=vllm/any", 'entity_types={ship = "a vessel"}', "--json")
    own = {"max_gleaning": 2, "model": "vllm/any", "entity_types": {"ship": "a vessel"}}
    assert answer(changed) == {"workspace": "acme", "settings": own}
    assert re.search(r"model +vllm/any", trueweave(*settings).stdout)
    assert answer(trueweave(*settings, "--unset", "model", "--json"))["settings"].keys() == own.keys() - {"model"}
    assert "database_url is not a setting of a workspace" in trueweave(*settings, "database_url=x", code=1).stderr
    assert "Write NAME=VALUE" in trueweave(*settings, "model", code=1).stderr
    assert answer(trueweave("workspace", "settings", "--workspace", "acme", "--json"))["settings"]["max_gleaning"] == 2


def test_workspaces_are_listed(trueweave: Trueweave) -> None:
    trueweave("init", "--workspace", "acme")
    trueweave("init", "--workspace", "beta")
    assert [one["name"] for one in answer(trueweave("workspace", "list", "--json"))["workspaces"]] == ["acme", "beta"]
    assert re.search(r"acme +\d{4}-\d\d-\d\d +in the settings", trueweave("workspace", "list").stdout)


@pytest.mark.usefixtures("notes")
def test_a_worker_does_what_waits_and_stops_in_good_order(
    trueweave: Trueweave, tmp_path: Path, environment: dict[str, str]
) -> None:
    with model_server("--delay", "0.2") as url:
        settle_for(tmp_path, url)
        trueweave("init")
        trueweave("add", "notes", "--budget", "0tokens", code=1)
        trueweave("budget", "none")
        command = [str(PROGRAM), "worker", "--json"]
        with subprocess.Popen(command, cwd=tmp_path, env=environment, text=True, stdout=subprocess.PIPE) as process:
            end = time.monotonic() + 60
            while answer(trueweave("status", "--json"))["documents"] < 3 and time.monotonic() < end:
                time.sleep(0.2)
            process.send_signal(signal.SIGTERM)
            said, _ = process.communicate(timeout=60)
        assert process.returncode == 0
        assert json.loads(said)["documents"] == 3


@pytest.mark.usefixtures("notes")
def test_on_a_terminal_it_asks_first_shows_a_bar_and_ctrl_c_says_how_to_go_on(
    trueweave: Trueweave, tmp_path: Path, environment: dict[str, str]
) -> None:
    with model_server("--delay", "4") as url:  # so that Ctrl-C comes in time on a busy machine, too
        settle_for(tmp_path, url, calls_at_once=1)
        trueweave("init")
        assert "Continue? [y/N]" in typed(tmp_path, environment, ["add", "notes"], {"[y/N]": "n\n"}, 1)
        shown = typed(tmp_path, environment, ["add", "notes"], {"[y/N]": "y\n", " of 3 ": "\x03"}, 130)
        assert re.search(r"Adding .* of 3", shown)
        assert "What is done is kept." in shown
        assert "To continue: trueweave add notes" in shown
    with model_server() as url:
        settle_for(tmp_path, url, calls_at_once=1)
        rest = answer(trueweave("add", "notes", "--json"))
        assert rest["waiting"] == 0
        assert answer(trueweave("status", "--json"))["documents"] == 3


def test_prompts_are_listed_shown_and_written_to_a_folder_without_a_database(
    trueweave: Trueweave, environment: dict[str, str], tmp_path: Path
) -> None:
    environment["TRUEWEAVE_DATABASE_URL"] = "postgresql://nobody@127.0.0.1:1/nowhere"
    (tmp_path / "trueweave.toml").write_text('prompt_folder = "own"\n', "utf-8")
    assert "Wrote own/extract.md" in trueweave("prompts", "eject", "extract").stdout
    assert "already exists" in trueweave("prompts", "eject", "extract", code=1).stderr
    assert "Set prompt_folder" in trueweave("prompts", "eject", "glean", "--folder", "other").stdout
    built_in = trueweave("prompts", "show", "extract").stdout
    (tmp_path / "own" / "extract.md").write_text(f"Be brief.\n\n{built_in}", "utf-8")
    assert trueweave("prompts", "show", "extract").stdout == f"Be brief.\n\n{built_in}"
    assert trueweave("prompts", "show", "extract", "--built-in").stdout == built_in
    listed = {one["name"]: one for one in answer(trueweave("prompts", "list", "--json"))["prompts"]}
    assert [name for name, one in listed.items() if one["own"]] == ["extract"]
    assert listed["glean"]["placeholders"] == ["most"]
    (tmp_path / "own" / "glean.md").write_text("Again.", "utf-8")
    told = trueweave("prompts", "list", code=1).stdout
    assert re.search(r"^extract +your folder ", told, re.M)
    assert "own/glean.md: it lacks {most}. Its placeholders are {most}." in told
    assert "there is no prompt 'nope'" in trueweave("prompts", "show", "nope", code=1).stderr


def test_extraction_is_tried_on_one_chunk(trueweave: Trueweave, tmp_path: Path) -> None:
    trueweave("init")
    (tmp_path / "note.md").write_text("Ada Lovelace met Charles Babbage in London.", "utf-8")
    told = trueweave("try-extract", "note.md", "--extractor", "capitals").stdout
    assert re.search(r"^chunk +1 of 1, \d+ tokens, by structure$", told, re.M)
    assert re.search(r"^Kept: 3 entities, \d relations?$", told, re.M)
    assert re.search(r"^calls +0$", told, re.M)
    found = answer(trueweave("try-extract", "note.md", "--json"))
    assert {one["name"] for one in found["found"]["mentions"]} == {"Ada Lovelace", "Charles Babbage", "London"}
    assert "has no chunk 2" in trueweave("try-extract", "note.md", "--chunk", "2", code=1).stderr
    assert "no extractor 'nope'" in trueweave("try-extract", "note.md", "--extractor", "nope", code=1).stderr
    assert answer(trueweave("status", "--json"))["documents"] == 0


def test_a_trial_shows_prompt_and_reply(trueweave: Trueweave, tmp_path: Path) -> None:
    with model_server() as url:
        (tmp_path / "trueweave.toml").write_text(f'model = "vllm/any"\nmodel_url = "{url}"\n', "utf-8")
        trueweave("init")
        (tmp_path / "note.md").write_text("Ada Lovelace met Charles Babbage.", "utf-8")
        told = trueweave("try-extract", "note.md").stdout
    assert "Call 1: extract" in told
    assert "[system]\nYou turn a passage into a knowledge graph" in told
    assert '[reply]\n{"entities": [], "relations": []}' in told
    assert "Kept: 0 entities, 0 relations" in told


def test_an_empty_folder_says_why_nothing_was_read(trueweave: Trueweave, tmp_path: Path) -> None:
    trueweave("init")
    (tmp_path / "empty" / "inner").mkdir(parents=True)
    told = trueweave("add", "empty").stdout.splitlines()
    assert told[:2] == ["0 documents read, 0 new or changed.", "There are no files in empty."]
    (tmp_path / "empty" / "a.xyz").touch()
    told = trueweave("add", "empty").stdout.splitlines()
    assert told[1] == "1 file skipped: there is no reader for .xyz files (empty/a.xyz)"
