"""The `trueweave` command: parse, call the engine, show. Each command is a function of its own.

Modules here import the engine inside functions, as `trueweave --help` should not wait for it.
"""

import logging
from importlib.metadata import version
from typing import Annotated

import typer

from trueweave.cli import (
    add,
    ask,
    bench,
    communities,
    compare,
    database,
    doctor,
    estimate,
    index,
    methods,
    money,
    reembed,
    rules,
    suggestions,
    sync,
    worker,
    workspace_settings,
)
from trueweave.cli.output import make_stderr_safe

logging.getLogger("psycopg").addHandler(logging.NullHandler())  # commands say themselves why they wait

app = typer.Typer(
    help="A knowledge graph over your documents, kept exactly up to date, in PostgreSQL.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,  # a bug shows the plain traceback, without what variables hold
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


app.command()(database.init)
app.command()(add.add)
app.command()(sync.sync)
app.command()(ask.ask)
app.command()(compare.compare)
app.command()(methods.methods)
app.command()(bench.bench)
app.command()(estimate.estimate)
app.command()(index.remove)
app.command()(index.status)
app.command()(index.documents)
app.command()(money.receipt)
app.command()(money.budget)
app.command()(worker.worker)
app.command()(index.entities)
app.command()(doctor.doctor)
app.command()(reembed.reembed)
app.command()(index.retry)
app.command()(index.verify)
app.command()(index.sweep)
app.command()(rules.resolution)
app.add_typer(communities.app, name="communities")
rules.app.command()(suggestions.suggest)
rules.app.command()(suggestions.accept)
rules.app.command()(suggestions.reject)
app.add_typer(rules.app, name="rules")
app.add_typer(database.server, name="db")
database.workspaces.command("settings")(workspace_settings.settings)
app.add_typer(database.workspaces, name="workspace")
