"""Conflicts: documents that state different values of a relation of which an entity has only one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from trueweave.core.dates import period
from trueweave.core.evidence import RelationStatement
from trueweave.core.functional import Uniqueness

ConflictStatus = Literal["contradiction", "may have changed"]


@dataclass(frozen=True, slots=True)
class ConflictSide:
    """One of the values in a conflict: an entity, the number of documents that state it, and statements of some of
    them, the latest first. `date` is the latest date of these documents; empty if none has a date."""

    entity: UUID
    name: str
    type: str
    documents: int
    date: str
    statements: tuple[RelationStatement, ...]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Documents that state different values of a relation of which an entity, the subject, has only one.

    `relation` and `uniqueness` are those of the setting: with "one target" the subject is the source of the relation
    and the values are its targets, with "one source" it is the other way round. `sides` are the values, those with the
    latest documents first; `values` is the number of all of them, of which some may be left out.

    `newest` is the entity of the side whose latest document is newer than all documents of the others, if there is one.
    If the relation may change with time, and all sides have a date, the status is then "may have changed"; in all other
    cases it is "contradiction".
    """

    relation: str
    uniqueness: Uniqueness
    subject: UUID
    name: str
    type: str
    status: ConflictStatus
    newest: UUID | None
    values: int
    sides: tuple[ConflictSide, ...]

    @property
    def line(self) -> str:
        """The conflict on one line, for display."""
        told = "; ".join(f"{one.name} ({self.dating(one)})" for one in self.sides)
        more = f"; {self.values - len(self.sides)} more" if self.values > len(self.sides) else ""
        changed = " (may have changed)" if self.status == "may have changed" else ""
        return f"{self.name}, {self.relation}: {told}{more}{changed}"

    def dating(self, side: ConflictSide) -> str:
        """When a side was last stated, for display."""
        return f"{side.date[:10] or 'no date'}{', newest' if side.entity == self.newest else ''}"


def newest(dates: Iterable[tuple[UUID, str]]) -> UUID | None:
    """The entity whose date is later than those of all others, given with their latest dates. None if there is no such
    one: dates that overlap, as 2024 and 2024-05 do, are not one after the other. What has no date is passed over."""
    dated = [(period(date), entity) for entity, date in dates if date]
    if not dated:
        return None
    last, latest = max(dated)
    others = [one for one, entity in dated if entity != latest]
    return None if any(one.end > last.begin or one.begin == last.begin for one in others) else latest
