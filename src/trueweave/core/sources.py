"""Sources: addresses that a workspace follows, and what their last runs came to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

RunOutcome = Literal["done", "failed", "stopped"]


@dataclass(frozen=True, slots=True)
class SourceRun:
    """A run over a source that has ended: the documents that it found, those among them that were new or changed, those
    that it removed, and how many items could not be read.

    `failed` runs could not list the address, or met another error. `stopped` runs would have removed more than a fifth
    of the documents. Both say so in `problem`, with what to do.
    """

    began: datetime
    ended: datetime
    outcome: RunOutcome
    documents: int
    new: int
    removed: int
    unreadable: int
    problem: str = ""


@dataclass(frozen=True, slots=True)
class DocumentSource:
    """An address that a workspace follows.

    `secrets` are the environment variables that hold its credentials, by the names that its connector gives them. With
    `every_seconds`, workers synchronise it that often, the next time when it is `due`. If `restricted`, it was added
    through a server, and may use only what the administrator allows for the workspace. `readers` are the groups that
    can read its documents, except those that state their own; None if none were given.
    """

    name: str
    address: str
    secrets: Mapping[str, str]
    every_seconds: int | None
    restricted: bool
    author: str
    made: datetime
    due: datetime | None
    is_running: bool
    is_being_removed: bool
    last_run: SourceRun | None
    readers: tuple[str, ...] | None = None
