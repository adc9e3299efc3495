"""The server that one question reads from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trueweave.core.memo import Memo
from trueweave.store.postgres.connections import Row
from trueweave.store.postgres.db import Workspace
from trueweave.store.postgres.sight import Sight
from trueweave.store.postgres.standby_reads import StandbyReader


class QuestionServer:
    """A standby that has everything committed before the question was asked, or else the primary. Without `standbys`,
    always the primary.

    No statement sees an older state than the one before it. If the standby fails, that statement and all later ones go
    to the primary, which has everything that the standby has returned. A question that began before a bulk load
    replaced the index is completed on the former index; that of a caller begins again.
    """

    def __init__(self, workspace: Workspace, *, standbys: bool) -> None:
        self._workspace = workspace
        self._standbys = standbys
        self._chosen: StandbyReader | None = None
        self._least = 0
        self._has_begun = False
        self._memo = Memo()

    def seen(self, sight: Sight) -> QuestionServer:
        """The same server, as far as a caller sees what is there."""
        self._workspace = self._workspace.seen(sight)
        return self

    async def read(self, query: bytes, params: Mapping[str, Any] | None = None) -> list[Row]:
        """The rows of one statement."""
        if self._standbys:
            await self._memo.once("choose", self._choose)
        if self._chosen:
            found = await self._chosen.read(self._workspace.id, query, params, self._least, self._workspace.sight)
            if found:
                self._least, self._has_begun = max(self._least, found[0]), True
                return found[1]
            self._chosen = None
        # Readers change in the new index only, so a caller's question does not go on with the former one.
        has_former = self._has_begun and self._workspace.sight is None
        rows = await self._workspace.read(query, params, former=has_former)
        self._has_begun = True
        return rows

    async def _choose(self) -> None:
        standbys = (await self._workspace.placed()).standbys
        if standbys and (found := await standbys.choose()):
            self._chosen, self._least = found
