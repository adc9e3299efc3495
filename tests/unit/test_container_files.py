"""Dockerfile and compose files name what is there: commands, files, variables and paths of the server."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from tests.commands import parse_command
from trueweave import Settings
from trueweave.core.settings import PREFIX
from trueweave.server.app import create_app
from trueweave.server.routes import ui

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
OURS = [name for name, service in COMPOSE["services"].items() if "build" in service]
STORES: dict[str, dict[str, Any]] = {
    store: yaml.safe_load((ROOT / f"compose.{store}.yaml").read_text(encoding="utf-8"))["services"]
    for store in ("neo4j", "chroma")
}


@pytest.mark.parametrize("name", [name for name in OURS if name != "cli"])
def test_commands_of_services_are_commands(name: str) -> None:
    parse_command(*COMPOSE["services"][name]["command"])


@pytest.mark.parametrize("store", STORES)
def test_a_store_is_kept_up_to_date_and_asked(store: str) -> None:
    services = STORES[store]
    projector = services[f"{store}-projector"]
    parse_command(*projector["command"])
    assert projector["extends"] == {"file": "compose.yaml", "service": "worker"}
    assert services["server"]["environment"] == projector["environment"]
    variables = {name.removeprefix(PREFIX).lower(): value for name, value in projector["environment"].items()}
    assert getattr(Settings(database_url="postgresql://nobody@127.0.0.1/none", **variables), f"{store}_url")
    assert store in variables.values()


def test_the_image_serves_by_a_command_that_there_is() -> None:
    [words] = re.findall(r"^CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)
    parse_command(*yaml.safe_load(words))


def test_commands_in_the_comment_are_commands() -> None:
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    told = re.findall(r"docker compose run --rm cli ([^\n#]+)", text)
    assert len(told) == 2
    for line in told:
        parse_command(*shlex.split(line))


def test_health_is_asked_where_it_is_told() -> None:
    [path] = re.findall(r"http://127\.0\.0\.1:8000(/\w+)", DOCKERFILE)
    served = create_app(Settings(database_url="postgresql://nobody@127.0.0.1/none")).openapi()
    assert path in served["paths"]


def test_everything_runs_without_privileges_on_a_read_only_root() -> None:
    assert re.search(r"^USER [1-9]\d+$", DOCKERFILE, re.MULTILINE)
    for name in OURS:
        service = COMPOSE["services"][name]
        assert service["read_only"], name
        assert service["cap_drop"] == ["ALL"], name
        assert "/tmp" in service["tmpfs"], name
    assert all(port.startswith("127.0.0.1:") for one in COMPOSE["services"].values() for port in one.get("ports", ()))


def test_variables_are_settings_and_copied_files_are_there() -> None:
    for name in OURS:
        named = [one for one in COMPOSE["services"][name]["environment"] if one.startswith(PREFIX)]
        assert named, name
        assert {one.removeprefix(PREFIX).lower() for one in named} <= Settings.model_fields.keys()
    copied = re.findall(r"^COPY (?!--from)(?:--\S+ )?(.*) \S+$", DOCKERFILE, re.MULTILINE)
    assert all((ROOT / file).exists() for line in copied for file in line.split()), copied
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line.startswith("!")}
    assert kept == {
        file.partition("/")[0] if file.startswith("web/") else file for line in copied for file in line.split()
    }


def test_the_web_ui_is_copied_to_where_the_server_reads_it() -> None:
    [(version, path)] = re.findall(r"/opt/trueweave/lib/python([\d.]+)/site-packages/(\S+)$", DOCKERFILE, re.MULTILINE)
    assert set(re.findall(r"^FROM python:([\d.]+)-", DOCKERFILE, re.MULTILINE)) == {version}
    assert ROOT / "src" / path == Path(ui.__file__).parents[1] / "web" / "ui"
