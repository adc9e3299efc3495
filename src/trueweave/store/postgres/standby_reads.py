"""How a database reads from its standbys. `cluster/standbys.py` implements it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from trueweave.store.postgres.connections import Row


@dataclass(frozen=True, slots=True)
class StandbyState:
    """A standby, as a process sees it: why questions are not read from it, empty where they are; whether that is
    because it is the primary now; how many seconds what it has is behind the primary, None where that is not known;
    statements that it answered, and those that it did not."""

    server: str
    problem: str
    is_primary: bool
    lag: float | None
    reads: int
    failures: int


class StandbyReader(Protocol):
    """One standby."""

    async def read(
        self, workspace: int, query: bytes, params: Mapping[str, Any] | None, least: int
    ) -> tuple[int, list[Row]] | None:
        """The position in the log that the standby had replayed, and the rows of a statement. None if it has not
        replayed `least` or did not answer: then the caller asks the primary."""


class StandbyReads(Protocol):
    """The standbys of a primary."""

    def start(self) -> None:
        """Watch them from now on."""

    def states(self) -> Sequence[StandbyState]:
        """The current state of each."""

    async def look(self, seconds: float) -> Sequence[StandbyState]:
        """The state of each, as soon as all can be read from, or after this many seconds."""

    async def choose(self) -> tuple[StandbyReader, int] | None:
        """A standby that has everything committed before this call, and the position in the log up to which that is;
        None if no standby has it in time."""

    async def aclose(self) -> None:
        """Close all connections."""
