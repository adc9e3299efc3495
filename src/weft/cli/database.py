"""`weft init`, `weft db` and `weft workspace`: where the index lives."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weft.cli.options import DatabaseUrl, Json, Workspace
from weft.cli.output import count, next_step, replying
from weft.cli.session import bundled, in_workspace, place, start
from weft.config import FILE, Settings, find_file, write_file
from weft.engine import AsyncWeft
from weft.store.postgres.db import location

server = typer.Typer(no_args_is_help=True, help="Start, stop and find the PostgreSQL that Weft brings along.")
workspaces = typer.Typer(no_args_is_help=True, help="Take a workspace away.")


def init(workspace: Workspace = None, database_url: DatabaseUrl = None, json: Json = False) -> None:
    """Prepare the database, make the workspace, and write weft.toml.

    Without a URL, the PostgreSQL that Weft brings along is started. A weft.toml that is there already is left as it is.
    """
    with replying(json) as reply:
        settings = Settings.load(database_url=database_url, workspace=workspace)
        found = in_workspace(AsyncWeft.status, settings, make=True)
        file = find_file()
        written = file is None
        if file is None:
            file = Path.cwd() / FILE
            write_file(file, database_url=database_url, workspace=workspace)
        lasting = Settings.load() == settings
        reply(
            {"workspace": settings.workspace, "database": place(settings), "file": file, "written": written},
            f"Workspace {settings.workspace} is ready in {place(settings)}.",
            f"Wrote {file}" if written else f"Left {file} as it was.",
            *([] if lasting else ["It has other settings: pass these options to every command, or change it."]),
            next_step("weft status" if found.documents else "weft add FILE", "" if lasting else "with these options"),
        )


@server.command("start")
def start_server(json: Json = False) -> None:
    """Start the server, making it first if need be."""
    with replying(json) as reply:
        chosen = bundled(Settings.load())
        url = start(chosen)
        reply(
            {"running": True, "address": location(url), "directory": chosen.directory},
            f"PostgreSQL runs at {location(url)}, in {chosen.directory}.",
            next_step("weft db url", "prints its address with the password"),
        )


@server.command("stop")
def stop_server(json: Json = False) -> None:
    """Stop the server, breaking off whatever uses it."""
    with replying(json) as reply:
        chosen = bundled(Settings.load())
        ran = chosen.running()
        chosen.stop()
        said = "Stopped. It starts again when a command needs it." if ran else f"No server ran in {chosen.directory}."
        reply({"running": False, "stopped": ran}, said)


@server.command("status")
def server_status(json: Json = False) -> None:
    """Show whether the server runs, and where."""
    with replying(json) as reply:
        chosen = bundled(Settings.load())
        address = location(chosen.url) if chosen.running() else None
        said = f"Runs at {address}, in {chosen.directory}." if address else f"No server runs in {chosen.directory}."
        reply(
            {"running": address is not None, "address": address, "directory": chosen.directory},
            said,
            *([] if address else [next_step("weft db start")]),
        )


@server.command("url")
def server_url(json: Json = False) -> None:
    """Print its address with the password: psql "$(weft db url)"."""
    with replying(json) as reply:
        url = bundled(Settings.load()).url
        reply({"url": url}, url)


@workspaces.command("drop")
def drop(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The workspace.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Take a workspace away, with all that is in it."""
    with replying(json) as reply:
        settings = Settings.load(database_url=database_url, workspace=name)
        documents = in_workspace(AsyncWeft.status, settings).documents
        if not yes:
            typer.confirm(f"Take away {name} and its {count(documents, 'document')} for good?", abort=True, err=True)
        in_workspace(AsyncWeft.drop, settings)
        reply({"dropped": name, "documents": documents}, f"{name} is gone, with its {count(documents, 'document')}.")
