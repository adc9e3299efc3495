"""What `trueweave doctor` checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from trueweave.cli.render.lines import indented

if TYPE_CHECKING:
    from trueweave.models.checks import HealthCheck

_MARKS = {True: ("✓", "green"), False: ("✗", "bold red"), None: ("·", "dim")}


def check_lines(check: HealthCheck) -> list[RenderableType]:
    """One line, and under it what is wrong and how to fix it, if something is."""
    mark, style = _MARKS[check.ok]
    if check.ok is not False:
        return [Text.assemble((f"{mark} ", style), check.what, (f"  {check.detail}" if check.detail else "", "dim"))]
    return [Text.assemble((f"{mark} ", style), check.what), *map(indented, filter(None, (check.detail, check.fix)))]
