"""`trueweave communities tree`: the hierarchy of communities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from trueweave.cli.communities.lines import Branch, no_communities, tree_table
from trueweave.cli.render.lines import next_step
from trueweave.cli.session import CommandSession, workspace_command

if TYPE_CHECKING:
    from trueweave.core.graph import Community, Hierarchy
    from trueweave.engine.trueweave import AsyncTrueweave


Root = Annotated[
    str | None, typer.Argument(metavar="ID", help="The id of the community to start from, or a prefix of it.")
]
Depth = Annotated[int, typer.Option(min=1, help="How many levels to show.")]
Each = Annotated[int, typer.Option("--limit", min=1, help="How many subcommunities to show per community.")]


@workspace_command
def tree(
    session: CommandSession,
    root: Root = None,
    depth: Depth = 2,
    limit: Each = 10,
) -> None:
    """Show the hierarchy of communities, the largest first."""

    async def look(trueweave: AsyncTrueweave) -> tuple[Hierarchy | None, list[Branch]]:
        if root is not None:
            one = await trueweave.communities.get(root)
            return await trueweave.communities.hierarchy(), [Branch(one, await _within(trueweave, one, depth, limit))]
        outermost = await trueweave.communities.select(0, limit=limit)
        return await trueweave.communities.hierarchy(), [
            Branch(one, await _within(trueweave, one, depth - 1, limit)) for one in outermost
        ]

    found, branches = session(look)
    answer = {"communities": [one.as_json() for one in branches]}
    if not found or not branches:
        session.reply(answer, *no_communities(found))
        return
    more = found.levels[0].communities - len(branches) if root is None else 0
    advice = next_step("trueweave communities show ID", "shows the report of one")
    session.reply(answer, tree_table(branches, more), "", advice)


async def _within(trueweave: AsyncTrueweave, one: Community, depth: int, limit: int) -> list[Branch]:
    """The subcommunities of a community, down to a depth."""
    if not (depth and one.parts):
        return []
    parts = await trueweave.communities.select(within=one.id, limit=limit)
    return [Branch(part, await _within(trueweave, part, depth - 1, limit)) for part in parts]
