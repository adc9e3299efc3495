"""Conflicts of a workspace without ids, so that those of two workspaces can be compared."""

from typing import Any

from trueweave import AsyncTrueweave
from trueweave.core.functional import Uniqueness
from trueweave.types import Conflict

# Of the keywords and descriptions that random documents have.
FUNCTIONAL: dict[str, Uniqueness] = {
    "wrote": "one source",
    "knew": "one target at a time",
    "met": "one target",
    "built": "one source at a time",
    "was first": "one target at a time",
}
MOST = 1000


def told(found: Conflict) -> Any:
    """A conflict without ids, and with its sides in an order that does not depend on them."""
    sides = sorted(
        (one.name, one.type, one.documents, one.date, tuple(map(_said, one.statements))) for one in found.sides
    )
    latest = next((one.name for one in found.sides if one.entity == found.newest), None)
    return found.relation, found.name, found.type, found.status, found.values, latest, sides


def _said(one: Any) -> Any:
    return one.uri, one.text, one.names, one.source, one.target, one.description, one.strength, one.date


async def conflicts(index: AsyncTrueweave, **given: Any) -> list[Any]:
    return sorted(map(told, await index.graph.conflicts(MOST, **given)), key=repr)
