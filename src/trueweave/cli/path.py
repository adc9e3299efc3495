"""`trueweave path`: how two entities are connected."""

from __future__ import annotations

from typing import Annotated

import typer

from trueweave.cli.options import DatabaseUrl, EntityName, Json, Workspace
from trueweave.cli.render.lookups import path_lines
from trueweave.cli.render.rules import name_key
from trueweave.cli.reply import replying
from trueweave.cli.session import in_workspace, load_settings


def path(
    start: EntityName,
    end: EntityName,
    longest: Annotated[int, typer.Option(min=1, max=12, help="How many relations it may have.")] = 6,
    passages: Annotated[int, typer.Option(min=0, help="How many passages to show for each relation.")] = 1,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Show how two entities are connected: a shortest path between them, and the passages that state each relation.

    Of paths of the same length it is the one whose weakest relation is heaviest.
    """
    with replying(json) as reply:
        found = in_workspace(
            lambda trueweave: trueweave.graph.path(name_key(start), name_key(end), longest=longest, passages=passages),
            load_settings(database_url, workspace),
        )
        if found is None:
            reply({"path": None}, f"No path of at most {longest} relations leads from {start} to {end}.")
        else:
            reply({"path": found}, *path_lines(found))
