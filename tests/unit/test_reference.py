"""The reference names every setting, command, option, method, endpoint, event and error."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from trueweave import Settings, errors, events
from trueweave.cli import app
from trueweave.events import Event, Listener
from trueweave.retrieval.methods import registry
from trueweave.server.app import create_app

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"


def sections(page: str) -> dict[str, str]:
    """The text of each section of a page, by its heading without backticks."""
    parts = re.split(r"^#{2,3} (.+)$", (REFERENCE / page).read_text("utf-8"), flags=re.MULTILINE)
    return {heading.strip("`"): text for heading, text in zip(parts[1::2], parts[2::2], strict=True)}


def commands(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    """Each command by its words; those without commands below them."""
    below = getattr(command, "commands", {})
    for word, one in below.items():
        if not one.hidden:
            yield from commands(f"{name} {word}", one)
    if not below:
        yield name, command


def test_every_setting_is_in_the_reference() -> None:
    listed = re.findall(r"^\| `(\w+)` \|", (REFERENCE / "settings.md").read_text("utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(Settings.model_fields)


def test_every_command_and_option_is_in_the_reference() -> None:
    described = sections("commands.md")
    found = dict(commands("trueweave", typer.main.get_command(app)))
    assert len(found) > 45
    assert found.keys() <= described.keys()
    for name, command in found.items():
        options = {one for parameter in command.params for one in parameter.opts if one.startswith("--")}
        missing = [one for one in options - {"--help"} if one not in described[name]]
        assert not missing, (name, missing)


def test_every_method_and_its_parameters_are_in_the_reference() -> None:
    described = sections("methods.md")
    assert described.keys() == set(registry.names())
    for name in registry.names():
        missing = [one.name for one in registry.describe(name).parameters if f"`{one.name}`" not in described[name]]
        assert not missing, (name, missing)


def test_every_endpoint_is_in_the_reference() -> None:
    paths = create_app(Settings(database_url="postgresql://nobody@127.0.0.1/none")).openapi()["paths"]
    endpoints = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    assert len(endpoints) > 60
    assert endpoints <= sections("rest.md").keys()


def test_every_event_and_error_is_in_the_reference() -> None:
    classes = {name for name in events.__all__ if getattr(events, name) not in (Event, Listener)}
    assert classes == sections("events.md").keys()
    assert set(errors.__all__) == sections("errors.md").keys()
