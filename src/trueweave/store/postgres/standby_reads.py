"""How a database reads from its standbys. `cluster/standbys.py` implements it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from trueweave.store.postgres.connections import Row
from trueweave.store.postgres.sight import Sight


@dataclass(frozen=True, slots=True)
class StandbyState:
    """A standby as this process sees it: why questions are not read from it (empty if they are), whether that is
    because it has become the primary, its lag behind the primary in seconds (None if unknown), and how many statements
    it answered and failed to answer."""

    server: str
    problem: str
    is_primary: bool
    lag: float | None
    reads: int
    failures: int


class StandbyReader(Protocol):
    """One standby."""

    async def read(
        self, workspace: int, query: bytes, params: Mapping[str, Any] | None, least: int, sight: Sight | None = None
    ) -> tuple[int, list[Row]] | None:
        """The log position that the standby has replayed, and the rows of a statement. None if it has not replayed
        `least` or did not answer; the caller then asks the primary."""


class StandbyReads(Protocol):
    """The standbys of a primary."""

    def start(self) -> None:
        """Start watching them."""

    def states(self) -> Sequence[StandbyState]:
        """The current state of each standby."""

    async def look(self, seconds: float) -> Sequence[StandbyState]:
        """The state of each standby, as soon as all of them can be read from, or after this many seconds."""

    async def choose(self) -> tuple[StandbyReader, int] | None:
        """A standby that has everything committed before this call, and the log position up to which that is; None if
        no standby reaches it in time."""

    async def aclose(self) -> None:
        """Close all connections."""
