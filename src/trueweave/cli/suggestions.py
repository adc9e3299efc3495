"""`trueweave rules suggest`, `accept` and `reject`: names that may be one thing, for a person to decide."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer
from rich.console import RenderableType

from trueweave.cli.options import DatabaseUrl, Json, Workspace
from trueweave.cli.output import count, indented, next_step, replying, spinning
from trueweave.cli.rules import SHORT, listed, written
from trueweave.cli.session import in_workspace, load_settings
from trueweave.types import Rule, SuggestedName, Suggestion

Which = Annotated[
    list[str],
    typer.Argument(
        metavar="ID|N", help="Suggestions by their ids, or how these begin, or by their numbers in the last list."
    ),
]


def suggest(
    threshold: Annotated[
        int | None,
        typer.Option(min=70, max=100, metavar="PERCENT", help="How alike. Without it, as the resolution says."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=9999, help="How many pairs to show.")] = 20,
    auto: Annotated[
        int | None,
        typer.Option(min=70, max=100, metavar="PERCENT", help="Accept all pairs that are more alike than this."),
    ] = None,
    rejected: Annotated[bool, typer.Option("--rejected", help="Show the pairs that were rejected.")] = False,
    workspace: Workspace = None,
    database_url: DatabaseUrl = None,
    json: Json = False,
) -> None:
    """List names that are alike and may be one thing, with passages of both.

    Nothing is merged before somebody accepts it. What was rejected is not listed again.
    """
    with replying(json) as reply:
        settings = load_settings(database_url, workspace)
        with spinning("comparing names"):
            if auto is not None:
                above = auto
                rules = in_workspace(lambda trueweave: trueweave.accept_above(above), settings)
                reply({"rules": rules}, *_accepted(rules))
                return
            found = in_workspace(
                lambda trueweave: trueweave.suggestions(threshold, limit=limit, rejected=rejected), settings
            )
        reply({"suggestions": found}, *_listing(found))


def accept(which: Which, workspace: Workspace = None, database_url: DatabaseUrl = None, json: Json = False) -> None:
    """Let the names of these suggestions be one entity: each becomes a merge rule."""
    with replying(json) as reply:
        settings = load_settings(database_url, workspace)
        rules = in_workspace(lambda trueweave: trueweave.accept(*which), settings)
        reply({"rules": rules}, *_accepted(rules))


def reject(which: Which, workspace: Workspace = None, database_url: DatabaseUrl = None, json: Json = False) -> None:
    """Leave the names of these suggestions apart, and do not suggest them again."""
    with replying(json) as reply:
        settings = load_settings(database_url, workspace)
        pairs = in_workspace(lambda trueweave: trueweave.reject(*which), settings)
        reply({"rejected": pairs}, *(f"{listed(pair)}: not suggested again." for pair in pairs))


def _accepted(rules: list[Rule]) -> Iterator[RenderableType]:
    for rule in rules:
        yield f"{listed(rule.names)} are one entity now. Rule {str(rule.id)[:SHORT]}."
    if rules:
        yield next_step(f"trueweave rules undo {str(rules[-1].id)[:SHORT]}", heading="To take it back")
    else:
        yield "No names are that alike."


def _listing(found: list[Suggestion]) -> Iterator[RenderableType]:
    for one in found:
        yield f"{one.number}  {str(one.id)[:SHORT]}  {_side(one.one)}  |  {_side(one.other)}  {one.score:.1f} % alike"
        for side in (one.one, one.other):
            for passage in side.passages:
                yield indented(f"{passage.title or passage.uri}: {passage.text}")
    if found:
        first = str(found[0].id)[:SHORT]
        yield next_step(f"trueweave rules accept {first}", "or reject; several at once will do")
    else:
        yield "There is nothing to suggest."


def _side(name: SuggestedName) -> str:
    return f"{written(name.name)} ({count(name.mentions, 'mention')})"
