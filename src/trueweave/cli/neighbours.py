"""`trueweave neighbours`: the entities around one."""

from __future__ import annotations

from typing import Annotated

import typer

from trueweave.cli.options import DatabaseUrl, EntityName, Json, Limit, Workspace
from trueweave.cli.render.entities import described_entities
from trueweave.cli.render.rules import name_key
from trueweave.cli.reply import replying
from trueweave.cli.session import in_workspace, load_settings


def neighbours(
    name: EntityName,
    hops: Annotated[int, typer.Option(min=1, max=3, help="Over how many relations to go.")] = 1,
    limit: Limit = 20,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Show the entities around one: nearer ones first, then those more heavily related."""
    with replying(json) as reply:
        found = in_workspace(
            lambda trueweave: trueweave.graph.neighbours(name_key(name), hops=hops, limit=limit),
            load_settings(database_url, workspace),
        )
        reply({"entities": found}, described_entities(found) if found else f"Nothing is related to {name}.")
