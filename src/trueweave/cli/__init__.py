"""The `trueweave` command: parse, call the engine, show. Each command has a file of its own, named after it, but for
those in `lookups`.

`render` has what several commands print. What else they share is in `options`, `session` (settings, database,
workspace), `reply` (text or JSON, errors, exit codes), `stopping`, `pricing`, `inputs`, `model_files`,
`questions`, `run_progress`, `worker_log` and `ingest_run`.

A command's module is imported when the command is run. Modules here import the engine and progress bars inside
functions, so that `trueweave --help`, which imports all of them, does not load these.
"""

import logging
from collections import UserDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pkgutil import resolve_name
from typing import Annotated, Any, Protocol

import typer
from typer.core import TyperGroup

from trueweave.cli.render.console import make_stderr_safe

_SUMMARY = 200  # characters

logging.getLogger("psycopg").addHandler(logging.NullHandler())  # commands print the reason for a wait themselves


class _HelpFormatter(Protocol):
    """What is used of typer's formatter, which is in a private module of it."""

    def section(self, name: str) -> AbstractContextManager[None]: ...
    def write_dl(self, rows: Sequence[tuple[str, str]]) -> None: ...


# The commands as `trueweave --help` lists them, each with its module and what is in it: a function or a Typer.
_PANELS: Mapping[str, Mapping[str, str]] = {
    "Start": {
        "demo": "demo:demo",
        "init": "init:init",
        "add": "add:add",
        "ask": "ask:ask",
        "ui": "ui:ui",
        "settings": "settings:settings",
        "doctor": "doctor:doctor",
    },
    "Documents": {
        "sync": "sync:sync",
        "sources": "sources:app",
        "remove": "remove:remove",
        "off": "switch:off",
        "on": "switch:on",
        "history": "history:app",
        "diff": "diff:diff",
        "retry": "retry:retry",
        "estimate": "estimate:estimate",
        "import": "import_:import_",
        "export": "export:export",
        "bulk": "bulk:bulk",
    },
    "Questions": {
        "chat": "chat:chat",
        "compare": "compare:compare",
        "replay": "replay:replay",
        "watch": "watch:app",
        "methods": "methods:methods",
        "bench": "bench:app",
    },
    "What is in the index": {
        "status": "status:status",
        "documents": "lookups:documents",
        "document": "lookups:document",
        "entities": "lookups:entities",
        "entity": "lookups:entity",
        "relations": "lookups:relations",
        "neighbours": "lookups:neighbours",
        "path": "lookups:path",
        "conflicts": "conflicts:conflicts",
        "communities": "communities:app",
        "graph": "graph:app",
    },
    "Improve it": {
        "rules": "rules:app",
        "resolution": "resolution:resolution",
        "try-extract": "try_extract:try_extract",
        "prompts": "prompts:app",
        "models": "models:app",
        "reembed": "reembed:reembed",
        "vectors": "vectors:app",
    },
    "Run it for others": {
        "serve": "serve:serve",
        "worker": "worker:worker",
        "mcp": "mcp:app",
        "keys": "keys:app",
        "access": "access:app",
        "workspace": "workspace:app",
        "project": "project:app",
        "budget": "budget:budget",
        "receipt": "receipt:receipt",
    },
    "Database": {"db": "db:app", "migrate": "migrate:migrate", "verify": "verify:verify", "sweep": "sweep:sweep"},
}


class _Commands(UserDict[str, Any]):
    """The commands by name. Each is imported and built when it is first looked up: all of them take half of the time of
    `trueweave status --help`."""

    def __getitem__(self, name: str) -> Any:
        found = self.data[name]
        if isinstance(found, str):
            found = self.data[name] = _built(name, resolve_name(f"{__name__}.{found}"))
        return found


def _built(name: str, found: Callable[..., None] | typer.Typer) -> Any:
    """The command of this name, for a function or the Typer of a group."""
    around = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
    if isinstance(found, typer.Typer):
        around.add_typer(found, name=name)
    else:
        around.command(name)(found)
    return typer.main.get_group(around).commands[name]


class _Panels(TyperGroup):
    """Lists commands by panels, each with its whole summary."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        self.commands = _Commands({name: place for panel in _PANELS.values() for name, place in panel.items()})

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        """The names of the commands."""
        return list(self.commands)

    def format_commands(self, ctx: typer.Context, formatter: _HelpFormatter) -> None:  # type: ignore[override]
        for panel, commands in _PANELS.items():
            with formatter.section(panel):
                formatter.write_dl([(name, self.commands[name].get_short_help_str(_SUMMARY)) for name in commands])

    def invoke(self, ctx: typer.Context) -> object:  # type: ignore[override]
        try:
            return super().invoke(ctx)
        except typer.TyperException as error:
            refused = getattr(error, "ctx", None)  # the command that has no such option; none if a value is missing
            is_option = getattr(error, "option_name", "") == "--as-group"
            if is_option and refused is not None and not isinstance(refused.command, TyperGroup):
                refused.fail(
                    f"`{refused.command_path}` takes no --as-group. It changes the workspace, shows what is made from "
                    "all documents, or reads none, so it cannot show what a group can read. Run it without the option, "
                    f"which these commands take: {', '.join(_taking_groups(self))}."
                )
            raise


def _taking_groups(group: TyperGroup, before: str = "") -> Iterator[str]:
    """The commands that take --as-group."""
    for name, command in group.commands.items():
        if any(one.name == "as_group" for one in command.params):
            yield before + name
        if isinstance(command, TyperGroup):
            yield from _taking_groups(command, f"{before}{name} ")


app = typer.Typer(
    cls=_Panels,
    help="A knowledge graph over your documents, kept exactly up to date, in PostgreSQL.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,  # a bug prints a plain traceback, without the values of variables
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(version("trueweave"))
        raise typer.Exit


@app.callback()
def main(
    _: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """A knowledge graph over your documents, kept exactly up to date, in PostgreSQL."""
    make_stderr_safe()
