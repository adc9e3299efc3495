"""`trueweave prompts`: list or show prompts, or copy a built-in prompt to a folder to edit it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from trueweave.cli.options import Json
from trueweave.cli.render.lines import next_step, path_from_here, warning
from trueweave.cli.render.tables import TextTable, table
from trueweave.cli.reply import replying
from trueweave.cli.session import load_settings
from trueweave.core.errors import ConfigError

if TYPE_CHECKING:
    from trueweave.models.prompts import Template

app = typer.Typer(no_args_is_help=True, help="List or show prompts, or copy one to a folder to edit it.")

_Name = Annotated[str, typer.Argument(metavar="NAME", help="The prompt, such as extract.")]


@app.command("list")
def list_(json: Json = False) -> None:
    """List all prompts, their placeholders, and which are your own.

    No database is needed. Exits with 1 when one of your prompts cannot be used.
    """
    from trueweave.models import prompts

    with replying(json) as reply:
        folder = load_settings().prompt_folder
        found = dict(prompts.read_folder(folder)) if folder else {}
        own = {file.stem: one for file, one in found.items() if not isinstance(one, ConfigError)}
        broken = {str(file): str(one) for file, one in found.items() if isinstance(one, ConfigError)}
        all_ = [own.get(name) or prompts.load(name) for name in prompts.names()]
        reply(
            {
                "folder": str(folder) if folder else None,
                "prompts": [_listed(one, is_own=one.name in own) for one in all_],
                "broken": broken,
            },
            _prompt_table(all_, own),
            "",
            *map(warning, broken.values()),
            next_step("trueweave prompts eject NAME", "copies one to a folder, to edit it"),
        )
        if broken:
            raise typer.Exit(1)


@app.command()
def show(
    name: _Name,
    built_in: Annotated[
        bool, typer.Option("--built-in", help="Show the built-in prompt, even if you have your own.")
    ] = False,
    json: Json = False,
) -> None:
    """Show the text of a prompt. No database is needed."""
    from trueweave.models.prompts import BUILT_IN, PromptSet

    with replying(json) as reply:
        _check_name(name)
        folder = None if built_in else load_settings().prompt_folder
        known = PromptSet.from_folder(folder) if folder else BUILT_IN
        found = known.load(name)
        reply({**_listed(found, is_own=name in known.own), "text": found.text}, Text(found.text))


@app.command()
def eject(
    name: _Name,
    folder: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="The folder. Default: the one in the settings.")
    ] = None,
    json: Json = False,
) -> None:
    """Copy a built-in prompt to a folder, to edit it.

    Without --folder, the folder is prompt_folder of the settings, or "prompts" beside trueweave.toml. An existing file
    is not overwritten.
    """
    from trueweave.models.prompts import ENDING, load

    with replying(json) as reply:
        _check_name(name)
        chosen = (folder or load_settings().prompt_folder or _beside_settings()).absolute()
        file = chosen / f"{name}{ENDING}"
        try:
            chosen.mkdir(parents=True, exist_ok=True)
            with file.open("x", encoding="utf-8") as opened:
                opened.write(load(name).text + "\n")
        except FileExistsError as error:
            raise ConfigError(f"{file} already exists. Edit it, or remove it first.") from error
        except OSError as error:
            raise ConfigError(f"cannot write {file}: {error.strerror}. Name another folder with --folder.") from error
        in_force = load_settings().prompt_folder
        is_set = in_force is not None and in_force.absolute() == chosen
        reply(
            {"name": name, "file": str(file), "in_force": is_set},
            f"Wrote {path_from_here(file)}",
            *([] if is_set else [f'Set prompt_folder = "{path_from_here(chosen)}" in trueweave.toml to use it.']),
            next_step("trueweave prompts list", "checks it after your changes"),
        )


def _beside_settings() -> Path:
    from trueweave.core.settings import find_file

    file = find_file()
    return (file.parent if file else Path.cwd()) / "prompts"


def _check_name(name: str) -> None:
    from trueweave.models.prompts import names

    if name not in names():
        raise ConfigError(f"there is no prompt {name!r}. There are {', '.join(names())}.")


def _listed(one: Template, *, is_own: bool) -> dict[str, object]:
    return {"name": one.name, "own": is_own, "version": one.version, "placeholders": list(one.placeholders)}


def _prompt_table(found: Sequence[Template], own: Collection[str]) -> TextTable:
    """Prompts with where they are from, their version and what stands in for what."""
    made = table("prompt", "from", "version", "placeholders")
    for one in found:
        placeholders = " ".join(f"{{{name}}}" for name in one.placeholders)
        made.add_row(one.name, "your folder" if one.name in own else "built in", one.version, placeholders)
    return made
