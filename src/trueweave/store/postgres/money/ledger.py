"""Spending: the maximum cost of a call is reserved before it is made, so no number of workers can exceed a cap."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from decimal import Decimal
from typing import Literal, NamedTuple
from uuid import UUID, uuid4

from trueweave.core.errors import BudgetReached, ConfigError, PriceUnknown, UnknownWorkspace
from trueweave.core.model_calls import Call
from trueweave.core.money import Budget, SpendBy, Spent, SpentOn, SpentOnDay, money
from trueweave.store.postgres.batcher import Background, Batcher
from trueweave.store.postgres.binary_params import Ids, Numbers, Texts
from trueweave.store.postgres.db import Transaction, Workspace
from trueweave.store.postgres.queue.liveness import Liveness

_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)
_LOOK_AGAIN = 0.2
_LOOK_FOR_ABANDONED = 10.0  # seconds
_Verdict = Literal["held", "wait", "reached", "run reached", "unpriced"]


class _Closed(NamedTuple):
    """How a call ended: `done` at a known cost, `lost` at an unknown cost, `gone` without cost."""

    id: UUID
    state: Literal["done", "lost", "gone"]
    tokens_in: int = 0
    tokens_out: int = 0
    price: Decimal | None = None


class PostgresLedger:
    """The budget of one workspace, as used by this process. Implements `trueweave.core.protocols.Ledger`."""

    def __init__(self, workspace: Workspace, liveness: Liveness, currency: str = "USD") -> None:
        self._workspace = workspace
        self._liveness = liveness
        self._looked = -_LOOK_FOR_ABANDONED
        self._currency = currency
        self._background = Background()
        self._reserve = Batcher(self._reserve_all, unclaimed=self._give_back)
        self._close = Batcher(self._close_all)
        self._run_owner: int | None = None  # the owner number under which a run in this process has its own budget

    @asynccontextmanager
    async def run_budget(self, price: Decimal | None, tokens: int | None) -> AsyncIterator[None]:
        """A budget for what is spent inside, over all workers, in addition to that of the workspace. Raises ConfigError
        if another run has one."""
        owner = self._liveness.owner
        async with self._workspace.transaction(booking=True) as tx:
            await _cap_run(tx, owner, price, tokens)
        self._run_owner = owner
        try:
            yield
        finally:
            ended, self._run_owner = self._run_owner, None
            with suppress(UnknownWorkspace):  # replaced by a bulk load; then the budget ends with this process
                async with self._workspace.transaction(booking=True) as tx:
                    await tx.run("ledger.end_run", owner=ended)

    async def aclose(self) -> None:
        """Wait until reservations of cancelled callers have been released."""
        await self._reserve.idle()
        await self._background.aclose()

    async def reserve(self, call: Call) -> UUID:
        """Reserve the maximum cost of a call; returns its id. Waits while other calls are running that may leave
        something over; if they do not, raises BudgetReached."""
        id_ = uuid4()
        while (verdict := await self._reserve((id_, call))) == "wait":  # noqa: ASYNC110 (other processes end calls too)
            await asyncio.sleep(_LOOK_AGAIN)
        if verdict == "unpriced":
            raise PriceUnknown(
                f"there is a budget in money, but the price of {call.model} is not known. Set it under [prices] in "
                "trueweave.toml, or give the budget in tokens, as in --budget 2000000tokens."
            )
        if verdict in ("reached", "run reached"):
            of_run = verdict == "run reached"
            left = "is left for this run" if of_run else "is left to this workspace"
            raise BudgetReached(
                f"the budget is reached: the next call to {call.model} may need up to "
                f"{call.tokens_in + call.tokens_out:,} tokens{self._at(call.price)}, but less than that {left}. "
                "Completed work is kept; raise the budget to continue.",
                of_run=of_run,
            )
        return id_

    def _at(self, price: Decimal | None) -> str:
        return f" ({money(price, self._currency)})" if price else ""

    async def book(self, id: UUID, tokens_in: int, tokens_out: int, price: Decimal | None) -> None:
        """Book the actual cost of the call."""
        await self._close(_Closed(id, "done", tokens_in, tokens_out, price))

    async def release(self, id: UUID, *, charged: bool) -> None:
        """Record that the call returned nothing. If it may have been charged, its maximum cost stays booked."""
        await self._close(_Closed(id, "lost" if charged else "gone"))

    def _give_back(self, reserved: tuple[UUID, Call], verdict: _Verdict) -> None:
        """Release a reservation whose caller was cancelled before receiving it, and so made no call."""
        if verdict == "held":
            self._background.start(self._close(_Closed(reserved[0], "gone")))

    async def _reserve_all(self, calls: Sequence[tuple[UUID, Call]]) -> list[_Verdict]:
        tries = 0

        async def reserve() -> list[_Verdict]:
            nonlocal tries
            tries += 1
            async with self._workspace.transaction(booking=True) as tx:
                if tries > 1:  # the first attempt may have committed without our knowing: start again
                    await _lock(tx)
                    await _close(tx, [_Closed(id_, "gone") for id_, _ in calls])
                return await self._reserve_in(tx, calls)

        return await self._workspace.retry_while_down(reserve)

    async def _reserve_in(self, tx: Transaction, calls: Sequence[tuple[UUID, Call]]) -> list[_Verdict]:
        owner = self._liveness.owner
        if self._run_owner not in (None, owner):
            await tx.run("ledger.keep_run", former=self._run_owner, owner=owner)
            self._run_owner = owner
        state = await _lock(tx)
        if not await tx.value("ledger.is_alive", owner=owner):
            return ["wait"] * len(calls)  # what is reserved under this number would be treated as abandoned
        verdicts = _decide(state, [call for _, call in calls])
        if ("wait" in verdicts or self._is_time_to_look()) and (lost := await self._abandoned(tx)):
            await _close(tx, [_Closed(id_, "lost") for id_ in lost])
            state = await _lock(tx)
            verdicts = _decide(state, [call for _, call in calls])
        held = [each for each, verdict in zip(calls, verdicts, strict=True) if verdict == "held"]
        if held:
            await tx.run(
                "ledger.open",
                ids=Ids(id_ for id_, _ in held),
                stages=Texts(c.purpose.stage for _, c in held),
                documents=Texts(c.purpose.document for _, c in held),
                models=Texts(c.model for _, c in held),
                tokens_in=Numbers(c.tokens_in for _, c in held),
                tokens_out=Numbers(c.tokens_out for _, c in held),
                prices=[c.price for _, c in held],
                owner=owner,
            )
        if "reached" in verdicts:
            of_workspace = _decide(await budget(tx), [call for _, call in calls])
            verdicts = [
                "run reached" if verdict == "reached" != wider else verdict
                for verdict, wider in zip(verdicts, of_workspace, strict=True)
            ]
        return verdicts

    def _is_time_to_look(self) -> bool:
        """Whether to look for calls left open by dead processes even if nobody waits for it: the budget shows what is
        spent."""
        now = asyncio.get_running_loop().time()
        is_time = now - self._looked >= _LOOK_FOR_ABANDONED
        self._looked = now if is_time else self._looked
        return is_time

    async def _abandoned(self, tx: Transaction) -> list[UUID]:
        """Calls that were running in processes that are gone."""
        return [id_ for (id_,) in await tx.rows("ledger.abandoned")]

    async def _close_all(self, closed: Sequence[_Closed]) -> list[None]:
        async def close() -> None:
            async with self._workspace.transaction(booking=True) as tx:
                await _lock(tx)
                await _close(tx, closed)

        await self._workspace.retry_while_down(close)
        return [None] * len(closed)


def _decide(state: Budget, calls: Sequence[Call]) -> list[_Verdict]:
    """Which of the calls fit, in order. A call that does not fit waits while reservations may still leave something
    over."""
    price, tokens = state.price + state.held_price, state.tokens + state.held_tokens
    waiting = state.held_tokens > 0
    verdicts: list[_Verdict] = []
    for call in calls:
        size, cost = call.tokens_in + call.tokens_out, call.price or Decimal(0)
        if state.price_cap is not None and call.price is None:
            verdicts.append("unpriced")
        elif (state.price_cap is not None and price + cost > state.price_cap) or (
            state.token_cap is not None and tokens + size > state.token_cap
        ):
            verdicts.append("wait" if waiting else "reached")
        else:
            price, tokens, waiting = price + cost, tokens + size, True
            verdicts.append("held")
    return verdicts


async def _lock(tx: Transaction) -> Budget:
    rows = await tx.rows("ledger.lock_budget")
    if not rows:
        await tx.run("ledger.make_budget")
        rows = await tx.rows("ledger.lock_budget")
    return Budget(*rows[0])


async def _close(tx: Transaction, closed: Sequence[_Closed]) -> None:
    await tx.run(
        "ledger.close",
        ids=Ids(c.id for c in closed),
        states=Texts(c.state for c in closed),
        tokens_in=Numbers(c.tokens_in for c in closed),
        tokens_out=Numbers(c.tokens_out for c in closed),
        prices=[c.price for c in closed],
    )


async def budget(tx: Transaction) -> Budget:
    """The workspace's budget, and what it has spent."""
    rows = await tx.rows("ledger.read_budget")
    return Budget(*rows[0]) if rows else Budget(None, None, Decimal(0), 0, Decimal(0), 0)


