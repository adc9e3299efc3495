"""Where a setting comes from, and what is said about one that makes no sense."""

import os
import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from trueweave import Settings
from trueweave.core.settings import change_file, check_setting, find_file, workspace_name, write_file
from trueweave.errors import ConfigError

URL = "postgresql://ada:secret@db.example:5432/trueweave"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with no settings but those that a test makes."""
    for variable in [name for name in os.environ if name.upper().startswith("TRUEWEAVE_")]:
        monkeypatch.delenv(variable)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_defaults_need_no_file() -> None:
    assert find_file() is None
    found = Settings.load()
    assert (found.database_url, found.workspace, found.data_directory, found.model) == (None, "default", None, None)


def test_the_caller_outweighs_the_environment_and_that_the_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "trueweave.toml").write_text('workspace = "file"')
    assert Settings.load().workspace == "file"
    monkeypatch.setenv("TRUEWEAVE_WORKSPACE", "environment")
    assert Settings.load().workspace == "environment"
    assert Settings.load(workspace="caller").workspace == "caller"
    monkeypatch.setenv("TRUEWEAVE_WORKSPACE", "")
    assert Settings.load().workspace == "file"


def test_the_nearest_file_above_counts_unless_another_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "trueweave.toml").write_text('workspace = "above"\ndata_directory = "data"')
    (folder / "other.toml").write_text('workspace = "named"')
    (folder / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(folder / "a" / "b")
    assert Settings.load().workspace == "above"
    assert Settings.load().data_directory == folder / "data"
    monkeypatch.setenv("TRUEWEAVE_CONFIG", "../../other.toml")
    assert Settings.load().workspace == "named"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "workspce = 'x'",
            r"trueweave\.toml: workspce is not a setting\. Did you mean workspace\?",
        ),
        ("workspace = = 3", r"trueweave\.toml is not valid TOML: .*line 1"),
        ("workspace = 3", r"workspace \(in .*trueweave\.toml\): Input should be a valid string"),
        ("database_url = 'mysql://x'", r"database_url \(in .*trueweave\.toml\): must look like postgresql://"),
    ],
)
def test_a_file_that_makes_no_sense_is_named(folder: Path, text: str, message: str) -> None:
    (folder / "trueweave.toml").write_text(text)
    with pytest.raises(ConfigError, match=message):
        Settings.load()


def test_a_variable_that_makes_no_sense_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRUEWEAVE_DATABASE_URL", "db.example")
    with pytest.raises(ConfigError, match=r"database_url \(in TRUEWEAVE_DATABASE_URL\): must look like"):
        Settings.load()
    monkeypatch.setenv("TRUEWEAVE_CONFIG", "missing.toml")
    with pytest.raises(ConfigError, match=r"TRUEWEAVE_CONFIG names missing\.toml, which does not exist"):
        Settings.load()


def test_a_written_file_says_what_was_given_and_is_never_overwritten(folder: Path) -> None:
    file = folder / "trueweave.toml"
    write_file(file, database_url=URL, workspace='the "first"')
    assert file.stat().st_mode & 0o777 == 0o600
    assert Settings.load() == Settings.load(database_url=URL, workspace='the "first"')
    assert len(file.read_text().splitlines()) <= 20
    with pytest.raises(ConfigError, match="File exists"):
        write_file(file)


def test_every_line_of_a_written_file_is_valid_when_uncommented(folder: Path) -> None:
    file = folder / "trueweave.toml"
    write_file(file)
    text = file.read_text()
    lines = re.findall(r"^# (\w+ = .*)$", text, re.MULTILINE)
    assert [one.partition(" = ")[0] for one in lines] == ["database_url", "workspace", "model", "embedding_model"]
    for one in lines:
        file.write_text(one)
        assert getattr(Settings.load(), one.partition(" = ")[0]) is not None


@pytest.mark.parametrize("name", Settings.model_fields)
def test_the_example_of_every_setting_is_valid(name: str) -> None:
    field = Settings.model_fields[name]
    for example in field.examples or ():
        check_setting(name, example)


def test_every_setting_has_a_line_of_help_and_hides_its_password() -> None:
    assert all(field.description for field in Settings.model_fields.values())
    assert ":secret@" in URL
    assert ":secret@" not in repr(Settings.load(database_url=URL))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('embedding_model = "a"\n[prices]\n', 'embedding_model = "b"\n[prices]\n'),
        ('# embedding_model = "a"\nmodel = "c"\n', 'embedding_model = "b"\nmodel = "c"\n'),
        ('# embedding_model = "a"\nembedding_model = "c"\n', '# embedding_model = "a"\nembedding_model = "b"\n'),
        ('a = 1\n[prices]\nembedding_model = [1]\n', 'a = 1\nembedding_model = "b"\n[prices]\nembedding_model = [1]\n'),
        ("", 'embedding_model = "b"\n'),
    ],
)  # fmt: skip
def test_one_setting_is_changed_and_all_else_in_the_file_stays(tmp_path: Path, before: str, after: str) -> None:
    file = tmp_path / "trueweave.toml"
    file.write_text(before)
    file.chmod(0o600)
    change_file(file, "embedding_model", "b")
    assert file.read_text() == after
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_setting_is_removed_from_a_file_and_one_on_several_lines_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "trueweave.toml"
    file.write_text('# model = "a"\nmodel = "b"\nentity_types = [\n  "person",\n]\n')
    change_file(file, "model", None)
    after = '# model = "a"\nentity_types = [\n  "person",\n]\n'
    assert file.read_text() == after
    with pytest.raises(ConfigError, match="entity_types on several lines"):
        change_file(file, "entity_types", ["place"])
    assert file.read_text() == after


def test_a_misspelt_setting_is_told_with_the_one_that_was_meant(folder: Path) -> None:
    (folder / "trueweave.toml").write_text('modle = "ollama/a"\n')
    with pytest.raises(ConfigError, match=r"modle is not a setting\. Did you mean model\?"):
        Settings.load()


# --- a project ------------------------------------------------------------------------------------------


def test_a_folder_whose_settings_name_no_workspace_has_one_that_no_other_folder_has(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = set()
    for above in ("one", "two"):
        (folder / above / "notes" / "sub").mkdir(parents=True)
        (folder / above / "notes" / "trueweave.toml").touch()
        for here in (folder / above / "notes", folder / above / "notes" / "sub"):
            monkeypatch.chdir(here)
            names.add(Settings.load().workspace)
            assert Settings.load().project_folder == folder / above / "notes"
    assert len(names) == 2
    assert all(name.startswith("notes-") for name in names)


def test_the_project_s_folder_can_be_another(folder: Path) -> None:
    (folder / "trueweave.toml").write_text('project_folder = "texts"')
    assert Settings.load().project_folder == folder / "texts"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Notes", "notes"),
        ("My Notes (2024)", "my-notes-2024"),
        ("Bücher/東京", "dongjing"),
        ("…", "project"),
        ("x" * 99, "x" * 40),
    ],
)
def test_a_workspace_is_named_after_its_folder(name: str, expected: str) -> None:
    assert workspace_name(Path(name)) == expected


def test_servers_have_names_and_addresses_or_variables_that_hold_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EAST_OWNER_URL", "postgresql://owner@east/db")
    settings = Settings(
        server_urls={"east": "postgresql://app@pooler/db", "west": "WEST_URL"},
        direct_server_urls={"east": "postgresql://app@east/db"},
        owner_server_urls={"east": "EAST_OWNER_URL"},
    )
    east = settings.server("east")
    assert east == ("postgresql://app@pooler/db", "postgresql://app@east/db", "postgresql://owner@east/db")
    assert "pooler" not in repr(settings)
    with pytest.raises(ConfigError, match=r"west from the environment variable WEST_URL, which is not set"):
        settings.server("west")
    monkeypatch.setenv("WEST_URL", "postgresql://app@west/db")
    assert settings.server("west") == ("postgresql://app@west/db", None, "postgresql://app@west/db")
    with pytest.raises(ConfigError, match="no server 'north'"):
        settings.server("north")
    for wrong in ({"home": "EAST_URL"}, {"East": "EAST_URL"}, {"east": "https://east"}):
        with pytest.raises(ValidationError):
            Settings(server_urls=wrong)
