"""`trueweave settings` and the list of commands, as a user has them."""

from pathlib import Path

from tests.e2e.conftest import Trueweave, answer

FILE = "trueweave.toml"


def test_settings_are_listed_explained_set_and_removed(trueweave: Trueweave, tmp_path: Path) -> None:
    refused = trueweave("settings", "model", "ollama/any", code=1)
    assert f"there is no {FILE} here. Run `trueweave init` first." in refused.stderr
    (tmp_path / FILE).write_text('workspace = "mine"\n')
    listed = answer(trueweave("settings", "--json"))
    assert listed["workspace"] == {"value": "mine", "from": str(tmp_path / FILE)}
    assert listed["database_url"] == {"value": "(hidden)", "from": "TRUEWEAVE_DATABASE_URL"}
    assert "model" not in listed
    assert "model" in answer(trueweave("settings", "--all", "--json"))

    assert f'{FILE} now has model = "ollama/any".' in trueweave("settings", "model", "ollama/any").stdout
    explained = trueweave("settings", "model").stdout
    assert "The language model, as provider/model." in explained
    assert f"ollama/any  ({FILE})" in explained
    assert "cannot be set to that" in trueweave("settings", "max_chunk_size", "many", code=1).stderr
    assert "Did you mean model?" in trueweave("settings", "modle", code=1).stderr
    overridden = trueweave("settings", "database_url", "postgresql://me:secret@here/it").stdout
    assert "The environment variable TRUEWEAVE_DATABASE_URL overrides it here." in overridden
    assert "secret" not in overridden
    trueweave("settings", "database_url", "--unset")
    assert (tmp_path / FILE).read_text() == 'workspace = "mine"\nmodel = "ollama/any"\n'


def test_all_commands_are_listed_in_groups_with_whole_summaries(trueweave: Trueweave) -> None:
    shown = trueweave("--help").stdout
    assert "Start:\n  demo" in shown
    assert "…" not in shown
    assert "..." not in shown.partition("Start:")[2]
