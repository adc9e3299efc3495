"""`trueweave db`: the bundled PostgreSQL, and the servers that workspaces are on."""

from __future__ import annotations

import typer

from trueweave.cli import db_servers
from trueweave.cli.options import Json
from trueweave.cli.render.lines import next_step
from trueweave.cli.reply import replying
from trueweave.cli.session import bundled, load_settings, start

app = typer.Typer(
    no_args_is_help=True, help="Start, stop and find the bundled PostgreSQL, and list the servers of all workspaces."
)
app.add_typer(db_servers.app, name="servers")


@app.command("start")
def start_server(json: Json = False) -> None:
    """Start the server; create it first if necessary."""
    from trueweave.store.postgres.connections import location

    with replying(json) as reply:
        chosen = bundled(load_settings())
        url = start(chosen, make=True)
        reply(
            {"running": True, "address": location(url), "directory": chosen.directory},
            f"PostgreSQL is running at {location(url)}, in {chosen.directory}.",
            next_step("trueweave db url", "prints its address with the password"),
        )


@app.command("stop")
def stop_server(json: Json = False) -> None:
    """Stop the server, and end all its connections."""
    with replying(json) as reply:
        chosen = bundled(load_settings())
        ran = chosen.running()
        chosen.stop()
        said = (
            "Stopped. It starts again when a command needs it."
            if ran
            else f"No server was running in {chosen.directory}."
        )
        reply({"running": False, "stopped": ran}, said)


@app.command("status")
def server_status(json: Json = False) -> None:
    """Show whether the server is running, and where."""
    from trueweave.store.postgres.connections import location

    with replying(json) as reply:
        chosen = bundled(load_settings())
        address = location(chosen.url) if chosen.running() else None
        said = (
            f"Running at {address}, in {chosen.directory}."
            if address
            else f"No server is running in {chosen.directory}."
        )
        reply(
            {"running": address is not None, "address": address, "directory": chosen.directory},
            said,
            *([] if address else [next_step("trueweave db start")]),
        )


@app.command("url")
def server_url(json: Json = False) -> None:
    """Print its address with the password: psql "$(trueweave db url)"."""
    with replying(json) as reply:
        url = bundled(load_settings()).url
        reply({"url": url}, url)
