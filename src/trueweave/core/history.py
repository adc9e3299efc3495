"""What a workspace keeps of its past."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from trueweave.core.errors import InvalidArgument

AS_OF = "Trueweave-As-Of"
"""The header of a request about the past."""


@dataclass(frozen=True, slots=True)
class HistorySettings:
    """Since when a workspace keeps history, when its documents last changed, after how many days former versions are
    deleted (None: never), and the oldest time that can be asked for."""

    since: datetime
    changed: datetime
    days: int | None
    oldest: datetime


@dataclass(frozen=True, slots=True)
class HistoryStatus:
    """The history of a workspace: its settings (None if it keeps none), how many former versions are stored, and the
    bytes of their texts."""

    settings: HistorySettings | None
    versions: int
    bytes: int


@dataclass(frozen=True, slots=True)
class DocumentVersion:
    """A version of a document, and an interval in which it was in the index; `until` is None if it still is."""

    id: UUID
    title: str
    since: datetime
    until: datetime | None


def require_zone(at: datetime) -> None:
    """Raise InvalidArgument if a time has no time zone."""
    if at.tzinfo is None:
        raise InvalidArgument(f"the time {at} has no time zone. Give it one, as in datetime.now(timezone.utc).")
