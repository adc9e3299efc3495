"""`trueweave replay`: compare a recorded answer with what is found now."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType

from trueweave.cli.render.lines import count
from trueweave.cli.render.tables import TextTable
from trueweave.cli.session import CommandSession, workspace_command

if TYPE_CHECKING:
    from trueweave.core.records import Replay, ReplayedCitation

RecordFile = Annotated[Path, typer.Argument(metavar="FILE", dir_okay=False, help="A file that `ask --record` wrote.")]


@workspace_command
def replay(session: CommandSession, file: RecordFile) -> None:
    """Check a recorded answer, and search for its question again.

    Says for each citation whether its passage is the same, changed, gone, or no longer found. The question is not
    answered again. Exits with 0 if all citations are the same, and with 1 if not, or if the record was changed.
    """
    found = session(lambda trueweave: trueweave.records.replay(file))
    session.reply({**asdict(found), "same": found.same}, *_lines(found))
    if not found.same:
        raise typer.Exit(1)


def _lines(found: Replay) -> list[RenderableType]:
    index = "The index has changed since." if found.index_changed else "The index has not changed since."
    others = found.passages_now - found.in_both
    shown = TextTable(("", "passage", "document", "~quoted words"))
    for one in found.citations:
        shown.add_row(f"[{one.number}]", _state(one), one.uri, one.quote)
    return [
        found.question,
        f"Recorded on {found.recorded:%Y-%m-%d} in {found.workspace}. The signature is valid.",
        f"Key {found.public_key}",
        f"{index} Of {count(found.passages_before, 'passage')}, {found.in_both} are found again, and {others} others.",
        *([_reproduced(found)] if found.reproduced is not None else []),
        *([shown] if found.citations else ["It cites nothing."]),
    ]


def _reproduced(found: Replay) -> str:
    return f"The index as it was then finds {found.reproduced} of the {count(found.passages_before, 'passage')}."


def _state(one: ReplayedCitation) -> str:
    if one.state != "changed":
        return {"same": "same", "gone": "document gone", "not retrieved": "no longer found"}[one.state]
    return "changed around the quotation" if one.quote_there else "text changed"
