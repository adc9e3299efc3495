"""`trueweave entities`: the entities that documents mention most, or that fit a text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from trueweave.cli.options import DatabaseUrl, EntityType, Json, Limit, Workspace
from trueweave.cli.render.entities import entity_table
from trueweave.cli.render.lines import next_step
from trueweave.cli.render.lookups import found_by
from trueweave.cli.reply import CommandReply, replying
from trueweave.cli.session import in_workspace, load_settings

if TYPE_CHECKING:
    from trueweave.core.settings import Settings


def entities(
    text: Annotated[str | None, typer.Argument(metavar="[TEXT]", help="Only those that fit this text.")] = None,
    type_: EntityType = "",
    limit: Limit = 20,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Show the entities that documents mention most, or those that fit a text.

    A text is looked for by its meaning and by the words of names; by words alone where nothing is embedded.
    """
    with replying(json) as reply:
        settings = load_settings(database_url, workspace)
        if text is None:
            found = in_workspace(lambda trueweave: trueweave.graph.entities(limit, type=type_), settings)
            none = (
                f"No entity is of the type {type_}." if type_ else next_step("trueweave add PATH", "there are none yet")
            )
            reply({"entities": found}, entity_table(found) if found else none)
        else:
            _search(reply, settings, text, type_, limit)


def _search(reply: CommandReply, settings: Settings, text: str, type_: str, limit: int) -> None:
    hits = in_workspace(lambda trueweave: trueweave.graph.search_entities(text, limit, type=type_), settings)
    found = [one.item for one in hits.items]
    answer = {"entities": found, "scores": [one.score for one in hits.items], "by": hits.by}
    reply(answer, *([entity_table(found)] if found else ["No entity fits."]), found_by(hits))
