"""Colours that are distinguishable with any colour vision: those of Okabe and Ito (2008), and grey for further
types."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from trueweave.core.graph import Entity

PALETTE = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442")
OTHER = "#999999"


def colours(entities: Iterable[Entity]) -> dict[str, str]:
    """A colour for each of the most frequent types. All others are grey."""
    return dict(zip(_types_in_order(entities), PALETTE, strict=False))


def legend(entities: Sequence[Entity]) -> list[tuple[str, str]]:
    """What each colour stands for. Empty if no entity has a type, as then all have one colour."""
    known = colours(entities)
    rest = {one.type for one in entities if one.type not in known}
    return [*known.items(), *([(rest_name(rest), OTHER)] if known and rest else [])]


def rest_name(types: Collection[str]) -> str:
    """The name for types without their own colour."""
    return "other types" if any(types) else "no type"


def _types_in_order(entities: Iterable[Entity]) -> list[str]:
    """The types of entities, most frequent first, then by name, without the empty type."""
    number: dict[str, int] = {}
    for one in entities:
        number[one.type] = number.get(one.type, 0) + 1
    return sorted((type_ for type_ in number if type_), key=lambda type_: (-number[type_], type_))
