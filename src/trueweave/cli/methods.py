"""`trueweave methods`: list the methods and their parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType
from rich.text import Text

from trueweave.cli.options import Json
from trueweave.cli.render.lines import next_step, warning
from trueweave.cli.render.tables import TextTable, table
from trueweave.cli.reply import replying

if TYPE_CHECKING:
    from trueweave.retrieval.methods.registry import Description


def methods(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Show only this method, with its parameters.")
    ] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show the parameters of all methods.")] = False,
    json: Json = False,
) -> None:
    """List the retrieval methods.

    No database is needed. To add your own method, declare an entry point in the group trueweave.methods.
    """
    from trueweave.retrieval.methods import registry

    with replying(json) as reply:
        found = [registry.describe(one) for one in ([name] if name else registry.names())]
        if name or verbose:
            text = [part for one in found for part in _method_lines(one)]
        else:
            text = [_method_table(found), "", next_step("trueweave methods NAME", "shows its parameters")]
        broken = [] if name else registry.broken()
        text += [warning(one.problem) for one in broken]
        reply({"methods": found, "broken": broken}, *text, *(_method_example(found[0]) if name else ()))


def _method_table(found: Sequence[Description]) -> TextTable:
    """Methods, one a line."""
    return table("method", "what it finds", rows=((one.name, one.summary) for one in found))


def _method_lines(one: Description) -> list[RenderableType]:
    """A method with its parameters."""
    title: list[RenderableType] = [Text.assemble((one.name, "bold"), f"  {one.summary}")]
    if not one.parameters:
        return [*title, ""]
    rows = ((each.name, each.type, each.default, each.help) for each in one.parameters)
    return [*title, table("parameter", "type", "default", "", rows=rows), ""]


def _method_example(one: Description) -> list[RenderableType]:
    """How to use a method."""
    set_ = f" --set {one.parameters[0].name}=…" if one.parameters else ""
    return [next_step(f'trueweave ask "…" --method {one.name}{set_}', heading="To use it")]
