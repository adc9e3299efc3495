"""Types of relations of which an entity has only one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

Uniqueness = Literal["one target", "one source", "one target at a time", "one source at a time"]


class FunctionalRelation(NamedTuple):
    """A type of relations of which an entity has only one: each source one target, or each target one source."""

    type: str
    uniqueness: Uniqueness

    @property
    def of_source(self) -> bool:
        """Whether each source has one target; otherwise each target has one source."""
        return "target" in self.uniqueness

    @property
    def may_change(self) -> bool:
        """Whether it may change with time."""
        return self.uniqueness.endswith("at a time")


def functional_relations(given: Mapping[str, Uniqueness]) -> list[FunctionalRelation]:
    """The types of relations of the setting, by name."""
    return [FunctionalRelation(name, given[name]) for name in sorted(given)]
