"""`trueweave receipt`: the spending on models."""

from __future__ import annotations

from typing import Annotated

import typer

from trueweave.cli.options import Limit
from trueweave.cli.render.money import receipt_by_document, receipt_table
from trueweave.cli.session import CommandSession, workspace_command


@workspace_command
def receipt(
    session: CommandSession,
    by_document: Annotated[
        bool, typer.Option("--by-document", help="Show the most expensive documents, by model.")
    ] = False,
    limit: Limit = 20,
) -> None:
    """Show the spending on models, by stage and model."""
    session = session.with_workspace_settings()
    if by_document:
        costly = session(lambda trueweave: trueweave.budget.receipt_by_document(limit=limit))
        session.reply(
            {"documents": costly}, receipt_by_document(costly, session.settings.currency) if costly else _nothing()
        )
    else:
        spent = session(lambda trueweave: trueweave.budget.receipt())
        session.reply({"receipt": spent}, receipt_table(spent, session.settings.currency) if spent else _nothing())


def _nothing() -> str:
    return "Nothing was spent."
