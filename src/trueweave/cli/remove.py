"""`trueweave remove`: remove documents."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trueweave.cli.options import DocumentPaths, Yes
from trueweave.cli.render.console import changing_line, say
from trueweave.cli.render.lines import count
from trueweave.cli.render.run_summary import first_of
from trueweave.cli.selection import Selection, selected, tell
from trueweave.cli.session import CommandSession, workspace_command

if TYPE_CHECKING:
    from trueweave.engine.trueweave import AsyncTrueweave

Certificate = Annotated[
    Path | None,
    typer.Option(
        "--certificate",
        metavar="FILE",
        dir_okay=False,
        help="Erase, search the whole workspace for what is left, and write a signed certificate to this new file. Run "
        "the same command again to continue after an interruption.",
    ),
]


@workspace_command
def remove(
    session: CommandSession,
    paths: DocumentPaths,
    erase: Annotated[
        bool, typer.Option("--erase", help="Erase former versions, too, if the workspace keeps history.")
    ] = False,
    certificate: Certificate = None,
    yes: Yes = False,
) -> None:
    """Remove documents, and everything that only they state.

    A folder or pattern selects all documents whose files are or were there, a .jsonl or .csv file its rows, and
    graphrag:ragtest what was imported from there. Queued and failed documents are removed, too. Exits with 1 when
    something is not found; everything else is removed.
    """
    selection = selected(session, paths, former=erase or certificate is not None)
    uris = selection.uris
    if len(uris) > len(set(paths)) and not yes and sys.stdin.isatty():
        say(*first_of(uris, "document", "to be removed", "all that the given paths match"))
        typer.confirm(f"Remove {count(len(uris), 'document')}?", abort=True, err=True)
    if certificate:
        _certify(session, paths, selection, certificate)
        return
    removed = session(lambda trueweave: trueweave.remove(uris, erase=erase)) if uris else 0
    tell(session, selection, {"removed": removed}, f"{count(removed, 'document')} removed.")


def _certify(session: CommandSession, paths: list[str], selection: Selection, file: Path) -> None:
    with changing_line("Erasing") as show:

        async def erase(trueweave: AsyncTrueweave) -> dict[str, Any]:
            return await trueweave.certificates.erase(*paths, file=file, told=show)

        statement = session(erase)
    erased = len({one["uri_sha256"] for one in statement["documents"]})
    # After an interruption, the documents that were removed before are no longer found.
    missing = selection.missing if selection.uris else ()
    said = f"{count(erased, 'document')} erased. Nothing is left in the workspace, as {file} certifies."
    tell(session, Selection(selection.uris, missing), {"removed": erased}, said)
