"""`trueweave import`: import documents from other systems."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from trueweave.cli.inputs import named_groups
from trueweave.cli.model_files import fetch_model
from trueweave.cli.options import All, DatabaseUrl, Json, Readers, Workspace
from trueweave.cli.render.console import say
from trueweave.cli.render.lines import next_step
from trueweave.cli.render.run_summary import IngestTally, count_line
from trueweave.cli.reply import replying
from trueweave.cli.session import in_workspace, load_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trueweave.core.events import Event
    from trueweave.core.record import Document
    from trueweave.engine.trueweave import AsyncTrueweave

FormatName = Literal["graphrag", "lightrag", "jsonl", "graphml", "rdf", "triples"]
What = Annotated[Path, typer.Argument(metavar="PATH", help="The folder or file written by the other system.")]
As = Annotated[
    FormatName | None, typer.Option("--format", help="The format, if the file extension does not select it.")
]
Reports = Annotated[bool, typer.Option("--reports", help="Also import GraphRAG's community reports, as documents.")]


def import_(
    path: What,
    format: As = None,
    reports: Reports = False,
    show_all: All = False,
    readers: Readers = None,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Import documents with entities and relations from another system, without calling a model.

    \b
    graphrag   the output of Microsoft GraphRAG: a folder of Parquet files
    lightrag   a working directory of LightRAG with its default storages
    jsonl      documents of Trueweave, as trueweave export writes them
    graphml    a graph without texts: one sentence is generated per node and edge
    rdf        N-Triples (.nt) or Turtle (.ttl), as sentences, too
    triples    a CSV or TSV file with subject, predicate and object, as sentences, too

    The uri of a document consists of the format, the path and an id, such as graphrag:ragtest#doc-1. Importing again
    replaces what has changed; `trueweave remove graphrag:ragtest` removes it. Whatever cannot be imported is reported.

    Exits with 1 when rows were refused.
    """
    from trueweave.cli.render.progress_bar import progress
    from trueweave.formats import importing
    from trueweave.text.uris import Naming

    with replying(json) as reply:
        settings = load_settings(database_url, workspace)
        groups = named_groups(readers)
        tally, notes, read = IngestTally(show_all=show_all), list[str](), 0
        if format is None:
            format_, why = importing.guess(path)
            say(f"Reading {path} as {format_.what}: {why}.")
        else:
            format_ = importing.FORMATS[format]
        fetch_model(settings)

        def heard(event: Event) -> None:
            from trueweave.core.events import Noted

            tally(event)
            if isinstance(event, Noted):
                notes.append(event.what)

        def counted(documents: Iterator[Document]) -> Iterator[Document]:
            nonlocal read
            for document in documents:
                read += 1
                yield document

        async def add(trueweave: AsyncTrueweave) -> int:
            uri = format_.uri(path, Naming(settings.project_folder))
            documents = importing.read(path, format_.name, uri=uri, listener=heard, reports=reports)
            with progress("Importing", None) as done:
                return await trueweave.add_documents(counted(documents), done, tally, readers=groups)

        new = in_workspace(add, settings)
        answer = {"format": format_.name, "documents": read, "new": new, "notes": notes, **tally.answer()}
        reply(
            answer,
            count_line(read, new, new),
            *tally.lines(),
            next_step("trueweave ask QUESTION", "or trueweave ui, to ask in the browser"),
        )
        if tally.refused:
            raise typer.Exit(1)
