"""The `trueweave` command: parse, call the engine, show. Each command has a file of its own, named after it, but for
those in `lookups`.

`render` has what several commands print. What else they share is in `options`, `session` (settings, database,
workspace), `reply` (text or JSON, errors, exit codes), `stopping`, `pricing`, `inputs`, `model_files`,
`questions`, `run_progress`, `worker_log` and `ingest_run`.

Modules here import the engine and progress bars inside functions, so that `trueweave --help` does not load them.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from importlib.metadata import version
from typing import Annotated, Protocol

import typer
from typer.core import TyperGroup

from trueweave.cli import (
    access,
    add,
    ask,
    bench,
    budget,
    bulk,
    chat,
    communities,
    compare,
    conflicts,
    db,
    demo,
    diff,
    doctor,
    estimate,
    export,
    graph,
    history,
    import_,
    init,
    keys,
    lookups,
    mcp,
    methods,
    migrate,
    models,
    project,
    prompts,
    receipt,
    reembed,
    remove,
    replay,
    resolution,
    retry,
    rules,
    serve,
    settings,
    sources,
    status,
    sweep,
    switch,
    sync,
    try_extract,
    ui,
    vectors,
    verify,
    worker,
    workspace,
)
from trueweave.cli.render.console import make_stderr_safe

_SUMMARY = 200  # characters

logging.getLogger("psycopg").addHandler(logging.NullHandler())  # commands print the reason for a wait themselves


class _HelpFormatter(Protocol):
    """What is used of typer's formatter, which is in a private module of it."""

    def section(self, name: str) -> AbstractContextManager[None]: ...
    def write_dl(self, rows: Sequence[tuple[str, str]]) -> None: ...


class _Panels(TyperGroup):
    """Lists commands by panels, each with its whole summary."""

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


# The commands as `trueweave --help` lists them.
_PANELS: Mapping[str, Mapping[str, Callable[..., None] | typer.Typer]] = {
    "Start": {
        "demo": demo.demo,
        "init": init.init,
        "add": add.add,
        "ask": ask.ask,
        "ui": ui.ui,
        "settings": settings.settings,
        "doctor": doctor.doctor,
    },
    "Documents": {
        "sync": sync.sync,
        "sources": sources.app,
        "remove": remove.remove,
        "off": switch.off,
        "on": switch.on,
        "history": history.app,
        "diff": diff.diff,
        "retry": retry.retry,
        "estimate": estimate.estimate,
        "import": import_.import_,
        "export": export.export,
        "bulk": bulk.bulk,
    },
    "Questions": {
        "chat": chat.chat,
        "compare": compare.compare,
        "replay": replay.replay,
        "methods": methods.methods,
        "bench": bench.app,
    },
    "What is in the index": {
        "status": status.status,
        "documents": lookups.documents,
        "document": lookups.document,
        "entities": lookups.entities,
        "entity": lookups.entity,
        "relations": lookups.relations,
        "neighbours": lookups.neighbours,
        "path": lookups.path,
        "conflicts": conflicts.conflicts,
        "communities": communities.app,
        "graph": graph.app,
    },
    "Improve it": {
        "rules": rules.app,
        "resolution": resolution.resolution,
        "try-extract": try_extract.try_extract,
        "prompts": prompts.app,
        "models": models.app,
        "reembed": reembed.reembed,
        "vectors": vectors.app,
    },
    "Run it for others": {
        "serve": serve.serve,
        "worker": worker.worker,
        "mcp": mcp.app,
        "keys": keys.app,
        "access": access.app,
        "workspace": workspace.app,
        "project": project.app,
        "budget": budget.budget,
        "receipt": receipt.receipt,
    },
    "Database": {"db": db.app, "migrate": migrate.migrate, "verify": verify.verify, "sweep": sweep.sweep},
}
for _commands in _PANELS.values():
    for _name, _command in _commands.items():
        if isinstance(_command, typer.Typer):
            app.add_typer(_command, name=_name)
        else:
            app.command(_name)(_command)
