"""Dockerfile and compose.yaml name what is there: commands, files, variables and paths of the server."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml  # type: ignore[import-untyped]

from trueweave import Settings
from trueweave.cli import app
from trueweave.core.settings import PREFIX
from trueweave.server.app import create_app

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
OURS = [name for name, service in COMPOSE["services"].items() if "build" in service]


def parsed(*words: str) -> None:
    """Parse a command without carrying it out."""
    command = typer.main.get_command(app)
    context = command.make_context("trueweave", list(words), resilient_parsing=False)
    name, sub, rest = command.resolve_command(context, list(words))  # type: ignore[attr-defined]
    assert sub is not None, words
    sub.make_context(name, rest, parent=context)


@pytest.mark.parametrize("name", [name for name in OURS if name != "cli"])
def test_commands_of_services_are_commands(name: str) -> None:
    parsed(*COMPOSE["services"][name]["command"])


def test_the_image_serves_by_a_command_that_there_is() -> None:
    [words] = re.findall(r"^CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)
    parsed(*yaml.safe_load(words))


def test_commands_in_the_comment_are_commands() -> None:
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    told = re.findall(r"docker compose run --rm cli ([^\n#]+)", text)
    assert len(told) == 2
    for line in told:
        parsed(*shlex.split(line))


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
    for line in re.findall(r"^COPY (?!--from)(.*) \S+$", DOCKERFILE, re.MULTILINE):
        assert all((ROOT / file).exists() for file in line.split()), line
