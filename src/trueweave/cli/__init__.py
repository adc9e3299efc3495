"""The `trueweave` command: parse, call the engine, show. Each command has a file of its own, named after it, but for
those in `lookups`.

`render` has what several commands print. What else they share is in `options`, `session` (settings, database,
workspace), `reply` (text or JSON, errors, exit codes), `stopping`, `pricing`, `inputs`, `model_files`,
`questions`, `run_progress`, `worker_log` and `ingest_run`.

Modules here import the engine and progress bars inside functions, so that `trueweave --help` does not load them.
"""

import logging
from importlib.metadata import version
from typing import Annotated

import typer

from trueweave.cli import (
    add,
    ask,
    bench,
    budget,
    bulk,
    chat,
    communities,
    compare,
    db,
    demo,
    doctor,
    estimate,
    export,
    graph,
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
    resolution,
    retry,
    rules,
    serve,
    sources,
    status,
    sweep,
    sync,
    try_extract,
    ui,
    verify,
    worker,
    workspace,
)
from trueweave.cli.render.console import make_stderr_safe

logging.getLogger("psycopg").addHandler(logging.NullHandler())  # commands print the reason for a wait themselves

app = typer.Typer(
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


app.command()(init.init)
app.command()(demo.demo)
app.command()(migrate.migrate)
app.command()(add.add)
app.command()(bulk.bulk)
app.command()(sync.sync)
app.command()(ask.ask)
app.command()(chat.chat)
app.command()(compare.compare)
app.command()(methods.methods)
app.command()(bench.bench)
app.command()(estimate.estimate)
app.command("try-extract")(try_extract.try_extract)
app.command()(remove.remove)
app.command("import")(import_.import_)
app.command()(export.export)
app.command()(status.status)
app.command()(lookups.documents)
app.command()(lookups.document)
app.command()(lookups.entities)
app.command()(lookups.entity)
app.command()(lookups.relations)
app.command()(lookups.neighbours)
app.command()(lookups.path)
app.command()(receipt.receipt)
app.command()(budget.budget)
app.command()(worker.worker)
app.command()(serve.serve)
app.command()(ui.ui)
app.command()(doctor.doctor)
app.command()(reembed.reembed)
app.command()(retry.retry)
app.command()(verify.verify)
app.command()(sweep.sweep)
app.command()(resolution.resolution)
app.add_typer(graph.app, name="graph")
app.add_typer(models.app, name="models")
app.add_typer(communities.app, name="communities")
app.add_typer(rules.app, name="rules")
app.add_typer(sources.app, name="sources")
app.add_typer(project.app, name="project")
app.add_typer(prompts.app, name="prompts")
app.add_typer(db.app, name="db")
app.add_typer(mcp.app, name="mcp")
app.add_typer(workspace.app, name="workspace")
app.add_typer(keys.app, name="keys")
