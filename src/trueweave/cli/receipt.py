"""`trueweave receipt`: what was spent on models."""

from __future__ import annotations

from typing import Annotated

import typer

from trueweave.cli.options import DatabaseUrl, Json, Limit, Workspace
from trueweave.cli.render.money import receipt_by_document, receipt_table
from trueweave.cli.reply import replying
from trueweave.cli.session import in_force, in_workspace, load_settings


def receipt(
    by_document: Annotated[bool, typer.Option("--by-document", help="The costliest documents, by model.")] = False,
    limit: Limit = 20,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """Show what was spent on models, by stage and model."""
    with replying(json) as reply:
        settings = in_force(load_settings(database_url, workspace))
        if by_document:
            costly = in_workspace(lambda trueweave: trueweave.budget.receipt_by_document(limit=limit), settings)
            reply({"documents": costly}, receipt_by_document(costly, settings.currency) if costly else _nothing())
        else:
            spent = in_workspace(lambda trueweave: trueweave.budget.receipt(), settings)
            reply({"receipt": spent}, receipt_table(spent, settings.currency) if spent else _nothing())


def _nothing() -> str:
    return "Nothing was spent."
