"""`trueweave graph`: draw parts of the graph."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trueweave.cli.questions import Documents, FilterText, Where, read_filter
from trueweave.cli.render.console import spinner
from trueweave.cli.render.lines import count, path_from_here
from trueweave.cli.session import CommandSession, reading_command
from trueweave.core.errors import ConfigError
from trueweave.core.record import NameKey

if TYPE_CHECKING:
    from trueweave.engine.trueweave import AsyncTrueweave
    from trueweave.formats.pictures import GraphPicture

app = typer.Typer(no_args_is_help=True, help="Draw parts of the graph.")


@app.callback()
def graph() -> None:
    """Draw parts of the graph."""


@app.command()
@reading_command
def show(
    session: CommandSession,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]", help="The entity to show with its neighbours, as NAME, NAME::TYPE or id."),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", dir_okay=False, help="A page (.html) or a drawing (.svg).")
    ] = Path("graph.html"),
    path: Annotated[
        tuple[str, str] | None, typer.Option("--path", metavar="A B", help="Show how two entities are connected.")
    ] = None,
    community: Annotated[
        str | None, typer.Option("--community", metavar="ID", help="Show a community, by its id or a prefix of it.")
    ] = None,
    hops: Annotated[int, typer.Option(min=1, max=3, help="How many relations to follow from the entity.")] = 1,
    limit: Annotated[int, typer.Option(min=1, max=500, help="How many entities to show at most.")] = 100,
    document: Documents = None,
    where: Where = None,
    filter: FilterText = None,
) -> None:
    """Draw an entity with its neighbours, a path or a community.

    An .html file is an interactive page that works offline. An .svg file is a drawing as wide as a column.
    """

    passing = read_filter(document, where, filter, session.settings.project_folder)

    async def draw(trueweave: AsyncTrueweave) -> GraphPicture:
        if path:
            ends = NameKey.from_typed(path[0]), NameKey.from_typed(path[1])
            return await trueweave.graph.picture(ends[0], to=ends[1], limit=limit, filter=passing)
        if community:
            return await trueweave.graph.picture(community=community, limit=limit, filter=passing)
        name = NameKey.from_typed((names or [""])[0])
        return await trueweave.graph.picture(name, hops=hops, limit=limit, filter=passing)

    if sum((len(names or ()), path is not None, community is not None)) != 1:
        raise ConfigError("say what to show: the name of one entity, --path A B, or --community ID.")
    if out.suffix.lower() not in (".html", ".htm", ".svg"):
        raise ConfigError(f"{out} has neither the extension .html nor .svg. Choose one of them.")
    with spinner("Drawing …"):
        found = session(draw)
        found.save(out)
    shown = f"{count(len(found.entities), 'entity')}, {count(len(found.relations), 'relation')}"
    answer = {
        "file": str(out),
        "title": found.title,
        "entities": len(found.entities),
        "relations": len(found.relations),
        "note": found.note,
    }
    session.reply(answer, f"{path_from_here(out)}: {shown}.", *([found.note] if found.note else []))
