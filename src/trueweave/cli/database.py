"""`trueweave init`, `trueweave db` and `trueweave workspace`: where the index lives."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from trueweave.cli.options import DatabaseUrl, Json, Workspace, Yes
from trueweave.cli.output import count, next_step, pairs, replying, table
from trueweave.cli.printable import printable
from trueweave.cli.session import bundled, database, direct, in_workspace, load_settings, make_workspace, place, start
from trueweave.cli.tables import Table

if TYPE_CHECKING:
    from trueweave.config import Settings
    from trueweave.store.postgres.health import Workspace as Found

server = typer.Typer(no_args_is_help=True, help="Start, stop and find the PostgreSQL that Trueweave brings along.")
workspaces = typer.Typer(no_args_is_help=True, help="List workspaces, their settings, drop one, or make a role.")


def init(workspace: Workspace = None, database_url: DatabaseUrl = None, json: Json = False) -> None:
    """Prepare the database, make the workspace, and write trueweave.toml.

    Without a URL, the PostgreSQL that Trueweave brings along is started. Without --workspace, the folder gets one of
    its own, named after it. A trueweave.toml that is there already is left as it is.
    """
    from trueweave.config import FILE, find_file, workspace_name, write_file

    with replying(json) as reply:
        settings = load_settings(database_url, workspace)
        file = find_file()
        written = file is None
        if file is None:
            file = Path.cwd() / FILE
            is_named = "workspace" in settings.model_fields_set
            name = settings.workspace if is_named else make_workspace(settings, workspace_name(file.parent))
            write_file(file, database_url=database_url, workspace=name)
            settings = load_settings(database_url, name)
        found = in_workspace(lambda trueweave: trueweave.status(), settings, make=True)
        lasting = load_settings() == settings
        models = _in_force(settings)
        reply(
            {
                "workspace": settings.workspace,
                "database": place(settings),
                "file": file,
                "written": written,
                **{name.replace(" ", "_"): value for name, value in models.items()},
            },
            f"Workspace {settings.workspace} is ready in {place(settings)}.",
            f"Wrote {_shown(file)}" if written else f"Left {_shown(file)} as it was.",
            *([] if lasting else ["It has other settings: pass these options to every command, or change it."]),
            pairs(models),
            *_better(settings),
            next_step(
                "trueweave status" if found.documents else "trueweave add PATH", "" if lasting else "with these options"
            ),
        )


def _in_force(settings: Settings) -> dict[str, str]:
    from trueweave import factory

    chosen = factory.recipe(settings)
    return {
        "extractor": chosen.extractor,
        "model": chosen.model or "none",
        "embedding model": settings.embedding_model or "none",
    }


def _better(settings: Settings) -> list[Text]:
    """What to do for a better index."""
    advice = []
    if not settings.model:
        advice.append(
            Text(
                "Names are found by rules alone. A language model finds more, and how they relate: set one in "
                'trueweave.toml, as in model = "ollama/llama3.1:8b".'
            )
        )
    if not settings.embedding_model:
        advice.append(
            Text('There will be no vectors. Set embedding_model in trueweave.toml, as in "ollama/nomic-embed-text".')
        )
    if settings.model or settings.embedding_model:
        advice.append(next_step("trueweave doctor", "tries the models", heading="To check"))
    return advice


@server.command("start")
def start_server(json: Json = False) -> None:
    """Start the server, making it first if need be."""
    from trueweave.store.postgres.connections import location

    with replying(json) as reply:
        chosen = bundled(load_settings())
        url = start(chosen)
        reply(
            {"running": True, "address": location(url), "directory": chosen.directory},
            f"PostgreSQL runs at {location(url)}, in {chosen.directory}.",
            next_step("trueweave db url", "prints its address with the password"),
        )


@server.command("stop")
def stop_server(json: Json = False) -> None:
    """Stop the server, breaking off whatever uses it."""
    with replying(json) as reply:
        chosen = bundled(load_settings())
        ran = chosen.running()
        chosen.stop()
        said = "Stopped. It starts again when a command needs it." if ran else f"No server ran in {chosen.directory}."
        reply({"running": False, "stopped": ran}, said)


@server.command("status")
def server_status(json: Json = False) -> None:
    """Show whether the server runs, and where."""
    from trueweave.store.postgres.connections import location

    with replying(json) as reply:
        chosen = bundled(load_settings())
        address = location(chosen.url) if chosen.running() else None
        said = f"Runs at {address}, in {chosen.directory}." if address else f"No server runs in {chosen.directory}."
        reply(
            {"running": address is not None, "address": address, "directory": chosen.directory},
            said,
            *([] if address else [next_step("trueweave db start")]),
        )


@server.command("url")
def server_url(json: Json = False) -> None:
    """Print its address with the password: psql "$(trueweave db url)"."""
    with replying(json) as reply:
        url = bundled(load_settings()).url
        reply({"url": url}, url)


@workspaces.command("list")
def list_(database_url: DatabaseUrl = None, json: Json = False) -> None:
    """List the workspaces in this database.

    Only the owner of Trueweave's schema sees them all.
    """
    from trueweave.store.postgres.health import workspaces as all_of

    with replying(json) as reply:
        settings = load_settings(database_url)
        found = asyncio.run(all_of(direct(settings)))
        reply(
            {"workspaces": found},
            _list(found, settings.workspace) if found else next_step("trueweave init", "there is none yet"),
        )


def _list(found: list[Found], current: str) -> Table:
    made = table("workspace", "made", "")
    for one in found:
        made.add_row(one.name, f"{one.created:%Y-%m-%d}", "in the settings" if one.name == current else "")
    return made


@workspaces.command("drop")
def drop(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The workspace.")],
    yes: Yes = False,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Take a workspace away, with all that is in it."""
    with replying(json) as reply:
        settings = load_settings(database_url, name)
        if not yes:
            documents = in_workspace(lambda trueweave: trueweave.status(), settings).documents
            asked = f"Take away {name} and its {count(documents, 'document')} for good?"
            typer.confirm(printable(asked), abort=True, err=True)
        documents = in_workspace(lambda trueweave: trueweave.drop(), settings)
        reply({"dropped": name, "documents": documents}, f"{name} is gone, with its {count(documents, 'document')}.")


@workspaces.command("role")
def role(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The workspace.")],
    role: Annotated[str | None, typer.Option(help="The role's name.")] = None,
    drop: Annotated[bool, typer.Option("--drop", help="Take the role away.")] = False,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Make a PostgreSQL role that reads this workspace by SQL, and no other.

    Its password is shown once. It can be handed out: whatever it sets, it sees no other workspace, and it writes
    nothing.
    """
    from trueweave.errors import ConfigError
    from trueweave.store.postgres.connections import location
    from trueweave.store.postgres.readers import drop_reader, make_reader

    with replying(json) as reply:
        settings = load_settings(database_url, name)
        url, beside = database(settings), settings.direct_database_url
        if drop:
            if role is None:
                raise ConfigError("say which role to take away: --role ROLE --drop.")
            asyncio.run(drop_reader(url, role, direct_url=beside))
            reply({"dropped": role}, f"Role {role} is gone.")
            return
        made = asyncio.run(make_reader(url, name, role, direct_url=beside))
        where = location(beside or url)
        address = f"postgresql://{made.role}:{made.password}@{where}"
        reply(
            {"role": made.role, "workspace": name, "url": address},
            f"Role {made.role} reads workspace {name}, and nothing else. Its address, with a password shown only now:",
            address,
        )


def _shown(file: Path) -> Path:
    """A path as it is best typed: from here, if it is within."""
    return file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else file
