"""`trueweave documents`: list documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from trueweave.cli.options import DatabaseUrl, Json, Limit, Workspace
from trueweave.cli.questions import Where, read_filter
from trueweave.cli.render.documents import document_lines
from trueweave.cli.reply import replying
from trueweave.cli.session import in_workspace, load_settings

if TYPE_CHECKING:
    from trueweave.core.jobs import DocumentInfo
    from trueweave.engine.trueweave import AsyncTrueweave


def documents(
    notes: Annotated[bool, typer.Option("--notes", help="Only those with a note, with what was noted.")] = False,
    where: Where = None,
    after: Annotated[str, typer.Option(metavar="URI", help="Begin behind this one.")] = "",
    limit: Limit = 50,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """List the documents that are there, by name."""

    with replying(json) as reply:
        passing = read_filter(None, where)

        async def look(trueweave: AsyncTrueweave) -> tuple[list[DocumentInfo], int]:
            found = await trueweave.list_documents(limit, noted=notes, after=after, filter=passing)
            return found, (await trueweave.status()).documents

        found, there = in_workspace(look, load_settings(database_url, workspace))
        narrowed = bool(passing or after)
        text = document_lines(found, there, limit, with_notes=notes, narrowed=narrowed)
        reply({"documents": found, "number": there}, *text)
