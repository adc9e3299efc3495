"""`weft add` and `weft remove`: documents come and go."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from weft.cli.options import DatabaseUrl, Json, Workspace
from weft.cli.output import count, next_step, progress, replying
from weft.cli.session import in_workspace
from weft.config import Settings
from weft.engine import AsyncWeft
from weft.extract import given
from weft.text.json_lines import lines

Paths = Annotated[
    list[Path],
    typer.Argument(metavar="FILE", exists=True, dir_okay=False, readable=True, help="JSON lines, plain or .gz."),
]
Said = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", exists=True, dir_okay=False, help="JSON lines with entities and triples, by the same ids."
    ),
]
Uris = Annotated[list[str], typer.Argument(metavar="URI", help="The uris of the documents, as they were added.")]


def add(
    paths: Paths,
    said: Said = None,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Add documents from JSON lines files.

    Each line is one document (this one is spread over three to fit here):

    \b
    {"uri": "notes/1", "text": "Ada Lovelace lived in London.",
     "entities": ["Ada Lovelace", {"name": "London", "type": "place"}],
     "triples": [["Ada Lovelace", "lived in", "London"]]}

    Its uri is its identity: a line with a known uri replaces that document, and one that says nothing new changes
    nothing. So a run that was interrupted is simply run again.
    """
    with replying(json) as reply:
        settings = Settings.load(database_url=database_url, workspace=workspace)
        total = sum(map(_count, paths))

        async def add_all(weft: AsyncWeft) -> int:
            with progress("Adding", total) as done:
                return await weft.add_documents(chain.from_iterable(given.read(path, said) for path in paths), done)

        new = in_workspace(add_all, settings)
        reply(
            {"documents": total, "new": new},
            f"{count(total, 'document')} read, {new:,} new or changed.",
            next_step("weft entities", "shows what they speak of most"),
        )


def remove(uris: Uris, workspace: Workspace = None, database_url: DatabaseUrl = None, json: Json = False) -> None:
    """Remove documents, and all that only they said."""
    with replying(json) as reply:
        settings = Settings.load(database_url=database_url, workspace=workspace)
        removed = in_workspace(lambda weft: weft.remove(uris), settings)
        missing = len(set(uris)) - removed
        reply(
            {"removed": removed, "missing": missing},
            f"{count(removed, 'document')} removed.",
            *([f"{count(missing, 'uri')} not found in workspace {settings.workspace}."] if missing else []),
        )


def _count(path: Path) -> int:
    """How many documents a file holds, without looking into them."""
    return sum(1 for _ in lines(path))
