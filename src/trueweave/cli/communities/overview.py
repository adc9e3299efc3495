"""`trueweave communities`: an overview of the communities, with the largest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from trueweave.cli.communities.lines import no_communities, overview_lines
from trueweave.cli.options import DatabaseUrl, Json, Limit, Workspace
from trueweave.cli.reply import replying
from trueweave.cli.session import in_workspace, load_settings

if TYPE_CHECKING:
    from trueweave.core.graph import Community, Hierarchy
    from trueweave.engine.trueweave import AsyncTrueweave

_LARGEST = 10


def overview(
    context: typer.Context,
    limit: Limit = _LARGEST,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Show the communities of the graph, and their reports.

    A community is a group of entities that are more closely related to each other than to others. Large communities are
    divided into smaller ones, level by level.
    """
    if command := context.invoked_subcommand:
        if (limit, workspace, database_url, json) != (_LARGEST, None, None, False):
            context.fail(f"Write the options after the command: trueweave communities {command} [OPTIONS]")
        return

    async def look(trueweave: AsyncTrueweave) -> tuple[Hierarchy | None, list[Community]]:
        return await trueweave.communities.hierarchy(), await trueweave.communities.select(0, limit=limit)

    with replying(json) as reply:
        found, largest = in_workspace(look, load_settings(database_url, workspace))
        shown = overview_lines(found, largest) if found and found.levels else no_communities(found)
        reply({"hierarchy": found, "communities": largest}, *shown)
