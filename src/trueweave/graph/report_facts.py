"""The facts for a report on a community: its members, their relations, and the reports on its parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from trueweave.core.graph import CommunityReport


class EntityFact(NamedTuple):
    """A member of a community, and a chunk that mentions it."""

    id: UUID
    name: str
    type: str
    description: str
    aliases: Sequence[str]
    chunk: UUID | None


class RelationFact(NamedTuple):
    """A relation within a community, and a chunk that states it."""

    id: UUID
    source: UUID
    target: UUID
    source_name: str
    target_name: str
    description: str
    weight: float
    chunk: UUID | None


@dataclass(frozen=True, slots=True)
class Facts:
    """All facts that a report may be written from, as far as they were read: the most central members and the heaviest
    relations.

    `size` and `links` say how many of each there are. `parts` has the reports on its parts, `between` the relations
    from one part to another.
    """

    size: int
    links: int
    entities: Sequence[EntityFact]
    relations: Sequence[RelationFact]
    parts: Sequence[CommunityReport] = ()
    between: Sequence[RelationFact] = ()

    @property
    def is_whole(self) -> bool:
        """Whether all members and relations are included."""
        return len(self.entities) == self.size and len(self.relations) == self.links
