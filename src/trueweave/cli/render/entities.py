"""Tables of entities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from trueweave.cli.render.tables import TextTable, table

if TYPE_CHECKING:
    from trueweave.core.graph import Entity


def entity_table(found: Sequence[Entity]) -> TextTable:
    """Entities with their other spellings, and their descriptions as documents give them."""
    made = table("name", "type", ">mentions", ">relations", "~also written", "~description")
    for entity in found:
        also = ", ".join(alias for alias in entity.aliases if alias != entity.name)
        described = "; ".join(entity.description.splitlines())
        made.add_row(entity.name, entity.type, f"{entity.count:,}", f"{entity.degree:,}", also, described)
    return made


def described_entities(found: Sequence[Entity]) -> TextTable:
    """Entities with a description each: the summary, where there is one."""
    made = table("name", "type", ">mentions", ">relations", "~description")
    for entity in found:
        described = entity.summary or entity.description
        made.add_row(entity.name, entity.type, f"{entity.count:,}", f"{entity.degree:,}", described)
    return made
