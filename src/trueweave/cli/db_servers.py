"""`trueweave db servers`: the PostgreSQL servers that workspaces are on."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from trueweave.cli.options import DatabaseUrl, Json
from trueweave.cli.render.lines import decimal, megabytes, next_step
from trueweave.cli.render.tables import TextTable, table
from trueweave.cli.reply import replying
from trueweave.cli.session import load_settings, owners

if TYPE_CHECKING:
    from trueweave.store.postgres.cluster.joining import ServerInfo

app = typer.Typer(no_args_is_help=True, help="List the PostgreSQL servers of the workspaces, and set their weights.")


@app.command("list")
def list_(database_url: DatabaseUrl = None, json: Json = False) -> None:
    """List the servers, with their load.

    A new workspace goes to the one whose database is smallest in proportion to its weight.
    """
    from trueweave.store.postgres.cluster.joining import list_servers

    with replying(json) as reply:
        found = asyncio.run(list_servers(owners(load_settings(database_url))))
        none = next_step("trueweave migrate", "there is one database; put others under [server_urls] first")
        reply({"servers": found}, _server_table(found) if found else none)


@app.command("weigh")
def weigh(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The server.")],
    weight: Annotated[float, typer.Argument(metavar="WEIGHT", min=0, help="Its share of new workspaces; 0 for none.")],
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Set the weight of a server:

    its share of the data relative to other servers. With 0 it takes no new workspaces. Existing workspaces stay where
    they are: `trueweave workspace move` moves them.
    """
    from trueweave.store.postgres.cluster.joining import weigh_server

    with replying(json) as reply:
        asyncio.run(weigh_server(owners(load_settings(database_url))["home"], name, weight))
        told = f"{name} has the weight {decimal(weight)}." if weight else f"{name} takes no new workspaces."
        reply({"server": name, "weight": weight}, told)


def _server_table(found: list[ServerInfo]) -> TextTable:
    """Servers, one a line: how much is on each, and how much each is to hold in proportion to others."""
    made = table("server", ">workspaces", ">size", ">weight", "")
    for one in found:
        state = one.problem or ("" if one.weight else "takes no new workspaces")
        made.add_row(one.name, f"{one.workspaces:,}", megabytes(one.bytes), decimal(one.weight), state)
    return made
