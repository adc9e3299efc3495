"""What a caller sees of a workspace. See docs/adr/0056-access-rights.md."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from trueweave.core.errors import NotForRestricted


@dataclass(frozen=True, slots=True)
class Sight:
    """What a caller sees of a workspace: documents that everybody reads and those of its groups, of these only what
    passes a filter, if there is one (JSON: see `meets` in 0025_rights.sql). The group * sees all documents.

    A transaction with a sight works as a role whose row-level security shows no more than that, unless the workspace
    has nothing else.
    """

    groups: tuple[str, ...]
    filter: str = ""

    @property
    def settings(self) -> tuple[str, str]:
        """The values of the settings trueweave.groups and trueweave.filter."""
        quoted = (group.replace("\\", "\\\\").replace('"', '\\"') for group in self.groups)
        return "{" + ",".join(f'"{group}"' for group in quoted) + "}", self.filter

    def narrowed(self, passing: str) -> Sight:
        """What passes another filter of what this shows."""
        if not (self.filter and passing):
            return replace(self, filter=self.filter or passing)
        return replace(self, filter=json.dumps({"all": [json.loads(self.filter), json.loads(passing)]}))


def statement(query: bytes, sight: Sight | None) -> bytes:
    """The text under which a query is prepared: callers have statements of their own, because PostgreSQL plans a
    prepared statement again if another role ran it last."""
    return b"-- for a caller\n" + query if sight else query


def refused(what: str = "this") -> NotForRestricted:
    """The error for what is not available to a caller who does not see all documents."""
    return NotForRestricted(
        f"{what} is not available to callers who may not read all documents of the workspace, because it shows or "
        "changes what is made from all of them. Ask somebody who reads as the group *, which is all documents."
    )
