"""What a workspace may spend on models, and has spent."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from decimal import Decimal

from trueweave.core.money import Budget, Spent, SpentOn
from trueweave.engine.core import OpenWorkspace
from trueweave.store.postgres.money import ledger
from trueweave.store.postgres.public_errors import own_errors, translated


@own_errors
class AsyncBudgetGroup:
    """The budget of a workspace: `trueweave.budget`."""

    def __init__(self, core: OpenWorkspace) -> None:
        self._core = core

    async def get(self) -> Budget:
        """What this workspace may spend on models, and has spent."""
        async with self._core.workspace.transaction() as tx:
            return await ledger.budget(tx)

    async def allow(self, *, price: Decimal | None = None, tokens: int | None = None) -> Budget:
        """Let this workspace spend so much more, in money or in tokens, over all workers; without either, no cap."""
        async with self._core.workspace.transaction() as tx:
            return await ledger.allow(tx, price, tokens)

    @asynccontextmanager
    async def for_run(self, *, price: Decimal | None = None, tokens: int | None = None) -> AsyncIterator[None]:
        """A budget for one run: inside `async with`, this workspace spends no more than that, in money or in tokens,
        over all workers, and no more than its own budget allows. At the end, or if this process dies, it is gone.
        ConfigError where another run has one."""
        async with AsyncExitStack() as run:
            with translated():
                await run.enter_async_context((await self._core.models()).run_budget(price, tokens))
            yield

    async def receipt(self, since: datetime | None = None) -> list[Spent]:
        """What was spent since then, by stage and model."""
        async with self._core.workspace.transaction() as tx:
            return await ledger.receipt(tx, since)

    async def receipt_by_document(self, since: datetime | None = None, limit: int = 20) -> list[SpentOn]:
        """What was spent since then on the costliest documents, by model."""
        async with self._core.workspace.transaction() as tx:
            return await ledger.receipt_by_document(tx, since, limit)