async def allow(tx: Transaction, price: Decimal | None, tokens: int | None) -> Budget:
    """Allow the workspace to spend this much more than it has; None means no limit."""
    state = await _lock(tx)
    await tx.run(
        "ledger.cap",
        price=None if price is None else state.price + state.held_price + price,
        tokens=None if tokens is None else state.tokens + state.held_tokens + tokens,
    )
    return await budget(tx)


async def _cap_run(tx: Transaction, owner: int, price: Decimal | None, tokens: int | None) -> None:
    state = await _lock(tx)
    if await tx.value("ledger.has_other_run", owner=owner):
        raise ConfigError(
            "another run in this workspace has its own budget. Wait for it, or run this without --budget: "
            "`trueweave budget AMOUNT` limits all runs together."
        )
    await tx.run(
        "ledger.cap_run",
        owner=owner,
        price=None if price is None else state.price + state.held_price + price,
        tokens=None if tokens is None else state.tokens + state.held_tokens + tokens,
    )


async def receipt(tx: Transaction, since: datetime | None = None) -> list[Spent]:
    """What was spent since then, by stage and model."""
    return [Spent(*row) for row in await tx.rows("ledger.receipt", since=since or _LONG_AGO)]


async def receipt_by_day(tx: Transaction, since: datetime | None, by: SpendBy) -> list[SpentOnDay]:
    """What was spent on each day since then, but at most for a year, by stage or by model."""
    return [SpentOnDay(*row) for row in await tx.rows("ledger.receipt_by_day", since=since or _LONG_AGO, by=by)]


async def receipt_by_document(tx: Transaction, since: datetime | None = None, limit: int = 20) -> list[SpentOn]:
    """What was spent since then on the costliest documents, by model."""
    rows = await tx.rows("ledger.receipt_by_document", since=since or _LONG_AGO, limit=limit)
    return [SpentOn(*row) for row in rows]
