"""`trueweave communities`: what hangs together in the graph, and what is written about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType

from trueweave.cli import building, reports
from trueweave.cli.dates import parse_moment, written
from trueweave.cli.options import DatabaseUrl, Json, Limit, Workspace
from trueweave.cli.output import count, marked, next_step, replying, spinning
from trueweave.cli.reports import Branch, Page
from trueweave.cli.session import in_workspace, load_settings
from trueweave.errors import ConfigError

if TYPE_CHECKING:
    from datetime import datetime

    from trueweave.engine import AsyncTrueweave
    from trueweave.types import Community, Hierarchy, RetiredCommunity, Status

Id = Annotated[str, typer.Argument(metavar="ID", help="The community's id, or how it begins.")]
Root = Annotated[str | None, typer.Argument(metavar="ID", help="The id of one to begin with, or how it begins.")]
Depth = Annotated[int, typer.Option(min=1, help="How many levels to show.")]
Each = Annotated[int, typer.Option("--limit", min=1, help="How many to show within each.")]
Members = Annotated[int, typer.Option(min=1, help="How many members to show.")]
Since = Annotated[str, typer.Option(metavar="DATE", help="2026-07-01, 2026-07-01T14:30, or how long ago: 12h, 7d, 2w.")]
File = Annotated[
    Path, typer.Argument(metavar="FILE", dir_okay=False, help="GraphML or JSON, as its name ends: graph.graphml.")
]

_LARGEST = 10
_MOST_PARTS = 10
_MOST_CHANGES = 1000

app = typer.Typer(invoke_without_command=True)
app.command()(building.build)


@app.callback()
def overview(
    context: typer.Context,
    limit: Limit = _LARGEST,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Show what hangs together in the graph, and what is written about it.

    Entities that are related to each other more than to others are a community. Large ones have parts, level by level.
    """
    if command := context.invoked_subcommand:
        if (limit, workspace, database_url, json) != (_LARGEST, None, None, False):
            context.fail(f"Write the options after the command: trueweave communities {command} [OPTIONS]")
        return

    async def look(trueweave: AsyncTrueweave) -> tuple[Hierarchy | None, list[Community]]:
        return await trueweave.hierarchy(), await trueweave.communities(0, limit=limit)

    with replying(json) as reply:
        found, largest = in_workspace(look, load_settings(database_url, workspace))
        shown = reports.overview(found, largest) if found and found.levels else _none(found)
        reply({"hierarchy": found, "communities": largest}, *shown)


