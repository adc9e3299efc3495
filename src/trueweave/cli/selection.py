"""What commands that act on documents by paths share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import typer

from trueweave.cli.session import CommandSession


@dataclass(frozen=True)
class Selection:
    """The documents that paths match, and the paths that match none."""

    uris: Sequence[str]
    missing: Sequence[str]


def selected(session: CommandSession, paths: Sequence[str], *, former: bool = False) -> Selection:
    """The documents that these paths match; with `former`, also those of which only former versions are kept."""
    found = session(lambda trueweave: trueweave.matching(*paths, former=former))
    uris = sorted({uri for each in found.values() for uri in each})
    return Selection(uris, [given for given, each in found.items() if not each])


def tell(session: CommandSession, selection: Selection, done: Mapping[str, int], said: str) -> None:
    """Say what was done with the documents. Exits with 1 if a path matched none."""
    answer = {**done, "missing": selection.missing}
    if selection.missing:
        named = ", ".join(selection.missing)
        session.reply.fail(f"not found in workspace {session.settings.workspace}: {named}", answer, said)
        raise typer.Exit(1)
    session.reply(answer, said)
