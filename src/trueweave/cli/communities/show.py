"""`trueweave communities show`: one community with its report, members and subcommunities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from trueweave.cli.communities.lines import Page, page_lines
from trueweave.cli.session import CommandSession, workspace_command

if TYPE_CHECKING:
    from trueweave.engine.trueweave import AsyncTrueweave


Id = Annotated[str, typer.Argument(metavar="ID", help="The community's id, or a prefix of it.")]
Members = Annotated[int, typer.Option(min=1, help="How many members to show.")]
_MOST_PARTS = 10


@workspace_command
def show(
    session: CommandSession,
    id_: Id,
    members: Members = 10,
) -> None:
    """Show a community: its report, its members and its subcommunities."""

    async def look(trueweave: AsyncTrueweave) -> Page:
        one = await trueweave.communities.get(id_)
        report, entities = (
            await trueweave.communities.report(one.id),
            await trueweave.communities.members(one.id, members),
        )
        return Page(one, report, entities, await trueweave.communities.select(within=one.id, limit=_MOST_PARTS))

    found = session(look)
    answer = {
        "community": found.community,
        "report": found.report,
        "members": found.members,
        "parts": found.parts,
    }
    session.reply(answer, *page_lines(found))
