"""The budget of a workspace and its spending on models."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from decimal import Decimal

from trueweave.core.money import Budget, SpendBy, Spent, SpentOn, SpentOnDay
from trueweave.engine.core import OpenWorkspace
from trueweave.engine.restricted import refuse_restricted
from trueweave.store.postgres.money import ledger
from trueweave.store.postgres.public_errors import own_errors, translated


@own_errors
@refuse_restricted("budget")
class AsyncBudgetGroup:
    """The budget of a workspace: `trueweave.budget`."""

    def __init__(self, core: OpenWorkspace) -> None:
        self._core = core

    async def get(self) -> Budget:
        """How much this workspace may spend on models, and how much it has spent."""
        async with self._core.workspace.transaction() as tx:
            return await ledger.budget(tx)

    async def allow(self, *, price: Decimal | None = None, tokens: int | None = None) -> Budget:
        """Let this workspace spend this much more, in money or tokens, over all workers; with neither, no cap."""
        async with self._core.workspace.transaction() as tx:
            return await ledger.allow(tx, price, tokens)

    @asynccontextmanager
    async def for_run(self, *, price: Decimal | None = None, tokens: int | None = None) -> AsyncIterator[None]:
        """A budget for one run: inside `async with`, this workspace spends at most this much, in money or in tokens,
        over all workers, and never more than its own budget allows. It ends with the block, or if this process dies.
        Raises ConfigError if another run has one."""
        async with AsyncExitStack() as run:
            with translated():
                await self._core.check_unrestricted("budget.for_run")
                await run.enter_async_context((await self._core.models()).run_budget(price, tokens))
            yield

    async def receipt(self, since: datetime | None = None) -> list[Spent]:
        """What was spent since a time, by stage and model."""
        async with self._core.workspace.transaction() as tx:
            return await ledger.receipt(tx, since)

    async def receipt_by_document(self, since: datetime | None = None, limit: int = 20) -> list[SpentOn]:
        """What was spent since a time on the most expensive documents, by model."""
        async with self._core.workspace.transaction() as tx:
            return await ledger.receipt_by_document(tx, since, limit)

    async def receipt_by_day(self, since: datetime | None = None, by: SpendBy = "stage") -> list[SpentOnDay]:
        """What was spent on each day (in UTC) since a time, by stage or by model; at most for a year."""
        async with self._core.workspace.transaction() as tx:
            return await ledger.receipt_by_day(tx, since, by)
