"""The budget of a workspace and what it has spent on models, through its server."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from trueweave.client.forms import moment, part, read
from trueweave.client.requests import WorkspaceRequests
from trueweave.core.money import Budget, SpendBy, Spent, SpentOn, SpentOnDay


class AsyncClientBudget:
    """The budget of a workspace of a server: `client.budget`."""

    def __init__(self, requests: WorkspaceRequests) -> None:
        self._requests = requests

    # --- written by `make sync` from engine/budget.py and the server's routes ---

    async def get(self) -> Budget:
        """How much this workspace may spend on models, and how much it has spent."""
        return read(Budget, await self._requests.get("/budget"))

    async def allow(self, *, price: Decimal | None = None, tokens: int | None = None) -> Budget:
        """Let this workspace spend this much more, in money or tokens, over all workers; with neither, no cap."""
        return read(
            Budget,
            await self._requests.write(
                "/budget", {"price": None if price is None else str(price), "tokens": tokens}, method="PUT"
            ),
        )

    async def receipt(self, since: datetime | None = None) -> list[Spent]:
        """What was spent since a time, by stage and model."""
        return read(list[Spent], part(await self._requests.get("/spend", since=moment(since)), "receipt"))

    async def receipt_by_document(self, since: datetime | None = None, limit: int = 20) -> list[SpentOn]:
        """What was spent since a time on the most expensive documents, by model."""
        return read(
            list[SpentOn],
            part(await self._requests.get("/spend/documents", since=moment(since), limit=limit), "documents"),
        )

    async def receipt_by_day(self, since: datetime | None = None, by: SpendBy = "stage") -> list[SpentOnDay]:
        """What was spent on each day (in UTC) since a time, by stage or by model; at most for a year."""
        return read(
            list[SpentOnDay], part(await self._requests.get("/spend/daily", since=moment(since), by=by), "days")
        )
