"""`trueweave entities`: the entities that documents mention most."""

from __future__ import annotations

from trueweave.cli.options import DatabaseUrl, Json, Limit, Workspace
from trueweave.cli.render.entities import entity_table
from trueweave.cli.render.lines import next_step
from trueweave.cli.reply import replying
from trueweave.cli.session import in_workspace, load_settings


def entities(
    limit: Limit = 20, workspace: Workspace = None, database_url: DatabaseUrl = None, json: Json = False
) -> None:
    """Show the entities that documents mention most."""
    with replying(json) as reply:
        settings = load_settings(database_url, workspace)
        found = in_workspace(lambda trueweave: trueweave.graph.entities(limit), settings)
        reply(
            {"entities": found}, entity_table(found) if found else next_step("trueweave add PATH", "there are none yet")
        )
