"""`trueweave document`: one document, with its chunks and what it mentions."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from trueweave.cli.options import DatabaseUrl, Json, Workspace
from trueweave.cli.render.lookups import document_lines
from trueweave.cli.reply import replying
from trueweave.cli.session import in_workspace, load_settings

if TYPE_CHECKING:
    from trueweave.core.settings import Settings

Chunks = Annotated[int, typer.Option(min=0, help="How many chunks to show.")]
First = Annotated[int, typer.Option(min=0, help="The number of the first chunk to show.")]
Entities = Annotated[int, typer.Option(min=0, help="How many of the entities that it mentions to show.")]


def document(
    uri: Annotated[str, typer.Argument(metavar="URI", help="The document, by uri or path.")],
    first: First = 0,
    chunks: Chunks = 5,
    entities: Entities = 10,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Show a document: its title and metadata, what it mentions, and its chunks."""
    with replying(json) as reply:
        settings = load_settings(database_url, workspace)
        wanted = _uri(uri, settings)
        found = in_workspace(
            lambda trueweave: trueweave.document(wanted, first=first, chunks=chunks, entities=entities), settings
        )
        reply({"document": found}, *document_lines(found, first))


def _uri(given: str, settings: Settings) -> str:
    """The uri of a document that is given by it, or by the path of its file."""
    from trueweave.text.uris import Naming

    return Naming(settings.project_folder).uri(given) if os.path.lexists(given) else given
