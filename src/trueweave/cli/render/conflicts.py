"""Printing conflicts between documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from trueweave.cli.render.lines import count, indented, one_line, warning

if TYPE_CHECKING:
    from trueweave.core.conflicts import Conflict, ConflictSide

_LONGEST = 320  # characters of a statement
_NOT_SET = (
    "No relation is set as one of which an entity has only one, so there is nothing to compare. For example, in "
    'trueweave.toml, under [functional_relations]: "born in" = "one target".'
)


def conflict_lines(found: Sequence[Conflict], limit: int, *, is_set: bool) -> list[RenderableType]:
    """Conflicts with their values and statements, and how to see more."""
    if not found:
        return ["No document contradicts another." if is_set else warning(_NOT_SET)]
    parts: list[RenderableType] = []
    for one in found:
        parts += [*([""] if parts else []), *_conflict(one)]
    if len(found) == limit:
        parts += ["", warning("There may be more: --limit shows them.")]
    return parts


def _conflict(found: Conflict) -> list[RenderableType]:
    style = "yellow" if found.status == "may have changed" else "red"
    parts: list[RenderableType] = [
        Text.assemble((one_line(found.name), "bold"), f"  {one_line(found.relation)}  ", (found.status, style))
    ]
    for side in found.sides:
        parts += _side(found, side)
    if found.values > len(found.sides):
        parts.append(indented(f"and {count(found.values - len(found.sides), 'value')} more"))
    return parts


def _side(found: Conflict, side: ConflictSide) -> list[RenderableType]:
    told = f"{one_line(side.name)}  {found.dating(side)}, {count(side.documents, 'document')}"
    parts = [indented(told)]
    for said in side.statements:
        dated = f"  {said.date[:10]}" if said.date else ""
        parts += [indented(f"{said.uri}{dated}", 4), indented(f"“{one_line(said.text, _LONGEST)}”", 6)]
    return parts
