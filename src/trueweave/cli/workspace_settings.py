"""`trueweave workspace settings`: what a workspace has of its own, kept in the database."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trueweave.cli.options import DatabaseUrl, Json, Workspace
from trueweave.cli.output import next_step, pairs, replying
from trueweave.cli.session import in_workspace, load_settings

if TYPE_CHECKING:
    from trueweave.engine import AsyncTrueweave

Changes = Annotated[
    list[str] | None,
    typer.Argument(metavar="NAME=VALUE", help="Settings to give the workspace, as in model=openai/some-model."),
]


def settings(
    changes: Changes = None,
    unset: Annotated[list[str] | None, typer.Option(help="A setting to take back; may be given again.")] = None,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Show or change the settings that a workspace has of its own.

    They are kept in the database and outweigh trueweave.toml and the environment, for all who work in the workspace.
    Values are written as in trueweave.toml, and texts need no quotes. Keys are never kept: model_key_variable,
    embedding_key_variable and reranker_key_variable name the environment variables that hold them.
    """
    with replying(json) as reply:
        loaded = load_settings(database_url, workspace)
        given = dict(map(_parsed, changes or ()))

        async def change(trueweave: AsyncTrueweave) -> dict[str, Any]:
            if given or unset:
                await trueweave.change_settings(given, unset or ())
            return trueweave.own_settings

        own = in_workspace(change, loaded)
        shown = pairs({name: str(value) for name, value in sorted(own.items())}) if own else _none(loaded.workspace)
        reply({"workspace": loaded.workspace, "settings": own}, shown)


def _none(workspace: str) -> Any:
    return next_step("trueweave workspace settings NAME=VALUE", f"{workspace} has none of its own")


def _parsed(given: str) -> tuple[str, Any]:
    """The name and the value of `NAME=VALUE`. What is no value of TOML is a text."""
    from trueweave.errors import ConfigError

    name, equals, value = (part.strip() for part in given.partition("="))
    if not equals or not name:
        raise ConfigError(f"{given!r} is no setting. Write NAME=VALUE, as in model=openai/some-model.")
    try:
        return name, tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return name, value
