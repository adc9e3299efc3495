"""`trueweave workspace`: list workspaces and their settings, drop or move one, or create a role for one."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trueweave.cli.inputs import toml_value
from trueweave.cli.options import DatabaseUrl, Json, Workspace, Yes
from trueweave.cli.render.console import changing_line
from trueweave.cli.render.lines import count, megabytes, next_step
from trueweave.cli.render.printable import printable
from trueweave.cli.render.tables import TextTable, pairs, table
from trueweave.cli.reply import replying
from trueweave.cli.session import database, in_database, in_workspace, load_settings, owner, owners

if TYPE_CHECKING:
    from trueweave.store.postgres.cluster.moving import Moved
    from trueweave.store.postgres.db import Database
    from trueweave.store.postgres.schema.health import WorkspaceInfo as Found

app = typer.Typer(no_args_is_help=True, help="List workspaces and their settings, drop or move one, or create a role.")


@app.command("list")
def list_(database_url: DatabaseUrl = None, json: Json = False) -> None:
    """List the workspaces in this database.

    Only the owner of Trueweave's schema sees them all.
    """
    from trueweave.store.postgres.schema.health import workspaces as all_of

    with replying(json) as reply:
        settings = load_settings(database_url)
        url, is_direct = owner(settings)
        found = asyncio.run(all_of(url, said_to_be_direct=is_direct))
        reply(
            {"workspaces": found},
            _workspace_table(found, settings.workspace, servers=bool(settings.server_urls))
            if found
            else next_step("trueweave init", "there is none yet"),
        )


@app.command("drop")
def drop(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The workspace.")],
    yes: Yes = False,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Drop a workspace, with everything in it."""
    with replying(json) as reply:
        settings = load_settings(database_url, name)
        if not yes:
            documents = in_workspace(lambda trueweave: trueweave.status(), settings).documents
            asked = f"Drop {name} and its {count(documents, 'document')} for good?"
            typer.confirm(printable(asked), abort=True, err=True)
        documents = in_workspace(lambda trueweave: trueweave.maintenance.drop(), settings)
        reply(
            {"dropped": name, "documents": documents}, f"{name} was dropped, with its {count(documents, 'document')}."
        )