@app.command()
def tree(
    root: Root = None,
    depth: Depth = 2,
    limit: Each = 10,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Show communities within each other, the largest first."""

    async def look(trueweave: AsyncTrueweave) -> tuple[Hierarchy | None, list[Branch]]:
        if root is not None:
            one = await trueweave.community(root)
            return await trueweave.hierarchy(), [Branch(one, await _within(trueweave, one, depth, limit))]
        outermost = await trueweave.communities(0, limit=limit)
        return await trueweave.hierarchy(), [
            Branch(one, await _within(trueweave, one, depth - 1, limit)) for one in outermost
        ]

    with replying(json) as reply:
        found, branches = in_workspace(look, load_settings(database_url, workspace))
        answer = {"communities": [one.as_json() for one in branches]}
        if not found or not branches:
            reply(answer, *_none(found))
            return
        more = found.levels[0].communities - len(branches) if root is None else 0
        advice = next_step("trueweave communities show ID", "shows what is written about one")
        reply(answer, reports.tree(branches, more), "", advice)


@app.command()
def show(
    id_: Id,
    members: Members = 10,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Show a community: what is written about it, its members and its parts."""

    async def look(trueweave: AsyncTrueweave) -> Page:
        one = await trueweave.community(id_)
        report, entities = await trueweave.report(one.id), await trueweave.members(one.id, members)
        return Page(one, report, entities, await trueweave.communities(within=one.id, limit=_MOST_PARTS))

    with replying(json) as reply:
        found = in_workspace(look, load_settings(database_url, workspace))
        answer = {
            "community": found.community,
            "report": found.report,
            "members": found.members,
            "parts": found.parts,
        }
        reply(answer, *reports.page(found))


@app.command()
def changes(
    since: Since,
    limit: Limit = 10,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Show which communities came, changed and went.

    They do when `trueweave communities build` finds them anew. Those that went are remembered for a year.
    """
    with replying(json) as reply:
        moment = parse_moment(since)
        found = in_workspace(lambda trueweave: _changes(trueweave, moment), load_settings(database_url, workspace))
        came = [one for one in found.there if one.since >= moment]
        changed = [one for one in found.there if one.since < moment]
        answer = {"since": moment, "came": came, "changed": changed, "gone": found.gone}
        if not found.hierarchy:
            reply(answer, *_none(found.hierarchy))
        elif not (found.there or found.gone):
            reply(answer, f"No community has changed since {written(moment)}.", *_behind(found.hierarchy))
        else:
            shown = reports.changes(came, changed, found.gone, limit)
            advice = next_step("trueweave communities show ID", "shows one of them")
            reply(answer, *shown, *_left_out(found), *_behind(found.hierarchy), advice)


@app.command()
def export(file: File, workspace: Workspace = None, database_url: DatabaseUrl = None, json: Json = False) -> None:
    """Write the graph with its communities to a file.

    In .graphml each entity has the id of its innermost community; in .json there are all communities, with reports. A
    file that is there is written over.
    """

    async def write(trueweave: AsyncTrueweave) -> tuple[Status, Hierarchy | None]:
        try:
            await trueweave.export_graph(file)
        except OSError as error:
            raise ConfigError(f"cannot write {file}: {error.strerror}. Name another file.") from error
        return await trueweave.status(), await trueweave.hierarchy()

    with replying(json) as reply:
        with spinning("Writing …"):
            index, found = in_workspace(write, load_settings(database_url, workspace))
        number = sum(level.communities for level in found.levels) if found else 0
        sizes = {"entities": index.entities, "relations": index.relations, "communities": number}
        told = f"{count(index.entities, 'entity')}, {count(index.relations, 'relation')}, {count(number, 'community')}"
        reply({"file": file, **sizes}, f"Wrote {file}: {told}.", *(_behind(found) if found else _none(found)))


@dataclass(frozen=True)
class _Changes:
    """What there is now and has changed, and what is no more."""

    hierarchy: Hierarchy | None
    there: Sequence[Community]
    gone: Sequence[RetiredCommunity]


async def _changes(trueweave: AsyncTrueweave, since: datetime) -> _Changes:
    there = await trueweave.communities(since=since, limit=_MOST_CHANGES)
    return _Changes(await trueweave.hierarchy(), there, await trueweave.retired_communities(since, _MOST_CHANGES))


def _left_out(found: _Changes) -> list[RenderableType]:
    """A word on changes that are too many to be looked at."""
    if max(len(found.there), len(found.gone)) < _MOST_CHANGES:
        return []
    return [marked(f"There may be more: only the first {_MOST_CHANGES:,} were looked at.")]


async def _within(trueweave: AsyncTrueweave, one: Community, depth: int, limit: int) -> list[Branch]:
    """What is within a community, so many levels deep."""
    if not (depth and one.parts):
        return []
    parts = await trueweave.communities(within=one.id, limit=limit)
    return [Branch(part, await _within(trueweave, part, depth - 1, limit)) for part in parts]


def _none(found: Hierarchy | None) -> list[RenderableType]:
    """What to say where there are no communities: they were not looked for, or there are none."""
    if found is None:
        return ["There are no communities yet.", next_step("trueweave communities build", "finds them")]
    advice = _behind(found) or [next_step("trueweave add PATH", "brings documents in")]
    return ["There are no communities: no two entities are related.", *advice]


def _behind(found: Hierarchy) -> list[RenderableType]:
    """A word on changes of the graph since communities were found."""
    if not found.behind:
        return []
    return [marked("The graph has changed since they were found."), next_step("trueweave communities build")]
