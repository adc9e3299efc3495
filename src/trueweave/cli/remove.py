"""`trueweave remove`: remove documents."""

from __future__ import annotations

import sys

import typer

from trueweave.cli.options import DocumentPaths, Yes
from trueweave.cli.render.console import say
from trueweave.cli.render.lines import count
from trueweave.cli.render.run_summary import first_of
from trueweave.cli.selection import selected, tell
from trueweave.cli.session import CommandSession, workspace_command


@workspace_command
def remove(
    session: CommandSession,
    paths: DocumentPaths,
    yes: Yes = False,
) -> None:
    """Remove documents, and everything that only they state.

    A folder or pattern selects all documents whose files are or were there, a .jsonl or .csv file its rows, and
    graphrag:ragtest what was imported from there. Queued and failed documents are removed, too. Exits with 1 when
    something is not found; everything else is removed.
    """
    selection = selected(session, paths)
    uris = selection.uris
    if len(uris) > len(set(paths)) and not yes and sys.stdin.isatty():
        say(*first_of(uris, "document", "to be removed", "all that the given paths match"))
        typer.confirm(f"Remove {count(len(uris), 'document')}?", abort=True, err=True)
    removed = session(lambda trueweave: trueweave.remove(uris)) if uris else 0
    tell(session, selection, {"removed": removed}, f"{count(removed, 'document')} removed.")
