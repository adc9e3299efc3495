"""`trueweave relations`: the heaviest relations, or those that fit a text."""

from __future__ import annotations

from typing import Annotated

import typer

from trueweave.cli.options import DatabaseUrl, Json, Limit, Workspace
from trueweave.cli.render.lines import next_step
from trueweave.cli.render.lookups import found_by, relation_table
from trueweave.cli.reply import replying
from trueweave.cli.session import in_workspace, load_settings


def relations(
    text: Annotated[str | None, typer.Argument(metavar="[TEXT]", help="Only those that fit this text.")] = None,
    limit: Limit = 20,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Show the heaviest relations, or those that fit a text.

    A text is looked for by its meaning and by the words of names and descriptions; by words alone where nothing is
    embedded. `trueweave entity NAME` shows the relations of one entity.
    """
    with replying(json) as reply:
        settings = load_settings(database_url, workspace)
        if text is None:
            found = in_workspace(lambda trueweave: trueweave.graph.relations(limit=limit), settings)
            none = next_step("trueweave add PATH", "there are none yet")
            reply({"relations": found}, relation_table(found) if found else none)
            return
        hits = in_workspace(lambda trueweave: trueweave.graph.search_relations(text, limit), settings)
        found = [one.item for one in hits.items]
        answer = {"relations": found, "scores": [one.score for one in hits.items], "by": hits.by}
        reply(answer, *([relation_table(found)] if found else ["No relation fits."]), found_by(hits))
