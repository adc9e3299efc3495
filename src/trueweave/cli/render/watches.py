"""Printing alerts of watches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from trueweave.cli.render.dates import local_time
from trueweave.cli.render.lines import count, indented, one_line, warning

if TYPE_CHECKING:
    from trueweave.core.watches import Alert, AlertPassage

_LONGEST = 240  # characters of a passage
_SIGNS = {"added": "+", "removed": "-"}
_ERASED = "a document that was removed, or cannot be read any more"


def alert_lines(found: Sequence[Alert]) -> list[RenderableType]:
    """Alerts with the passages that were added or removed."""
    if not found:
        return ["There are no alerts."]
    parts: list[RenderableType] = []
    for one in found:
        parts += [*([""] if parts else []), *_alert(one)]
    return parts


def _alert(found: Alert) -> list[RenderableType]:
    if found.is_first:
        said = f"found {count(found.added, 'passage')} when it was added"
    else:
        said = f"{count(found.added, 'passage')} added, {found.removed:,} removed"
    parts: list[RenderableType] = [
        Text.assemble((found.watch, "bold"), f"  {said}  ", (local_time(found.at), "dim")),
        indented(one_line(found.question)),
    ]
    for passage in found.passages:
        if passage.change != "kept":
            parts += _passage(passage)
    if found.answer:
        parts.append(indented(f"Answer: {one_line(found.answer, 2000)}"))
    if found.problem:
        parts.append(warning(f"  No answer: {found.problem}"))
    if found.delivery == "failed":
        parts.append(warning("  It was not sent: the webhook did not accept it."))
    return parts


def _passage(passage: AlertPassage) -> list[RenderableType]:
    dated = f"  {passage.date[:10]}" if passage.date else ""
    lines = [indented(f"{_SIGNS[passage.change]} {passage.uri or _ERASED}{dated}", 2)]
    if passage.text:
        lines.append(indented(f"“{one_line(passage.text, _LONGEST)}”", 4))
    return lines
