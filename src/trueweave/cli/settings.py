"""`trueweave settings`: list, explain and set settings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trueweave.cli.inputs import toml_value
from trueweave.cli.options import Json
from trueweave.cli.render.lines import next_step, path_from_here, warning
from trueweave.cli.render.tables import pairs, table
from trueweave.cli.reply import CommandReply, replying

if TYPE_CHECKING:
    from rich.console import RenderableType

    from trueweave.core.settings import SettingValue

_HIDDEN = "(hidden)"


def settings(
    name: Annotated[str | None, typer.Argument(help="A setting, such as model.")] = None,
    value: Annotated[str | None, typer.Argument(help="Its new value. Texts need no quotes.")] = None,
    unset: Annotated[bool, typer.Option("--unset", help="Remove the setting from trueweave.toml.")] = False,
    all: Annotated[bool, typer.Option("--all", help="Also list settings that have their default.")] = False,
    json: Json = False,
) -> None:
    """List settings, explain one, or set one in trueweave.toml.

    Without arguments, the settings that differ from the default are listed, with where they come from. The workspace
    may override them: see `trueweave workspace settings`.
    """
    from trueweave.core.errors import ConfigError
    from trueweave.core.settings import Settings, unknown, values_here

    with replying(json) as reply:
        if name is not None and name not in Settings.model_fields:
            raise ConfigError(unknown([name]))
        if name is not None and (value is not None or unset):
            _change(reply, name, None if unset else toml_value(value or ""))
        elif name is not None:
            _explain(reply, name, values_here()[name])
        else:
            _list(reply, values_here(), all=all)


def _list(reply: CommandReply, found: dict[str, SettingValue], *, all: bool) -> None:
    from trueweave.core.settings import Settings

    listed = {name: one for name, one in found.items() if all or one.origin}
    rows = [
        (
            name,
            _shown(name, one.value),
            str(Settings.model_fields[name].description) if all else _place(one.origin),
        )
        for name, one in listed.items()
    ]
    left = len(found) - len(listed)
    reply(
        {name: {"value": _plain(name, one.value), "from": one.origin or None} for name, one in listed.items()},
        table("setting", *(("~value", "~what it is") if all else ("value", "from")), rows=rows)
        if rows
        else "No setting is set here.",
        *([next_step("trueweave settings --all", f"{left} more have their default")] if left else []),
        next_step("trueweave settings NAME", "explains one", heading="Also"),
    )


def _explain(reply: CommandReply, name: str, found: SettingValue) -> None:
    from trueweave.core.settings import PREFIX, PROCESS_WIDE, Settings

    field = Settings.model_fields[name]
    default = field.get_default(call_default_factory=True)
    about = {
        "value": f"{_shown(name, found.value)}  ({_place(found.origin) or 'the default'})",
        **({"default": _shown(name, default)} if found.origin else {}),
        **({"example": _shown(name, field.examples[0])} if field.examples else {}),
        "environment": f"{PREFIX}{name.upper()}",
        "workspaces": "the same for all" if name in PROCESS_WIDE else "each may have its own",
    }
    reply(
        {"name": name, "about": field.description, "value": _plain(name, found.value), "from": found.origin or None},
        str(field.description),
        pairs(about),
        next_step(f"trueweave settings {name} VALUE", "sets it in trueweave.toml", heading="To change it"),
    )


def _change(reply: CommandReply, name: str, value: object) -> None:
    from trueweave.core.errors import ConfigError
    from trueweave.core.settings import FILE, change_file, check_setting, find_file, line, overriding_variable

    file = find_file()
    if file is None:
        raise ConfigError(f"there is no {FILE} here. Run `trueweave init` first.")
    if isinstance(value, dict):
        raise ConfigError(f"{name} is a table of {file.name}, which must be changed there by hand.")
    if value is not None:
        check_setting(name, value)
    change_file(file, name, value)
    said: list[RenderableType] = [
        f"{path_from_here(file)} no longer has {name}."
        if value is None
        else f"{path_from_here(file)} now has {line(name, _HIDDEN if _is_hidden(name) else value)}."
    ]
    if variable := overriding_variable(name):
        said.append(warning(f"The environment variable {variable} overrides it here."))
    reply({"name": name, "value": None if _is_hidden(name) else value, "file": file}, *said)


def _place(origin: str) -> str:
    return str(path_from_here(Path(origin))) if "/" in origin or "\\" in origin else origin


def _is_hidden(name: str) -> bool:
    """Whether the value may hold a password."""
    from trueweave.core.settings import Settings

    return not Settings.model_fields[name].repr


def _plain(name: str, value: Any) -> Any:
    return _HIDDEN if value and _is_hidden(name) else value


def _shown(name: str, value: Any) -> str:
    found = _plain(name, value)
    if found in (None, (), {}, []):
        return "none"
    if isinstance(found, bool):
        return str(found).lower()
    if isinstance(found, dict):
        found = [f"{key}: {one}" for key, one in found.items()]
    return ", ".join(map(str, found)) if isinstance(found, list | tuple) else str(found)
