"""Lists of documents."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.text import Text

from trueweave.cli.render.dates import local_time
from trueweave.cli.render.lines import indented, next_step, warning
from trueweave.cli.render.tables import table

if TYPE_CHECKING:
    from trueweave.core.jobs import DocumentInfo


def document_lines(
    found: list[DocumentInfo], there: int, limit: int, *, with_notes: bool, narrowed: bool = False
) -> list[RenderableType]:
    """Documents with their titles and sizes, or with their notes; and how to see more."""
    if not there:
        return [next_step("trueweave add PATH", "there are none yet")]
    if not found:
        return ["No document fits." if narrowed else "No document has a note."]
    more: list[RenderableType] = []
    if len(found) == limit < there:
        more = [warning(f"There may be more: --after {shlex.quote(found[-1].uri)} shows what follows.")]
    if with_notes:
        named = (part for one in found for part in (Text(one.uri, style="bold"), *map(indented, one.notes)))
        return [*named, *more]
    made = table("document", "~title", ">chunks", "added")
    for one in found:
        made.add_row(one.uri, one.title, f"{one.chunks:,}", local_time(one.added))
    return [made, *more]
