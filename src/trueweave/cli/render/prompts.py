"""Prompts, one a line."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from trueweave.cli.render.tables import TextTable, table

if TYPE_CHECKING:
    from trueweave.models.prompts import Template


def prompt_table(found: Sequence[Template], own: Collection[str]) -> TextTable:
    """Prompts with where they are from, their version and what stands in for what."""
    made = table("prompt", "from", "version", "placeholders")
    for one in found:
        placeholders = " ".join(f"{{{name}}}" for name in one.placeholders)
        made.add_row(one.name, "your folder" if one.name in own else "built in", one.version, placeholders)
    return made
