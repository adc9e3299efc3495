"""`trueweave entity`: one entity, its relations and the passages that mention it."""

from __future__ import annotations

from typing import Annotated

import typer

from trueweave.cli.options import DatabaseUrl, EntityName, Json, Workspace
from trueweave.cli.render.lookups import entity_lines
from trueweave.cli.render.rules import name_key
from trueweave.cli.reply import replying
from trueweave.cli.session import in_workspace, load_settings


def entity(
    name: EntityName,
    relations: Annotated[int, typer.Option(min=0, help="How many relations to show.")] = 10,
    passages: Annotated[int, typer.Option(min=0, help="How many passages to show.")] = 3,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Show an entity: what is said of it, its heaviest relations, and passages that mention it."""
    with replying(json) as reply:
        found = in_workspace(
            lambda trueweave: trueweave.graph.entity(name_key(name), relations=relations, passages=passages),
            load_settings(database_url, workspace),
        )
        reply({"entity": found.entity, "relations": found.relations, "passages": found.passages}, *entity_lines(found))
