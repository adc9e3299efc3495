"""What is different between two indexes, as lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from trueweave.cli.render.lines import heading, indented, one_line

if TYPE_CHECKING:
    from trueweave.core.diff import Change, ChangedKind, IndexChange, IndexDiff
    from trueweave.core.evidence import Passage

_SIGNS: dict[Change, tuple[str, str]] = {"added": ("+", "green"), "removed": ("-", "red"), "changed": ("~", "yellow")}
_HEADINGS: dict[ChangedKind, str] = {"document": "Documents", "entity": "Entities", "relation": "Relations"}


def diff_lines(found: IndexDiff) -> list[RenderableType]:
    """The changes by kind, each with passages from before (-) and after (+)."""
    lines: list[RenderableType] = []
    for kind, title in _HEADINGS.items():
        changes = [one for one in found.changes if one.kind == kind]
        total = sum(found.counts[kind].values())
        if total:
            lines += ["", heading(title, len(changes), total, more=" (--limit)")]
            lines += [line for one in changes for line in _change_lines(one)]
    return lines[1:] or ["No difference."]


def _change_lines(one: IndexChange) -> Iterator[RenderableType]:
    sign, style = _SIGNS[one.change]
    said = one.after or one.before
    yield Text.assemble((f"{sign} {one.name}", style), (f"  {one_line(said, 100)}" if said else "", "dim"))
    for mark, passages in (("-", one.passages_before), ("+", one.passages_after)):
        if one.kind == "document" and one.change == "changed":
            passages = passages[:1]
        yield from (indented(_said(mark, passage), 4) for passage in passages)


def _said(mark: str, passage: Passage) -> str:
    return f"{mark} {passage.uri}: {one_line(passage.text, 120)}"
