"""`trueweave methods`: the ways of looking for an answer, and their parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from trueweave.cli.options import Json
from trueweave.cli.output import next_step, replying, table
from trueweave.cli.tables import Table

if TYPE_CHECKING:
    from trueweave.methods.registry import Description


def methods(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Only this one, with its parameters.")] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show the parameters of all.")] = False,
    json: Json = False,
) -> None:
    """List the methods that find what answers a question.

    No database is needed. A method of your own is one more entry point, in the group trueweave.methods.
    """
    from trueweave.methods import registry

    with replying(json) as reply:
        found = [registry.describe(one) for one in ([name] if name else registry.names())]
        if name or verbose:
            text = [part for one in found for part in _described(one)]
        else:
            text = [_table(found), "", next_step("trueweave methods NAME", "shows its parameters")]
        reply({"methods": found}, *text, *(_example(found[0]) if name else ()))


def _table(found: Sequence[Description]) -> Table:
    made = table("method", "what it finds")
    for one in found:
        made.add_row(one.name, one.summary)
    return made


def _described(one: Description) -> list[RenderableType]:
    title: list[RenderableType] = [Text.assemble((one.name, "bold"), f"  {one.summary}")]
    if not one.parameters:
        return [*title, ""]
    made = table("parameter", "type", "default", "")
    for parameter in one.parameters:
        made.add_row(parameter.name, parameter.type, parameter.default, parameter.help)
    return [*title, made, ""]


def _example(one: Description) -> list[RenderableType]:
    set_ = f" --set {one.parameters[0].name}=…" if one.parameters else ""
    return [next_step(f'trueweave ask "…" --method {one.name}{set_}', heading="To use it")]