@app.command("move")
def move(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The workspace.")],
    to: Annotated[str, typer.Option(metavar="SERVER", help="The server: home, or one of server_urls in the settings.")],
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Move a workspace to another PostgreSQL server.

    It can be read all the time. While it is copied, writes are refused with a request to retry, and jobs wait. The
    switch happens when both copies have the same digest. The old copy is kept for five minutes, for processes that have
    not noticed the switch yet, and then dropped by a worker. If the command is interrupted, nothing has changed, or you
    can run it again.

    Run this as the owner of the schemas, with the addresses of owner_database_url and owner_server_urls.
    """
    from trueweave.store.postgres.cluster.moving import MoveProgress, move_workspace

    with replying(json) as reply:
        settings = load_settings(database_url)
        servers = owners(settings)
        with changing_line(f"Moving {name} to {to}") as show:

            def told(progress: MoveProgress) -> None:
                show(f"{progress.step}, {progress.rows:,} rows, {megabytes(progress.bytes)} so far")

            moved = asyncio.run(move_workspace(name, to, servers, told, settings.index_memory(bundled=False)))
        reply(asdict(moved), *_moved_lines(moved))


@app.command("role")
def role(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The workspace.")],
    role: Annotated[str | None, typer.Option(help="The role's name.")] = None,
    drop: Annotated[bool, typer.Option("--drop", help="Drop the role.")] = False,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Create a PostgreSQL role that can read this workspace with SQL, and no other.

    Its password is shown once. You can give it to others: it can neither see another workspace nor write.
    """
    from trueweave.core.errors import ConfigError
    from trueweave.store.postgres.access.sql_roles import make_reader
    from trueweave.store.postgres.cluster.joining import drop_reader_anywhere, server_of
    from trueweave.store.postgres.connections import location

    with replying(json) as reply:
        settings = load_settings(database_url, name)
        servers = owners(settings)
        if drop:
            if role is None:
                raise ConfigError("name the role to drop: --role ROLE --drop.")
            asyncio.run(drop_reader_anywhere(servers, role))
            reply({"dropped": role}, f"Role {role} was dropped.")
            return
        server = asyncio.run(server_of(servers["home"], name))
        url, is_direct = servers.get(server, servers["home"])
        made = asyncio.run(make_reader(url, name, role, said_to_be_direct=is_direct))
        here = settings.server(server) if server in settings.server_urls else None
        where = location(here.direct_url or here.url if here else settings.direct_database_url or database(settings))
        address = f"postgresql://{made.role}:{made.password}@{where}"
        reply(
            {"role": made.role, "workspace": name, "url": address},
            f"Role {made.role} can read workspace {name}, and nothing else. Its address, with a password that is "
            "shown only once:",
            address,
        )


Changes = Annotated[
    list[str] | None,
    typer.Argument(metavar="NAME=VALUE", help="Settings of the workspace, such as model=openai/some-model."),
]


@app.command()
def settings(
    changes: Changes = None,
    unset: Annotated[list[str] | None, typer.Option(help="A setting to remove; may be repeated.")] = None,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Show or change the settings of a workspace.

    They are stored in the database and override trueweave.toml and the environment for every process in the workspace.
    Values are written as in trueweave.toml, and texts need no quotes. Keys are never stored: model_key_variable,
    embedding_key_variable and reranker_key_variable name the environment variables that hold them.
    """
    from trueweave.engine.core import change_settings, found_workspace

    with replying(json) as reply:
        loaded = load_settings(database_url, workspace)
        given = dict(map(_parsed, changes or ()))

        async def change(opened: Database) -> dict[str, Any]:
            found = await found_workspace(opened, loaded.workspace)
            return await change_settings(found.workspace, given, unset or ()) if given or unset else found.settings

        own = in_database(change, loaded)
        shown = pairs({name: str(value) for name, value in sorted(own.items())}) if own else _none(loaded.workspace)
        reply({"workspace": loaded.workspace, "settings": own}, shown)


def _none(workspace: str) -> Any:
    return next_step("trueweave workspace settings NAME=VALUE", f"{workspace} has no settings")


def _parsed(given: str) -> tuple[str, Any]:
    """The name and the value of `NAME=VALUE`. A value that is not TOML is a text."""
    from trueweave.core.errors import ConfigError

    name, equals, value = (part.strip() for part in given.partition("="))
    if not equals or not name:
        raise ConfigError(f"{given!r} is not a setting. Write NAME=VALUE, as in model=openai/some-model.")
    return name, toml_value(value)


def _workspace_table(found: list[Found], current: str, *, servers: bool) -> TextTable:
    """Workspaces, one a line; with `servers`, the one that each is on."""
    made = table("workspace", "made", *(["server"] if servers else []), "")
    for one in found:
        server = [one.server] if servers else []
        made.add_row(one.name, f"{one.created:%Y-%m-%d}", *server, "in the settings" if one.name == current else "")
    return made


def _moved_lines(moved: Moved) -> list[str]:
    """What moving a workspace took, and what is left to do."""
    size = f"{moved.rows:,} rows, {megabytes(moved.bytes)} in {moved.seconds:.1f} s"
    return [
        f"{moved.workspace} is on {moved.target}, with the same digest, {moved.digest[:12]}…: {size}.",
        f"No read waited for it, and writes for {moved.read_only_seconds:.1f} s.",
        *(
            f"Role {role} read it on {moved.source}, and cannot on {moved.target}: drop it, and make another with "
            f"`trueweave workspace role {moved.workspace}`."
            for role in moved.roles
        ),
    ]
