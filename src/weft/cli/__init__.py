"""The `weft` command: parse, call the engine, show. Each command is a function of its own."""

import typer

from weft.cli import database, documents, index, rules

app = typer.Typer(
    help="A knowledge graph over your documents, kept exactly up to date, in PostgreSQL.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,  # a bug shows the plain traceback, without what variables hold
)

app.command()(database.init)
app.command()(documents.add)
app.command()(documents.remove)
app.command()(index.status)
app.command()(index.entities)
app.command()(index.verify)
app.command()(index.sweep)
app.command()(rules.resolution)
app.add_typer(rules.app, name="rule")
app.add_typer(database.server, name="db")
app.add_typer(database.workspaces, name="workspace")
