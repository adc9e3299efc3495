"""`trueweave communities show`: one community with its report, members and parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from trueweave.cli.options import DatabaseUrl, Json, Workspace
from trueweave.cli.render.communities import Page, page_lines
from trueweave.cli.reply import replying
from trueweave.cli.session import in_workspace, load_settings

if TYPE_CHECKING:
    from trueweave.engine.trueweave import AsyncTrueweave


Id = Annotated[str, typer.Argument(metavar="ID", help="The community's id, or how it begins.")]
Members = Annotated[int, typer.Option(min=1, help="How many members to show.")]
_MOST_PARTS = 10


def show(
    id_: Id,
    members: Members = 10,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Show a community: what is written about it, its members and its parts."""

    async def look(trueweave: AsyncTrueweave) -> Page:
        one = await trueweave.communities.get(id_)
        report, entities = (
            await trueweave.communities.report(one.id),
            await trueweave.communities.members(one.id, members),
        )
        return Page(one, report, entities, await trueweave.communities.select(within=one.id, limit=_MOST_PARTS))

    with replying(json) as reply:
        found = in_workspace(look, load_settings(database_url, workspace))
        answer = {
            "community": found.community,
            "report": found.report,
            "members": found.members,
            "parts": found.parts,
        }
        reply(answer, *page_lines(found))
