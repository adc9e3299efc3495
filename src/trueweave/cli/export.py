"""`trueweave export`: export the workspace."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trueweave.cli.communities.lines import behind_lines, no_communities
from trueweave.cli.options import AsOf
from trueweave.cli.render.console import spinner
from trueweave.cli.render.lines import count
from trueweave.cli.session import CommandSession, workspace_command
from trueweave.core.errors import ConfigError

if TYPE_CHECKING:
    from trueweave.core.graph import Hierarchy
    from trueweave.core.jobs import Status
    from trueweave.engine.trueweave import AsyncTrueweave


File = Annotated[
    Path, typer.Argument(metavar="FILE", help="A file whose extension names its format, such as graph.graphml.")
]


@workspace_command
def export(session: CommandSession, file: File, as_of: AsOf = None) -> None:
    """Export the workspace; the file extension selects the format. An existing file is overwritten.

    \b
    .jsonl     documents with their entities and relations; trueweave import reads it
    .json      the graph with its communities and reports
    .graphml   the graph, for programs that draw graphs
    .parquet   a folder of tables: entities, relations, communities
    .nt .ttl   the graph as RDF: N-Triples or Turtle
    .cypher    a script for Neo4j: cypher-shell -f graph.cypher
    """

    async def write(trueweave: AsyncTrueweave) -> tuple[Status, Hierarchy | None]:
        try:
            await trueweave.graph.export(file)
        except OSError as error:
            raise ConfigError(f"cannot write {file}: {error.strerror}. Name another file.") from error
        return await trueweave.status(), await trueweave.communities.hierarchy()

    with spinner("Writing …"):
        index, found = replace(session, as_of=as_of)(write)
    if file.suffix.lower() == ".jsonl":
        session.reply(
            {"file": file, "documents": index.documents}, f"Wrote {file}: {count(index.documents, 'document')}."
        )
        return
    number = sum(level.communities for level in found.levels) if found else 0
    sizes = {"entities": index.entities, "relations": index.relations, "communities": number}
    told = f"{count(index.entities, 'entity')}, {count(index.relations, 'relation')}, {count(number, 'community')}"
    session.reply(
        {"file": file, **sizes},
        f"Wrote {file}: {told}.",
        *(behind_lines(found) if found else no_communities(found)),
    )
