"""`trueweave conflicts`: where documents contradict each other."""

from __future__ import annotations

from typing import Annotated

import typer

from trueweave.cli.options import Limit
from trueweave.cli.questions import Documents, FilterText, Where, read_filter
from trueweave.cli.render.conflicts import conflict_lines
from trueweave.cli.session import CommandSession, reading_command


@reading_command
def conflicts(
    session: CommandSession,
    statements: Annotated[
        int, typer.Option(min=0, max=20, help="Of how many documents to show a statement, for each value.")
    ] = 2,
    document: Documents = None,
    where: Where = None,
    filter: FilterText = None,
    limit: Limit = 20,
) -> None:
    """Show where documents contradict each other: entities of which they state several values of a relation that has
    only one.

    The setting functional_relations says of which relations an entity has only one. Nothing is extracted again after a
    change. Values with the latest documents come first.
    """
    passing = read_filter(document, where, filter, session.settings.project_folder)
    found = session(lambda trueweave: trueweave.graph.conflicts(limit, statements=statements, filter=passing))
    is_set = bool(session.settings.functional_relations)
    session.reply({"conflicts": found}, *conflict_lines(found, limit, is_set=is_set))
