"""Methods and their parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from trueweave.cli.render.lines import next_step
from trueweave.cli.render.tables import TextTable, table

if TYPE_CHECKING:
    from trueweave.retrieval.methods.registry import Description


def method_table(found: Sequence[Description]) -> TextTable:
    """Methods, one a line."""
    made = table("method", "what it finds")
    for one in found:
        made.add_row(one.name, one.summary)
    return made


def method_lines(one: Description) -> list[RenderableType]:
    """A method with its parameters."""
    title: list[RenderableType] = [Text.assemble((one.name, "bold"), f"  {one.summary}")]
    if not one.parameters:
        return [*title, ""]
    made = table("parameter", "type", "default", "")
    for parameter in one.parameters:
        made.add_row(parameter.name, parameter.type, parameter.default, parameter.help)
    return [*title, made, ""]


def method_example(one: Description) -> list[RenderableType]:
    """How to use a method."""
    set_ = f" --set {one.parameters[0].name}=…" if one.parameters else ""
    return [next_step(f'trueweave ask "…" --method {one.name}{set_}', heading="To use it")]
